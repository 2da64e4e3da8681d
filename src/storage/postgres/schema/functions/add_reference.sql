set local role keystride_app;

-- Adds an enrolled reference to the current profile of a member, and ends the pattern's link if that completes the profile. The
-- rules are those of `ProfileStore.add` (src/storage/profile.ts). The outcome is `absent`, `locked`, `link-ended`, `closed`,
-- `too-soon` with the time from which the profile takes a reference, `replay`, or `added`; `closed` and `added` come with the
-- member. One function, because a transaction of nine statements costs server and client three times as much. The account is
-- locked first, because a completed profile may write a notification that refers to the account, and a deletion locks the
-- account before its members. Row level security applies, because the function runs as keystride_app.
create or replace function keystride.add_reference(
  organization uuid, owner_id uuid, pattern uuid, of_generation int, of_mode text, sample bytea, format int, at timestamptz,
  mark bytea, mark_bands bigint[], cleared bytea[], reject boolean, memory_days int,
  target int, most int, interval_ms float8, link uuid, until_unlocked float8,
  out outcome text, out next_at timestamptz, out found_member keystride.member
)
language plpgsql security definer set search_path = pg_catalog, pg_temp
  set lock_timeout = '1s' set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off
as $$
declare
  n int;
  visible constant int := (of_mode = 'visible')::int;
begin
  perform set_config('keystride.organization_id', organization::text, true);
  perform from keystride.account a where a.organization_id = organization and a.id = (
    select m.account_id from keystride.member m where m.organization_id = organization and m.id = owner_id)
    for key share;
  select m.* into found_member from keystride.member m
    where m.organization_id = organization and m.id = owner_id and m.archived_at is null for update;
  if not found then outcome := 'absent'; return; end if;

  -- As `lockedByAdministrator` of src/domain/attempts.ts.
  if (found_member.attempts #>> '{biometric,off}')::boolean
    and (found_member.attempts #>> '{security_code,closedUntil}')::float8 >= until_unlocked then
    outcome := 'locked'; return;
  end if;
  if link is not null then
    perform from keystride.profile_link l
      where l.organization_id = organization and l.member_id = owner_id and l.id = link and l.expires_at > clock_timestamp();
    if not found then outcome := 'link-ended'; return; end if;
  end if;
  n := found_member.n_visible + found_member.n_sensitive;
  outcome := 'closed';
  if found_member.generation <> of_generation or n >= most or (n > 0 and found_member.sample_format <> format) then return; end if;
  if interval_ms > 0 and n < target then
    select max(r.created_at) + make_interval(secs => interval_ms / 1000) into next_at from keystride.reference_pattern r
      where r.organization_id = organization and r.member_id = owner_id and r.generation = of_generation and r.kind = 'enrolled';
    if at < next_at then outcome := 'too-soon'; return; end if;
  end if;
  if mark is not null and not keystride.claim_own_mark(
    mark, mark_bands, owner_id, at, reject, memory_days, pattern, of_generation, cleared) then
    outcome := 'replay'; return;
  end if;
  -- An adaptive pattern may become an enrolled one.
  insert into keystride.reference_pattern as r (organization_id, member_id, id, generation, mode, kind, sealed, created_at)
    values (organization, owner_id, pattern, of_generation, of_mode, 'enrolled', sample, at)
    on conflict (organization_id, member_id, id) do update set kind = excluded.kind
      where r.kind = 'adaptive' and r.generation = excluded.generation;
  if not found then return; end if;

  outcome := 'added';
  if n + 1 = target then
    update keystride.member m set n_visible = m.n_visible + visible, n_sensitive = m.n_sensitive + 1 - visible,
        sample_format = format, profile_version = m.profile_version + 1, row_version = m.row_version + 1, completed_at = at
      where m.organization_id = organization and m.id = owner_id returning m.* into found_member;
  else
    -- Without completed_at, because an update of that column runs the triggers of a completed profile.
    update keystride.member m set n_visible = m.n_visible + visible, n_sensitive = m.n_sensitive + 1 - visible,
        sample_format = format, profile_version = m.profile_version + 1, row_version = m.row_version + 1
      where m.organization_id = organization and m.id = owner_id returning m.* into found_member;
  end if;
  if n + 1 >= most then
    delete from keystride.profile_link l where l.organization_id = organization and l.member_id = owner_id and l.id = link;
  end if;
end
$$;
revoke execute on function keystride.add_reference from public, keystride_app;
grant execute on function keystride.add_reference to session_user;
