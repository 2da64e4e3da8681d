set local role keystride_system;

-- Hash of an event of the ledger, chained to the hash of the event before.
create or replace function keystride.usage_hash(e keystride.usage_event, previous bytea) returns bytea
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select sha256(previous || convert_to(concat_ws('|', e.organization_id, e.n, extract(epoch from e.at), e.kind, e.n_accounts,
    e.n_accounts_generic, e.n_users_nominative, e.n_users_generic, e.over_quota), 'UTF8'))
$$;
revoke execute on function keystride.usage_hash from public;
