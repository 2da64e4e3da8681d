set local role keystride_system;

-- Runs note_overage after a quota has changed.
create or replace function keystride.note_overage_of_quota() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  h keystride.headcount;
begin
  select * into h from keystride.headcount where organization_id = new.organization_id;
  perform keystride.note_overage(new.organization_id, 'accounts', h.n_accounts, old.quota_accounts, h.n_accounts,
    new.quota_accounts);
  perform keystride.note_overage(new.organization_id, 'shared accounts', h.n_accounts_generic, old.quota_shared_accounts,
    h.n_accounts_generic, new.quota_shared_accounts);
  return null;
end
$$;
revoke execute on function keystride.note_overage_of_quota from public;
