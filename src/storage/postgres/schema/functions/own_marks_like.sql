set local role keystride_system;

-- Marks of the caller's organization that a new mark of a member resembles or equals. Runs as keystride_system, because the
-- operator on bands is not leakproof, and a caller under row level security could not use the index.
create or replace function keystride.own_marks_like(
  mark bytea, mark_bands bigint[], owner_id uuid, after timestamptz, most int
)
returns table (exact bytea, pattern_id uuid, generation int, member_id uuid, bands_shared int)
language sql stable security definer set search_path = pg_catalog, pg_temp
  set enable_seqscan = off set jit = off
as $$
  select m.exact, m.pattern_id, m.generation, m.member_id,
      (select count(distinct band)::int from unnest(m.bands) band where band = any (mark_bands))
    from (select * from keystride.replay_mark known where known.bands && mark_bands offset 0) m
    where m.organization_id = keystride.current_organization() and m.seen_at > after
      and keystride.resembles(m.member_id, m.bands, owner_id, mark_bands)
  union
  select m.exact, m.pattern_id, m.generation, m.member_id,
      (select count(distinct band)::int from unnest(m.bands) band where band = any (mark_bands))
    from keystride.replay_mark m
    where m.organization_id = keystride.current_organization() and m.exact = mark and m.seen_at > after
  limit most
$$;
revoke execute on function keystride.own_marks_like from public;
grant execute on function keystride.own_marks_like to keystride_app;
