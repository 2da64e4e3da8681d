set local role keystride_system;

-- Counts the waiting deliveries of all organizations for the metrics. The result names nobody.
create or replace function keystride.outbox_state(out waiting int, out oldest_waiting_s float8, out channels_paused int)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select (select count(*) from keystride.alert_delivery where state = 'waiting'),
    (select extract(epoch from clock_timestamp() - min(keystride.time_of(id))) from keystride.alert_delivery where state = 'waiting'),
    (select count(*) from keystride.alert_channel where closed_until > clock_timestamp())
$$;
revoke execute on function keystride.outbox_state from public;
grant execute on function keystride.outbox_state to session_user;
