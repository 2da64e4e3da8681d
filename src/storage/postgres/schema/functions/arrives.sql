set local role keystride_system;

-- Whether an organization is being copied into this database, so that no job may work on it.
create or replace function keystride.arrives(wanted uuid) returns boolean
language sql stable
as $$
  select exists (select from keystride.placement p where p.organization_id = wanted and p.state = 'arriving')
$$;
revoke execute on function keystride.arrives from public;
