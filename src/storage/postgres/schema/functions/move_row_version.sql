-- Every update of a member increases its version, unless the update does so itself.
create or replace function keystride.move_row_version() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  new.row_version := old.row_version + 1;
  return new;
end
$$;
revoke execute on function keystride.move_row_version from public;
