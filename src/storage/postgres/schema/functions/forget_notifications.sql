set local role keystride_system;

-- Deletes up to 2,000 notifications from before this time, with their deliveries. True if more may be left.
create or replace function keystride.forget_notifications(before timestamptz) returns boolean
language sql security definer set search_path = pg_catalog, pg_temp
as $$
  with gone as (
    delete from keystride.notification where (organization_id, id) in (
      select organization_id, id from keystride.notification
      where id < keystride.uuid_from(before) and notification.organization_id <> all (array(
      select p.organization_id from keystride.placement p where p.state = 'arriving')) limit 2000)
    returning 1)
  select count(*) = 2000 from gone
$$;
revoke execute on function keystride.forget_notifications from public;
grant execute on function keystride.forget_notifications to session_user;
