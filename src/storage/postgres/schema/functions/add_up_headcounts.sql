set local role keystride_system;

-- Called by a job. Adds up the pending changes of up to 100 organizations whose lock is free. True if more may be left.
create or replace function keystride.add_up_headcounts() returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  org record;
  n_added int := 0;
begin
  for org in
    select h.organization_id from keystride.headcount h
    where exists (select from keystride.headcount_change c where c.organization_id = h.organization_id)
  loop
    n_added := n_added + keystride.take_headcount_lock(org.organization_id, false)::int;
    exit when n_added = 100;
  end loop;
  return n_added = 100;
end
$$;
revoke execute on function keystride.add_up_headcounts from public;
grant execute on function keystride.add_up_headcounts to session_user;
