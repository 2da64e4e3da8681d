-- The organization of this transaction; null if none is set, and `organization_id = null` is true for no row.
create or replace function keystride.current_organization() returns uuid
language sql stable parallel safe
as $$
  select nullif(current_setting('keystride.organization_id', true), '')::uuid
$$;
revoke execute on function keystride.current_organization from public;
grant execute on function keystride.current_organization to keystride_app, keystride_system;
