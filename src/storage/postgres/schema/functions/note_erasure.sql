set local role keystride_system;

-- Marks an erasure as begun until the transaction ends (await_erasures).
create or replace function keystride.note_erasure() returns void
language sql security definer set search_path = pg_catalog, pg_temp
as $$
  select pg_advisory_xact_lock_shared(hashtextextended('keystride erasure ' || keystride.current_organization(), 0))
$$;
revoke execute on function keystride.note_erasure from public;
grant execute on function keystride.note_erasure to keystride_app;
