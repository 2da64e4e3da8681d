set local role keystride_system;

-- Adds the counts and log entries that one process has collected, for any organizations. Rows are written in one order, so that
-- concurrent processes cannot deadlock. Organizations that no longer exist are skipped.
create or replace function keystride.add_usage(counted jsonb, logged jsonb) returns void
language sql security definer set search_path = pg_catalog, pg_temp
as $$
  insert into keystride.api_usage as u (organization_id, day, class, n)
    select x.organization_id, x.day, x.class, x.n
    from jsonb_to_recordset(counted) as x (organization_id uuid, day date, class text, n bigint)
      join keystride.organization o using (organization_id)
    order by 1, 2, 3
    on conflict (organization_id, day, class) do update set n = u.n + excluded.n;
  insert into keystride.request_log (organization_id, id, api, method, route, status, duration_ms)
    select x.organization_id, x.id, x.api, x.method, x.route, x.status, x.duration_ms
    from jsonb_to_recordset(logged) as x (organization_id uuid, id uuid, api text, method text, route text, status int,
      duration_ms float8) join keystride.organization o using (organization_id)
    on conflict do nothing
$$;
revoke execute on function keystride.add_usage from public;
grant execute on function keystride.add_usage to session_user;
