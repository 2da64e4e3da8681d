set local role keystride_system;

-- Queues the deliveries of a notification in its transaction. At most 1,000 deliveries of a channel wait. Further ones are
-- dropped, and the notification stays.
create or replace function keystride.queue_deliveries() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  insert into keystride.alert_delivery (organization_id, id, notification_id, channel, state)
    select new.organization_id, keystride.new_id(clock_timestamp()), new.id, c.channel,
      case when exists (select 1 from keystride.alert_delivery d where d.organization_id = new.organization_id
        and d.channel = c.channel and d.state = 'waiting' offset 999) then 'dropped' else 'waiting' end
    from keystride.alerting a join keystride.alert_channel c using (organization_id)
    where a.organization_id = new.organization_id and (a.rules -> new.kind ->> c.channel)::boolean;
  return null;
end
$$;
revoke execute on function keystride.queue_deliveries from public;
