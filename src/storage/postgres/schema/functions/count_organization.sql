set local role keystride_system;

-- Every organization has a headcount.
create or replace function keystride.count_organization() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  insert into keystride.headcount (organization_id) values (new.organization_id);
  return null;
end
$$;
revoke execute on function keystride.count_organization from public;
