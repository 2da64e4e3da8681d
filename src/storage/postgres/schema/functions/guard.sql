-- Enables row level security for a table, and grants the rights of both roles. Security is forced, so that the login, which
-- owns the tables, sees no row. For each transaction the login becomes keystride_app, which sees the rows of the organization
-- in keystride.organization_id, or keystride_system, which sees all rows. A function has its owner's rights only with `security
-- definer`. The policy of keystride_system is `using (true)`, because any other condition would be evaluated before `bands &&
-- ...`, and the lookup of replays could not use its index.
create or replace procedure keystride.guard(guarded regclass)
language plpgsql
as $$
begin
  execute format('alter table %s enable row level security', guarded);
  execute format('alter table %s force row level security', guarded);
  execute format('create policy own_organization on %s to keystride_app
    using (organization_id = keystride.current_organization())
    with check (organization_id = keystride.current_organization())', guarded);
  execute format('create policy every_organization on %s to keystride_system using (true) with check (true)', guarded);
  execute format('grant select, insert, update, delete on %s to keystride_app, keystride_system', guarded);
end
$$;
revoke execute on procedure keystride.guard from public;
