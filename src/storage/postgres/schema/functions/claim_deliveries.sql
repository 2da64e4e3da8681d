set local role keystride_system;

-- Claims due deliveries for one minute, the oldest ones first, from channels that are not paused: one of a channel after a
-- failure, otherwise up to ten. After a crash of the claiming process they are delivered again.
create or replace function keystride.claim_deliveries(most int)
returns table (organization_id uuid, id uuid)
language sql security definer set search_path = pg_catalog, pg_temp
as $$
  with due as (
    select d.organization_id, d.id from keystride.alert_channel c cross join lateral (
      select w.organization_id, w.id from keystride.alert_delivery w
      where w.organization_id = c.organization_id and w.channel = c.channel and w.state = 'waiting'
        and w.due_at <= clock_timestamp()
      order by w.due_at, w.id limit case when c.failures > 0 then 1 else 10 end for update skip locked) d
    where coalesce(c.closed_until <= clock_timestamp(), true)
    limit most)
  update keystride.alert_delivery d set due_at = clock_timestamp() + interval '1 minute' from due
    where d.organization_id = due.organization_id and d.id = due.id
  returning d.organization_id, d.id
$$;
revoke execute on function keystride.claim_deliveries from public;
grant execute on function keystride.claim_deliveries to session_user;
