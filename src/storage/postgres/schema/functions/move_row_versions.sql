-- An update of an account increases the versions of its members.
create or replace function keystride.move_row_versions() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  update keystride.member m set row_version = m.row_version
    where m.organization_id = new.organization_id and m.account_id = new.id;
  return null;
end
$$;
revoke execute on function keystride.move_row_versions from public;
