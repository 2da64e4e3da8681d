set local role keystride_system;

-- Waits for every deletion of a person under way in this organization. Reads after this see none of their rows; deletions
-- that start later see the archive and remove their rows from it (note_erasure).
create or replace function keystride.await_erasures() returns void
language sql security definer set search_path = pg_catalog, pg_temp
as $$
  select pg_advisory_xact_lock(hashtextextended('keystride erasure ' || keystride.current_organization(), 0))
$$;
revoke execute on function keystride.await_erasures from public;
grant execute on function keystride.await_erasures to keystride_app;
