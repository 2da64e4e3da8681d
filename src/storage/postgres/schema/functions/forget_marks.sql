set local role keystride_system;

-- Deletes marks of all organizations seen before; returns how many.
create or replace function keystride.forget_marks(before timestamptz) returns bigint
language sql security definer set search_path = pg_catalog, pg_temp
as $$
  with gone as (delete from keystride.replay_mark where seen_at < before returning 1) select count(*) from gone
$$;
revoke execute on function keystride.forget_marks from public;
