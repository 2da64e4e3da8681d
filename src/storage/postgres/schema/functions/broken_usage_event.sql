set local role keystride_system;

-- Number of the first event of the ledger that was altered or is missing; null if the chain is whole.
create or replace function keystride.broken_usage_event() returns bigint
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  with chained as (
    select e.n, e.hash, row_number() over (order by e.n) as place,
      keystride.usage_hash(e, lag(e.hash, 1, '') over (order by e.n)) as wanted
    from keystride.usage_event e where e.organization_id = keystride.current_organization()
  ), headcount as (
    select h.last_event, h.last_hash from keystride.headcount h where h.organization_id = keystride.current_organization()
  )
  select min(n) from (
    select place as n from chained where n <> place or hash <> wanted
    union all
    select last_event from headcount where last_event > 0
      and not exists (select 1 from chained where chained.n = last_event and chained.hash = last_hash)
  ) broken
$$;
revoke execute on function keystride.broken_usage_event from public;
grant execute on function keystride.broken_usage_event to keystride_app;
