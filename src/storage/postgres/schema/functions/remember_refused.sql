set local role keystride_system;

-- Keeps a refused pattern of a member of the caller's organization, with its replay mark. Returns false, and keeps nothing, if
-- the mark is known or `most` patterns of the member were kept in the 24 hours before. The member is locked before the mark, as
-- in record_attempts. The number is checked before the lock too, because calls beyond it must not make sign-ins wait.
create or replace function keystride.remember_refused(
  owner_id uuid, mark bytea, mark_bands bigint[], at timestamptz, pattern uuid, pattern_generation int, sample bytea,
  most int, memory_days int, set_entry bytea default null
) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  own constant uuid := keystride.current_organization();
  since constant uuid := keystride.uuid_from(at - interval '24 hours');
begin
  perform from keystride.member m where m.organization_id = own and m.id = owner_id and m.archived_at is null
    and (select count(*) from keystride.refused_pattern r
      where r.organization_id = own and r.member_id = owner_id and r.id >= since) < most
    for no key update;
  if not found then return false; end if;
  if (select count(*) from keystride.refused_pattern r
    where r.organization_id = own and r.member_id = owner_id and r.id >= since) >= most then return false; end if;
  insert into keystride.replay_mark as m (organization_id, exact, bands, member_id, seen_at, pattern_id, generation)
    values (own, mark, mark_bands, owner_id, at, pattern, pattern_generation)
    on conflict (organization_id, exact) do update set bands = excluded.bands, member_id = excluded.member_id,
      seen_at = excluded.seen_at, pattern_id = excluded.pattern_id, generation = excluded.generation
      where m.seen_at <= at - make_interval(hours => 24 * memory_days);
  if not found then return false; end if;
  insert into keystride.refused_pattern (organization_id, member_id, id, generation, sealed, seen_at)
    values (own, owner_id, pattern, pattern_generation, sample, at);
  update keystride.comparison_set s set tail = s.tail || set_entry, attempts_version = s.attempts_version + 1
    from keystride.member m
    where set_entry is not null and s.organization_id = own and s.member_id = owner_id and m.organization_id = own and m.id = owner_id
      and s.attempts_version = m.attempts_version and s.generation = m.generation
      -- A tail that is full puts the set out of date, and the next attempt replaces it.
      and octet_length(s.tail) < 2000;
  update keystride.member set attempts_version = attempts_version + 1 where organization_id = own and id = owner_id;
  return true;
end
$$;
revoke execute on function keystride.remember_refused from public;
grant execute on function keystride.remember_refused to keystride_app;
