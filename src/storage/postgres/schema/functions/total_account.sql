set local role keystride_system;

-- Adds the totals of a new account in the same transaction, so that the table of users always lists it.
create or replace function keystride.total_account() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  insert into keystride.user_total
    select new.organization_id, days, new.id, new.user_ref, 0, 0, 0, 0, 0, 0, 0, null from unnest(keystride.totaled_windows()) days;
  return null;
end
$$;
revoke execute on function keystride.total_account from public;
