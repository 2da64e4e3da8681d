set local role keystride_system;

-- Discards the counts of the caller's organization from the day of `since` on, so that its attempts are counted again. This is
-- for attempts that were written with a past time, and for deleted ones that no count may keep. Readers add the attempts up
-- themselves until the job has counted them. Counts of attempts before that day stay.
create or replace function keystride.count_again(since timestamptz) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  organization uuid := keystride.current_organization();
  first_day constant timestamptz := date_trunc('day', since, 'UTC');
begin
  -- The first statement locks the row, so that the counting of this organization waits or has ended.
  update keystride.attempt_counted c set until = least(c.until, first_day), days_until = least(c.days_until, first_day),
      recent_until = '-infinity' where c.organization_id = organization;
  update keystride.user_totaled t set until = '-infinity' where t.organization_id = organization;
  delete from keystride.attempt_count c where c.organization_id = organization and c.hour >= first_day;
  delete from keystride.attempt_day c where c.organization_id = organization and c.day >= first_day;
  delete from keystride.attempt_recent c where c.organization_id = organization;
end
$$;
revoke execute on function keystride.count_again from public;
grant execute on function keystride.count_again to keystride_app;
