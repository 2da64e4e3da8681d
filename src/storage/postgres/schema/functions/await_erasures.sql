set local role keystride_system;

-- Waits for the erasures in this organization that other transactions have begun. Later reads of the transaction see no row of
-- these people. An erasure that begins later sees the archive, and removes the person's rows from it (note_erasure).
create or replace function keystride.await_erasures() returns void
language sql security definer set search_path = pg_catalog, pg_temp
as $$
  select pg_advisory_xact_lock(hashtextextended('keystride erasure ' || keystride.current_organization(), 0))
$$;
revoke execute on function keystride.await_erasures from public;
grant execute on function keystride.await_erasures to keystride_app;
