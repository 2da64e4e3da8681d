set local role keystride_system;

-- Runs note_overage after the headcount has grown.
create or replace function keystride.note_overage_of_count() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  o keystride.organization;
begin
  select * into o from keystride.organization where organization_id = new.organization_id;
  perform keystride.note_overage(new.organization_id, 'accounts', old.n_accounts, o.quota_accounts, new.n_accounts,
    o.quota_accounts);
  perform keystride.note_overage(new.organization_id, 'shared accounts', old.n_accounts_generic, o.quota_shared_accounts,
    new.n_accounts_generic, o.quota_shared_accounts);
  return null;
end
$$;
revoke execute on function keystride.note_overage_of_count from public;
