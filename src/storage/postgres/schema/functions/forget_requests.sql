set local role keystride_system;

-- Deletes up to 5,000 log entries of requests from before this time. True if more may be left.
create or replace function keystride.forget_requests(before timestamptz) returns boolean
language sql security definer set search_path = pg_catalog, pg_temp
as $$
  with gone as (
    delete from keystride.request_log where (organization_id, id) in (
      select organization_id, id from keystride.request_log where id < keystride.uuid_from(before) limit 5000)
    returning 1)
  select count(*) = 5000 from gone
$$;
revoke execute on function keystride.forget_requests from public;
grant execute on function keystride.forget_requests to session_user;
