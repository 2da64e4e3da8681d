set local role keystride_system;

-- Counts the oldest closed hours that are not counted yet, and new attempts of open hours, for at most 500 ms. True if more are
-- left. An hour closes ten minutes after its end, when every attempt of it has committed. Concurrent calls skip each other's
-- organizations.
create or replace function keystride.count_attempts(now timestamptz default clock_timestamp()) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp
  -- The planner's statistics are outdated for a table that grows by the minute, and only index lookups stay fast.
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
  a_step constant int := 2000;
  closed timestamptz := date_trunc('hour', now - interval '10 minutes', 'UTC');
  -- Nearly all attempts up to this time have committed.
  settled timestamptz := date_trunc('milliseconds', now - interval '20 seconds');
  give_up timestamptz := clock_timestamp() + interval '500 milliseconds';
  -- Open hours get less time, because a deletion of an account waits for the counting of its organization.
  give_up_open timestamptz;
  org record;
  next_id uuid;
  next_at timestamptz;
  this_hour timestamptz;
  of_hour record;
begin
  insert into keystride.attempt_counted (organization_id, until)
    select o.organization_id, '-infinity' from keystride.organization o
    where o.organization_id <> all (array(
      select p.organization_id from keystride.placement p where p.state = 'arriving')) on conflict do nothing;
  for org in
    select c.organization_id, c.until, c.recent_until from keystride.attempt_counted c where c.until < closed
      order by c.organization_id for update skip locked
  loop
    this_hour := org.until;
    loop
      select a.id into next_id from keystride.authentication a
        where a.organization_id = org.organization_id
          and a.id >= case when this_hour = '-infinity' then '00000000-0000-0000-0000-000000000000' else keystride.uuid_from(this_hour) end
          and a.id < keystride.uuid_from(closed)
        order by a.id limit 1;
      this_hour := coalesce(date_trunc('hour', keystride.time_of(next_id), 'UTC'), closed);
      exit when this_hour >= closed;
      select count(*) as n, count(distinct a.member_id) filter (where a.authenticated) as users into of_hour
        from keystride.authentication a
        where a.organization_id = org.organization_id
          and a.id >= keystride.uuid_from(this_hour) and a.id < keystride.uuid_from(this_hour + interval '1 hour');
      -- The counts of the open hour are complete if no attempt committed late and no account was deleted.
      if org.recent_until >= this_hour + interval '1 hour' and of_hour.n = (select r.n from keystride.attempt_recent r
          where r.organization_id = org.organization_id and r.facet = 'all' and r.hour = this_hour and r.value = '') then
        insert into keystride.attempt_count
          select r.* from keystride.attempt_recent r where r.organization_id = org.organization_id and r.hour = this_hour;
      else
        insert into keystride.attempt_count
          select org.organization_id, c.facet, this_hour, c.value, c.n, c.n_authenticated, c.n_challenged, c.n_blocked,
            c.sum_confidence, c.sum_biometrics, c.n_biometrics, c.sum_context, c.n_context
          from keystride.count_by_facets(org.organization_id, this_hour, this_hour + interval '1 hour') c;
      end if;
      if of_hour.users > 0 then
        insert into keystride.attempt_count
          values (org.organization_id, 'users', this_hour, '', of_hour.users, 0, 0, 0, 0, 0, 0, 0, 0);
      end if;
      this_hour := this_hour + interval '1 hour';
      update keystride.attempt_counted c set until = this_hour where c.organization_id = org.organization_id;
      if clock_timestamp() > give_up then return true; end if;
    end loop;
    update keystride.attempt_counted c set until = closed where c.organization_id = org.organization_id;
    delete from keystride.attempt_recent r where r.organization_id = org.organization_id and r.hour < closed;
  end loop;

  give_up_open := least(give_up, clock_timestamp() + interval '150 milliseconds');
  for org in
    select c.organization_id, greatest(c.until, c.recent_until) as until from keystride.attempt_counted c,
      lateral (select from keystride.authentication a where a.organization_id = c.organization_id
        and a.id >= keystride.uuid_from(greatest(c.until, c.recent_until)) and a.id < keystride.uuid_from(settled) limit 1) due
      where c.until = closed order by c.organization_id for update of c skip locked
  loop
    while org.until < settled loop
      this_hour := date_trunc('hour', org.until, 'UTC');
      select keystride.time_of(a.id) into next_at from keystride.authentication a
        where a.organization_id = org.organization_id
          and a.id >= keystride.uuid_from(org.until) and a.id < keystride.uuid_from(settled)
        order by a.id offset a_step limit 1;
      next_at := least(greatest(coalesce(next_at, settled), org.until + interval '1 millisecond'), this_hour + interval '1 hour', settled);
      insert into keystride.attempt_recent as r
        select org.organization_id, c.facet, this_hour, c.value, c.n, c.n_authenticated, c.n_challenged, c.n_blocked,
          c.sum_confidence, c.sum_biometrics, c.n_biometrics, c.sum_context, c.n_context
        from keystride.count_by_facets(org.organization_id, org.until, next_at) c
      on conflict on constraint attempt_recent_pkey do update set n = r.n + excluded.n,
        n_authenticated = r.n_authenticated + excluded.n_authenticated, n_challenged = r.n_challenged + excluded.n_challenged,
        n_blocked = r.n_blocked + excluded.n_blocked, sum_confidence = r.sum_confidence + excluded.sum_confidence,
        sum_biometrics = r.sum_biometrics + excluded.sum_biometrics, n_biometrics = r.n_biometrics + excluded.n_biometrics,
        sum_context = r.sum_context + excluded.sum_context, n_context = r.n_context + excluded.n_context;
      org.until := next_at;
      update keystride.attempt_counted c set recent_until = next_at where c.organization_id = org.organization_id;
      -- The time is checked after a step, so that a slow machine makes progress.
      if clock_timestamp() > give_up_open then return true; end if;
    end loop;
  end loop;
  return false;
end
$$;
revoke execute on function keystride.count_attempts from public;
grant execute on function keystride.count_attempts to session_user;
