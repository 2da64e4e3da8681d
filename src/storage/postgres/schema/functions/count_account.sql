set local role keystride_system;

-- Counts accounts by type. A deletion and a change of type are events of the ledger.
create or replace function keystride.count_account() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  people int;
begin
  if tg_op = 'INSERT' then
    insert into keystride.headcount_change (organization_id, n_accounts, n_accounts_generic)
      values (new.organization_id, 1, (new.type = 'generic')::int);
  elsif tg_op = 'DELETE' then
    insert into keystride.headcount_change (organization_id, n_accounts, n_accounts_generic)
      values (old.organization_id, -1, -(old.type = 'generic')::int);
    perform keystride.append_usage_event(old.organization_id, 'delete');
  elsif new.type <> old.type then
    select count(*) into people from keystride.member m
      where m.organization_id = new.organization_id and m.account_id = new.id and m.archived_at is null;
    if new.type = 'nominative' then people := -people; end if;
    insert into keystride.headcount_change (organization_id, n_accounts_generic, n_users_generic, n_users_nominative)
      values (new.organization_id, case new.type when 'generic' then 1 else -1 end, people, -people);
    perform keystride.append_usage_event(new.organization_id, 'type-change');
  end if;
  return null;
end
$$;
revoke execute on function keystride.count_account from public;
