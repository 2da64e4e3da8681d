set local role keystride_system;

-- Number of the first event of the ledger that is altered or missing; null if the chain is whole.
create or replace function keystride.broken_usage_event() returns bigint
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  with told as (
    select e.n, e.hash, row_number() over (order by e.n) as place,
      keystride.usage_hash(e, lag(e.hash, 1, '') over (order by e.n)) as should
    from keystride.usage_event e where e.organization_id = keystride.current_organization()
  ), held as (
    select h.last_event, h.last_hash from keystride.headcount h where h.organization_id = keystride.current_organization()
  )
  select min(n) from (
    select place as n from told where n <> place or hash <> should
    union all
    select last_event from held where last_event > 0
      and not exists (select 1 from told where told.n = last_event and told.hash = last_hash)
  ) broken
$$;
revoke execute on function keystride.broken_usage_event from public;
grant execute on function keystride.broken_usage_event to keystride_app;
