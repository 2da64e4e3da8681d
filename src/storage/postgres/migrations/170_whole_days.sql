-- Days were counted in the time zone of the session. Where that zone has summer time, a day had 23 or 25 hours, the job could stop
-- at such a day for ever, and totals of users missed an hour or had it twice. The job counts days again from the first wrong one
-- on, and all totals, because nothing shows whether they are right; until then hours and attempts are read in their place.
set local role keystride_system;
update keystride.attempt_counted c set days_until = wrong.day
  from (
    select d.organization_id, date_trunc('day', min(d.day), 'UTC') as day from keystride.attempt_day d
    where d.facet = 'all' and d.n <> (
      select coalesce(sum(h.n), 0) from keystride.attempt_count h
      where h.organization_id = d.organization_id and h.facet = 'all' and h.hour >= d.day and h.hour < d.day + interval '24 hours')
    group by 1) wrong
  where c.organization_id = wrong.organization_id;
update keystride.user_totaled set until = '-infinity';
reset role;
