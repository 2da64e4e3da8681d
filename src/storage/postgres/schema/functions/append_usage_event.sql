set local role keystride_system;

-- Appends an event with the present totals to the usage ledger. Its hash is chained to that of the event before.
create or replace function keystride.append_usage_event(organization uuid, happened text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp
  set lock_timeout = '1s'
as $$
declare
  headcount keystride.headcount;
  event keystride.usage_event;
begin
  perform keystride.take_headcount_lock(organization, true);
  select * into headcount from keystride.headcount h where h.organization_id = organization for update;
  event.organization_id := organization;
  event.n := headcount.last_event + 1;
  event.at := clock_timestamp();
  event.kind := happened;
  event.n_accounts := headcount.n_accounts;
  event.n_accounts_generic := headcount.n_accounts_generic;
  event.n_users_nominative := headcount.n_users_nominative;
  event.n_users_generic := headcount.n_users_generic;
  select (o.quota_accounts > 0 and headcount.n_accounts > o.quota_accounts)
      or (o.quota_shared_accounts > 0 and headcount.n_accounts_generic > o.quota_shared_accounts)
    into event.over_quota from keystride.organization o where o.organization_id = organization;
  event.hash := keystride.usage_hash(event, headcount.last_hash);
  insert into keystride.usage_event select event.*;
  update keystride.headcount set last_event = event.n, last_hash = event.hash where organization_id = organization;
end
$$;
revoke execute on function keystride.append_usage_event from public;
