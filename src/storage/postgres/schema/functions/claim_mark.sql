set local role keystride_system;

-- Stores the mark of a pattern, and returns false if the pattern is a replay. A mark may resemble those in `cleared`, because
-- their patterns were compared with this one. If several transactions claim equal marks, one is accepted, and the others wait
-- for its commit. The inner query has no other condition, and `offset 0` is an optimization fence, so that the index on the
-- bands is its only plan. Plans are kept from the time when the table was empty, and reading the marks of an organization one
-- by one costs 4 ms for an attempt at 9,000 marks.
create or replace function keystride.claim_mark(
  organization uuid, mark bytea, mark_bands bigint[], owner_id uuid, at timestamptz,
  reject boolean, memory_days int, pattern uuid, pattern_generation int, cleared bytea[]
) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp
  set enable_seqscan = off set jit = off
as $$
declare
  oldest timestamptz := at - make_interval(hours => 24 * memory_days);
begin
  if reject then
    perform 1 from (select * from keystride.replay_mark where bands && mark_bands offset 0) m
      where m.organization_id = organization and m.seen_at > oldest and m.exact <> all (cleared)
        and keystride.resembles(m.member_id, m.bands, owner_id, mark_bands)
      limit 1;
    if found then return false; end if;
  end if;
  insert into keystride.replay_mark as m (organization_id, exact, bands, member_id, seen_at, pattern_id, generation)
    values (organization, mark, mark_bands, owner_id, at, pattern, pattern_generation)
    on conflict (organization_id, exact) do update set bands = excluded.bands, member_id = excluded.member_id,
      seen_at = excluded.seen_at, pattern_id = excluded.pattern_id, generation = excluded.generation
      where m.seen_at <= oldest;
  return found or not reject;
end
$$;
revoke execute on function keystride.claim_mark from public;
