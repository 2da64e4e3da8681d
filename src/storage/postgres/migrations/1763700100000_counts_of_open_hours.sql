-- Attempts of hours that are not closed yet, counted a little behind the present: at 250 a second the last hour is 900,000
-- attempts, which no list of the dashboard can add up while somebody waits.

-- As attempt_count, of the hours from attempt_counted.until, and of nothing at or after attempt_counted.recent_until.
-- An attempt that commits late is missing until its hour is closed.
create table keystride.attempt_recent (
  organization_id uuid not null references keystride.organization,
  facet text not null,
  hour timestamptz not null,
  value text not null,
  n int not null,
  n_authenticated int not null,
  n_challenged int not null,
  n_blocked int not null,
  sum_confidence float8 not null,
  sum_biometrics float8 not null,
  n_biometrics int not null,
  sum_context float8 not null,
  n_context int not null,
  primary key (organization_id, facet, hour, value)
) with (fillfactor = 50); -- written again and again for an hour, and then gone
call keystride.guard('keystride.attempt_recent');
revoke insert, update, delete on keystride.attempt_recent from keystride_app;

alter table keystride.attempt_counted add column recent_until timestamptz not null default '-infinity';

grant create on schema keystride to keystride_system;
set local role keystride_system;

-- Attempts of a window by what they are counted by, as the rows of attempt_count but for the organization and the hour.
create function keystride.count_by_facets(organization uuid, since timestamptz, before timestamptz)
returns table (facet text, value text, n bigint, n_authenticated bigint, n_challenged bigint, n_blocked bigint,
  sum_confidence float8, sum_biometrics float8, n_biometrics bigint, sum_context float8, n_context bigint)
language sql stable
as $$
  select f.facet, f.value, count(*), count(*) filter (where a.authenticated),
    count(*) filter (where a.recommended_action = 'challenge'), count(*) filter (where a.recommended_action = 'block'),
    sum(a.confidence), coalesce(sum(a.confidence_biometrics) filter (where a.method = 'biometric'), 0),
    count(*) filter (where a.method = 'biometric'), coalesce(sum(a.confidence_context), 0), count(a.confidence_context)
  from keystride.authentication a, jsonb_each_text(coalesce(a.facets, '{}')
    || jsonb_build_object('all', '', 'method', a.method, 'reason', a.reason)) f (facet, value)
  where a.organization_id = organization and a.id >= keystride.uuid_from(since) and a.id < keystride.uuid_from(before)
  group by 1, 2
$$;

-- Counts the oldest closed hours of any organizations that are not counted yet, and what is new in the open ones, for half a
-- second at the most; true where more is left. An hour is closed ten minutes after its end: by then every attempt of it has
-- committed. Several processes may call it: an organization that one is at is left out by the others.
create or replace function keystride.count_attempts(now timestamptz default clock_timestamp()) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp
  -- Whatever the planner knows of a table that grows by the minute: all is looked up by organization and time.
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
  a_step constant int := 2000;
  closed timestamptz := date_trunc('hour', now - interval '10 minutes', 'UTC');
  -- By then nearly all have committed.
  settled timestamptz := date_trunc('milliseconds', now - interval '20 seconds');
  give_up timestamptz := clock_timestamp() + interval '500 milliseconds';
  -- Whoever deletes an account of an organization waits for what counts it.
  soon timestamptz;
  org record;
  next_id uuid;
  next_at timestamptz;
  this_hour timestamptz;
  there record;
begin
  insert into keystride.attempt_counted (organization_id, until)
    select o.organization_id, '-infinity' from keystride.organization o on conflict do nothing;
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
      select count(*) as n, count(distinct a.member_id) filter (where a.authenticated) as users into there
        from keystride.authentication a
        where a.organization_id = org.organization_id
          and a.id >= keystride.uuid_from(this_hour) and a.id < keystride.uuid_from(this_hour + interval '1 hour');
      -- What was counted while it was open is right where nothing came late, and nobody was deleted.
      if org.recent_until >= this_hour + interval '1 hour' and there.n = (select r.n from keystride.attempt_recent r
          where r.organization_id = org.organization_id and r.facet = 'all' and r.hour = this_hour and r.value = '') then
        insert into keystride.attempt_count
          select r.* from keystride.attempt_recent r where r.organization_id = org.organization_id and r.hour = this_hour;
      else
        insert into keystride.attempt_count
          select org.organization_id, c.facet, this_hour, c.value, c.n, c.n_authenticated, c.n_challenged, c.n_blocked,
            c.sum_confidence, c.sum_biometrics, c.n_biometrics, c.sum_context, c.n_context
          from keystride.count_by_facets(org.organization_id, this_hour, this_hour + interval '1 hour') c;
      end if;
      if there.users > 0 then
        insert into keystride.attempt_count
          values (org.organization_id, 'users', this_hour, '', there.users, 0, 0, 0, 0, 0, 0, 0, 0);
      end if;
      this_hour := this_hour + interval '1 hour';
      update keystride.attempt_counted c set until = this_hour where c.organization_id = org.organization_id;
      if clock_timestamp() > give_up then return true; end if;
    end loop;
    update keystride.attempt_counted c set until = closed where c.organization_id = org.organization_id;
    delete from keystride.attempt_recent r where r.organization_id = org.organization_id and r.hour < closed;
  end loop;

  soon := least(give_up, clock_timestamp() + interval '150 milliseconds');
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
      -- After a step, or a slow machine would never get on.
      if clock_timestamp() > soon then return true; end if;
    end loop;
  end loop;
  return false;
end
$$;

revoke execute on function keystride.count_by_facets(uuid, timestamptz, timestamptz) from public;

-- As before, and off what is counted of open hours.
create or replace function keystride.uncount_attempts(person text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  organization uuid := keystride.current_organization();
  naming constant text[] := array['application', 'place', 'asn'];
  counted record;
  gone keystride.attempt_count[];
begin
  -- The job that counts passes the organization by meanwhile; other deletions need not wait for this one to end.
  select greatest(c.until, c.recent_until) as until, c.days_until into counted from keystride.attempt_counted c
    where c.organization_id = organization for share;
  if not found or counted.until = '-infinity' then return; end if;

  gone := array(
    select row(organization, f.facet, date_trunc('hour', keystride.time_of(a.id), 'UTC'), f.value, count(*),
        count(*) filter (where a.authenticated), count(*) filter (where a.recommended_action = 'challenge'),
        count(*) filter (where a.recommended_action = 'block'), sum(a.confidence),
        coalesce(sum(a.confidence_biometrics) filter (where a.method = 'biometric'), 0),
        count(*) filter (where a.method = 'biometric'), coalesce(sum(a.confidence_context), 0),
        count(a.confidence_context))::keystride.attempt_count
    from keystride.authentication a, jsonb_each_text(a.facets) f (facet, value)
    where a.organization_id = organization and a.user_ref = person and a.id < keystride.uuid_from(counted.until)
      and f.facet = any (naming)
    group by f.facet, date_trunc('hour', keystride.time_of(a.id), 'UTC'), f.value);
  if cardinality(gone) = 0 then return; end if;
  -- One deletion after the other, or two that share some of the counts could wait for each other.
  perform pg_advisory_xact_lock(hashtextextended(organization::text, 7241865325823966));

  update keystride.attempt_count c set n = c.n - u.n, n_authenticated = c.n_authenticated - u.n_authenticated,
      n_challenged = c.n_challenged - u.n_challenged, n_blocked = c.n_blocked - u.n_blocked,
      sum_confidence = c.sum_confidence - u.sum_confidence, sum_biometrics = c.sum_biometrics - u.sum_biometrics,
      n_biometrics = c.n_biometrics - u.n_biometrics, sum_context = c.sum_context - u.sum_context,
      n_context = c.n_context - u.n_context
    from unnest(gone) u
    where c.organization_id = organization and c.facet = u.facet and c.hour = u.hour and c.value = u.value;
  delete from keystride.attempt_count c using unnest(gone) u
    where c.organization_id = organization and c.facet = u.facet and c.hour = u.hour and c.value = u.value and c.n <= 0;

  update keystride.attempt_recent c set n = c.n - u.n, n_authenticated = c.n_authenticated - u.n_authenticated,
      n_challenged = c.n_challenged - u.n_challenged, n_blocked = c.n_blocked - u.n_blocked,
      sum_confidence = c.sum_confidence - u.sum_confidence, sum_biometrics = c.sum_biometrics - u.sum_biometrics,
      n_biometrics = c.n_biometrics - u.n_biometrics, sum_context = c.sum_context - u.sum_context,
      n_context = c.n_context - u.n_context
    from unnest(gone) u
    where c.organization_id = organization and c.facet = u.facet and c.hour = u.hour and c.value = u.value;
  delete from keystride.attempt_recent c using unnest(gone) u
    where c.organization_id = organization and c.facet = u.facet and c.hour = u.hour and c.value = u.value and c.n <= 0;

  update keystride.attempt_day c set n = c.n - u.n, n_authenticated = c.n_authenticated - u.n_authenticated,
      n_challenged = c.n_challenged - u.n_challenged, n_blocked = c.n_blocked - u.n_blocked,
      sum_confidence = c.sum_confidence - u.sum_confidence, sum_biometrics = c.sum_biometrics - u.sum_biometrics,
      n_biometrics = c.n_biometrics - u.n_biometrics, sum_context = c.sum_context - u.sum_context,
      n_context = c.n_context - u.n_context
    from (
      select facet, date_trunc('day', hour, 'UTC') as day, value, sum(n)::int as n, sum(n_authenticated)::int as n_authenticated,
        sum(n_challenged)::int as n_challenged, sum(n_blocked)::int as n_blocked, sum(sum_confidence) as sum_confidence,
        sum(sum_biometrics) as sum_biometrics, sum(n_biometrics)::int as n_biometrics, sum(sum_context) as sum_context,
        sum(n_context)::int as n_context
      from unnest(gone) group by 1, 2, 3) u
    where c.organization_id = organization and c.facet = u.facet and c.day = u.day and c.value = u.value
      and c.day < counted.days_until;
  delete from keystride.attempt_day c using unnest(gone) u
    where c.organization_id = organization and c.facet = u.facet and c.day = date_trunc('day', u.hour, 'UTC')
      and c.value = u.value and c.n <= 0;
end
$$;

reset role;
revoke create on schema keystride from keystride_system;

-- As before, with what is counted of the open hours: so far in the last of them, and whole hours before it.
create or replace function keystride.counts(wanted text, since timestamptz, before timestamptz, bucket text)
returns table (at timestamptz, value text, n bigint, n_authenticated bigint, n_challenged bigint, n_blocked bigint,
  sum_confidence float8, sum_biometrics float8, n_biometrics bigint, sum_context float8, n_context bigint)
language plpgsql stable
as $$
declare
  organization uuid := keystride.current_organization();
  first_whole timestamptz := date_trunc('hour', since + interval '1 hour' - interval '1 microsecond', 'UTC');
  last_whole timestamptz;
  first_day timestamptz;
  last_day timestamptz;
  first_open timestamptz;
  last_open timestamptz;
begin
  select least(date_trunc('hour', before, 'UTC'), c.until), c.days_until, greatest(c.until, first_whole),
      case when c.recent_until <= before then c.recent_until else date_trunc('hour', before, 'UTC') end
    into last_whole, last_day, first_open, last_open
    from keystride.attempt_counted c where c.organization_id = organization;
  if last_whole is null or last_whole < first_whole then
    first_whole := least(first_whole, before);
    last_whole := first_whole;
  end if;
  -- Nothing of an open hour is counted, or of this window; `users` cannot be added up.
  if last_open is null or last_open <= first_open or wanted = 'users' then
    first_open := last_whole;
    last_open := last_whole;
  end if;
  first_day := date_trunc('day', first_whole + interval '1 day' - interval '1 microsecond', 'UTC');
  last_day := least(date_trunc('day', last_whole, 'UTC'), last_day);
  if last_day is null or last_day < first_day or bucket = 'hour' or wanted = 'users' then
    first_day := first_whole;
    last_day := first_whole;
  end if;
  return query
    select case when bucket is null then since else date_trunc(bucket, c.day, 'UTC') end, c.value, sum(c.n),
      sum(c.n_authenticated), sum(c.n_challenged), sum(c.n_blocked), sum(c.sum_confidence), sum(c.sum_biometrics),
      sum(c.n_biometrics), sum(c.sum_context), sum(c.n_context)
    from keystride.attempt_day c
    where c.organization_id = organization and c.facet = wanted and c.day >= first_day and c.day < last_day
    group by 1, 2;
  return query
    select case when bucket is null then since else date_trunc(bucket, c.hour, 'UTC') end, c.value, sum(c.n),
      sum(c.n_authenticated), sum(c.n_challenged), sum(c.n_blocked), sum(c.sum_confidence), sum(c.sum_biometrics),
      sum(c.n_biometrics), sum(c.sum_context), sum(c.n_context)
    from (
      select * from keystride.attempt_count
        where organization_id = organization and facet = wanted and hour >= first_whole and hour < first_day
      union all
      select * from keystride.attempt_count
        where organization_id = organization and facet = wanted and hour >= last_day and hour < last_whole
      union all
      select * from keystride.attempt_recent
        where organization_id = organization and facet = wanted and hour >= first_open and hour < last_open
    ) c
    group by 1, 2;
  return query
    select case when bucket is null then since else date_trunc(bucket, keystride.time_of(a.id), 'UTC') end, f.value, count(*),
      count(*) filter (where a.authenticated), count(*) filter (where a.recommended_action = 'challenge'), count(*) filter (where a.recommended_action = 'block'),
      sum(a.confidence), coalesce(sum(a.confidence_biometrics) filter (where a.method = 'biometric'), 0),
      count(*) filter (where a.method = 'biometric'), coalesce(sum(a.confidence_context), 0), count(a.confidence_context)
    from (
      select * from keystride.authentication
        where organization_id = organization and id >= keystride.uuid_from(since) and id < keystride.uuid_from(first_whole)
      union all
      select * from keystride.authentication
        where organization_id = organization and id >= keystride.uuid_from(last_open) and id < keystride.uuid_from(before)
    ) a, lateral (select case wanted when 'all' then '' when 'method' then a.method when 'reason' then a.reason
      else a.facets ->> wanted end as value) f
    where f.value is not null
    group by 1, 2;
end
$$;
