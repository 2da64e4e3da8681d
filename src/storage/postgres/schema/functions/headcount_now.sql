-- The headcount, with the changes that are not added up yet. Returns no row for an unknown organization.
create or replace function keystride.headcount_now(organization uuid)
returns table (n_accounts int, n_accounts_generic int, n_users_nominative int, n_users_generic int)
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select (h.n_accounts + c.n_accounts)::int, (h.n_accounts_generic + c.n_accounts_generic)::int,
    (h.n_users_nominative + c.n_users_nominative)::int, (h.n_users_generic + c.n_users_generic)::int
  from keystride.headcount h, (
    select coalesce(sum(n_accounts), 0) as n_accounts, coalesce(sum(n_accounts_generic), 0) as n_accounts_generic,
      coalesce(sum(n_users_nominative), 0) as n_users_nominative, coalesce(sum(n_users_generic), 0) as n_users_generic
    from keystride.headcount_change where organization_id = organization) c
  where h.organization_id = organization
$$;
revoke execute on function keystride.headcount_now from public;
grant execute on function keystride.headcount_now to keystride_app, keystride_system;
