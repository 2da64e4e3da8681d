set local role keystride_app;

-- Keeps a sign-in's pattern as an adaptive reference, by the rules of `ProfileStore.adapt` (src/storage/profile.ts). False if it was
-- not kept. The member's comparison set is brought up to date first, because the enrolled references are the same. One function, as in
-- add_reference. The commit does not wait for the disk: a crash loses one of many patterns to learn from.
create or replace function keystride.adapt_profile(
  organization uuid, owner_id uuid, pattern uuid, of_generation int, of_mode text, sample bytea, at timestamptz,
  of_version bigint, most int, interval_ms float8
) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp
  set lock_timeout = '1s' set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off
as $$
begin
  perform set_config('keystride.organization_id', organization::text, true);
  perform set_config('synchronous_commit', 'off', true);
  perform from keystride.member m
    where m.organization_id = organization and m.id = owner_id and m.archived_at is null
      and m.profile_version = of_version and m.generation = of_generation
      and (m.adapted_at is null or m.adapted_at <= at - make_interval(secs => interval_ms / 1000))
    for update;
  if not found then return false; end if;
  insert into keystride.reference_pattern (organization_id, member_id, id, generation, mode, kind, sealed, created_at)
    values (organization, owner_id, pattern, of_generation, of_mode, 'adaptive', sample, at)
    on conflict (organization_id, member_id, id) do nothing;
  if not found then return false; end if;
  delete from keystride.reference_pattern r
    where r.organization_id = organization and r.member_id = owner_id and r.id in (
      select o.id from keystride.reference_pattern o
      where o.organization_id = organization and o.member_id = owner_id and o.kind = 'adaptive'
      order by o.created_at desc, o.id desc offset most);
  update keystride.comparison_set s set profile_version = s.profile_version + 1, has_adaptive = true
    where s.organization_id = organization and s.member_id = owner_id
      and s.profile_version = of_version and s.generation = of_generation;
  update keystride.member m set adapted_at = at, profile_version = m.profile_version + 1, row_version = m.row_version + 1
    where m.organization_id = organization and m.id = owner_id;
  return true;
end
$$;
revoke execute on function keystride.adapt_profile from public, keystride_app;
grant execute on function keystride.adapt_profile to session_user;
