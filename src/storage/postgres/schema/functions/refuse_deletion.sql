set local role keystride_system;

-- Refuses deletions from an append-only table while the organization exists. It is a security definer, because a cascade runs
-- as the owner of the table, which sees no organization.
create or replace function keystride.refuse_deletion() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from keystride.organization o where o.organization_id = old.organization_id) then
    raise exception 'keystride: % is append-only', tg_table_name using errcode = 'insufficient_privilege';
  end if;
  return old;
end
$$;
revoke execute on function keystride.refuse_deletion from public;
