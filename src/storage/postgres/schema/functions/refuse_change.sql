-- Refuses every change of an append-only table.
create or replace function keystride.refuse_change() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception 'keystride: % is append-only', tg_table_name using errcode = 'insufficient_privilege';
end
$$;
revoke execute on function keystride.refuse_change from public;
