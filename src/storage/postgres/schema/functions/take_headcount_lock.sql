set local role keystride_system;

-- Takes the headcount lock of the organization until the transaction ends, and adds up the changes committed by then. Without
-- `waits`, returns false if the lock is held. With it, gives up after 1 s, because a process that is frozen with the lock
-- blocks all others.
create or replace function keystride.take_headcount_lock(organization uuid, waits boolean) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp
  set lock_timeout = '1s'
as $$
declare
  added keystride.headcount_change;
begin
  if waits then
    perform pg_advisory_xact_lock(keystride.headcount_lock(organization));
  elsif not pg_try_advisory_xact_lock(keystride.headcount_lock(organization)) then
    return false;
  end if;
  with gone as (delete from keystride.headcount_change c where c.organization_id = organization returning *)
    select organization, null, sum(n_accounts), sum(n_accounts_generic), sum(n_users_nominative), sum(n_users_generic)
    into added from gone having count(*) > 0;
  if found then
    update keystride.headcount h set n_accounts = h.n_accounts + added.n_accounts,
        n_accounts_generic = h.n_accounts_generic + added.n_accounts_generic,
        n_users_nominative = h.n_users_nominative + added.n_users_nominative,
        n_users_generic = h.n_users_generic + added.n_users_generic
      where h.organization_id = organization;
  end if;
  return true;
end
$$;
revoke execute on function keystride.take_headcount_lock from public;
grant execute on function keystride.take_headcount_lock to keystride_app;
