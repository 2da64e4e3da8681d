-- An organization can be deleted, and its append-only rows go with it: no role may delete them while it exists.
revoke delete on keystride.organization from keystride_app;

alter table keystride.usage_event drop constraint usage_event_organization_id_fkey,
  add foreign key (organization_id) references keystride.organization on delete cascade;
alter table keystride.erasure drop constraint erasure_organization_id_fkey,
  add foreign key (organization_id) references keystride.organization on delete cascade;

-- A security definer, because a cascade runs as the owner of the table, which sees no row of the organizations.
create function keystride.refuse_deletion() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from keystride.organization o where o.organization_id = old.organization_id) then
    raise exception 'keystride: % is append-only', tg_table_name using errcode = 'insufficient_privilege';
  end if;
  return old;
end
$$;
revoke execute on function keystride.refuse_deletion() from public;
drop trigger append_only on keystride.usage_event;
create trigger append_only before update on keystride.usage_event for each row execute function keystride.refuse_change();
create trigger append_only_in_use before delete on keystride.usage_event
  for each row execute function keystride.refuse_deletion();

grant create on schema keystride to keystride_system;
alter function keystride.refuse_deletion() owner to keystride_system;
revoke create on schema keystride from keystride_system;
