set local role keystride_system;

-- Key of the advisory lock that serializes changes of an organization's headcount. Row locks do not keep the order of arrival:
-- a waiter whose row version is outdated queues again at the end, and creations waited for more than a second. An advisory lock
-- has one queue.
create or replace function keystride.headcount_lock(organization uuid) returns bigint
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select hashtextextended(organization::text, 7241865325823967)
$$;
revoke execute on function keystride.headcount_lock from public;
