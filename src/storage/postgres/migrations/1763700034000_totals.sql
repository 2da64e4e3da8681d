-- What makes the figures over weeks and months fast: counts by day beside those by hour, and totals of each user over a
-- window that slides with the hours.

-- Attempts of a closed day (UTC) by what they are counted by: the sums of its hours. Under `blocked-users`, n is how many
-- people had an attempt that was blocked.
create table keystride.attempt_day (
  organization_id uuid not null references keystride.organization,
  facet text not null,
  day timestamptz not null,
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
  primary key (organization_id, facet, day, value)
);
call keystride.guard('keystride.attempt_day');
revoke insert, update, delete on keystride.attempt_day from keystride_app;

-- Days before this are counted.
alter table keystride.attempt_counted add column days_until timestamptz not null default '-infinity';

-- Each user's attempts of the `days` before `user_totaled.until`; no row where there are none. Confidences are summed in
-- billionths, as whole numbers, so that what is taken off again is exactly what was added. An index an order: the first
-- page of 100,000 users comes in 35 ms instead of 570.
create table keystride.user_total (
  organization_id uuid not null,
  days int not null,
  account_id uuid not null,
  user_ref text not null, -- the account's: what equal figures are ordered by
  n int not null,
  n_authenticated int not null,
  n_challenged int not null,
  n_blocked int not null,
  sum_confidence bigint not null,
  sum_biometrics bigint not null,
  n_biometrics int not null,
  last_at timestamptz not null,
  primary key (organization_id, days, account_id),
  foreign key (organization_id, account_id) references keystride.account (organization_id, id) on delete cascade
);
create index user_total_n on keystride.user_total (organization_id, days, n desc, user_ref);
create index user_total_authenticated on keystride.user_total (organization_id, days, n_authenticated desc, user_ref);
create index user_total_challenged on keystride.user_total (organization_id, days, n_challenged desc, user_ref);
create index user_total_blocked on keystride.user_total (organization_id, days, n_blocked desc, user_ref);
create index user_total_confidence on keystride.user_total (organization_id, days, (sum_confidence / nullif(n, 0)::float8) desc, user_ref);
create index user_total_last on keystride.user_total (organization_id, days, last_at desc, user_ref);
create index user_total_account on keystride.user_total (organization_id, account_id);
call keystride.guard('keystride.user_total');
revoke insert, update, delete on keystride.user_total from keystride_app;

create table keystride.user_totaled (
  organization_id uuid not null references keystride.organization,
  days int not null,
  until timestamptz not null,
  primary key (organization_id, days)
);
call keystride.guard('keystride.user_totaled');
revoke insert, update, delete on keystride.user_totaled from keystride_app;

-- The blocked attempts with what their history asks for; and not a second copy of every attempt for the table of users.
drop index keystride.authentication_blocked;
drop index keystride.authentication_figures;
create index authentication_blocked on keystride.authentication (organization_id, id) include (account_id, created_at)
  where recommended_action = 'block';

-- Counts the closed days of any organizations whose hours are counted, for half a second at the most; true where more are
-- left. Several processes may call it, as with count_attempts.
create function keystride.count_days() returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  give_up timestamptz := clock_timestamp() + interval '500 milliseconds';
  org record;
  closed timestamptz;
  day timestamptz;
begin
  for org in
    select c.organization_id, c.days_until, c.until from keystride.attempt_counted c
      where c.until > '-infinity' and c.days_until < date_trunc('day', c.until, 'UTC')
      order by c.organization_id for update skip locked
  loop
    closed := date_trunc('day', org.until, 'UTC');
    day := org.days_until;
    loop
      if clock_timestamp() > give_up then return true; end if;
      select date_trunc('day', min(c.hour), 'UTC') into day from keystride.attempt_count c
        where c.organization_id = org.organization_id and c.facet = 'all' and c.hour >= day and c.hour < closed;
      exit when day is null;
      insert into keystride.attempt_day
        select c.organization_id, c.facet, day, c.value, sum(c.n), sum(c.n_authenticated), sum(c.n_challenged), sum(c.n_blocked),
          sum(c.sum_confidence), sum(c.sum_biometrics), sum(c.n_biometrics), sum(c.sum_context), sum(c.n_context)
        from keystride.attempt_count c
        where c.organization_id = org.organization_id and c.facet <> 'users'
          and c.hour >= day and c.hour < day + interval '1 day'
        group by 1, 2, 4;
      insert into keystride.attempt_day
        select a.organization_id, 'blocked-users', day, '', count(distinct a.account_id), 0, 0, 0, 0, 0, 0, 0, 0
        from keystride.authentication a
        where a.organization_id = org.organization_id and a.recommended_action = 'block'
          and a.id >= keystride.uuid_from(day) and a.id < keystride.uuid_from(day + interval '1 day')
        group by 1;
      day := day + interval '1 day';
      update keystride.attempt_counted c set days_until = day where c.organization_id = org.organization_id;
    end loop;
    update keystride.attempt_counted c set days_until = closed where c.organization_id = org.organization_id;
  end loop;
  return false;
end
$$;

-- Each user's attempts of several windows, added (sign 1) or taken off (-1): the sums that user_total holds.
create function keystride.user_figures(organization uuid, since timestamptz[], before timestamptz[], signs int[])
returns table (account_id uuid, n bigint, n_authenticated bigint, n_challenged bigint, n_blocked bigint,
  sum_confidence bigint, sum_biometrics bigint, n_biometrics bigint, last_at timestamptz)
language sql stable
as $$
  select a.account_id, sum(w.sign), coalesce(sum(w.sign) filter (where a.authenticated), 0),
    coalesce(sum(w.sign) filter (where a.recommended_action = 'challenge'), 0),
    coalesce(sum(w.sign) filter (where a.recommended_action = 'block'), 0),
    sum(w.sign * round(a.confidence * 1e9)::bigint)::bigint,
    coalesce(sum(w.sign * round(a.confidence_biometrics * 1e9)::bigint) filter (where a.method = 'biometric'), 0)::bigint,
    coalesce(sum(w.sign) filter (where a.method = 'biometric'), 0), max(a.created_at)
  from unnest(since, before, signs) w (since, before, sign),
    lateral (select * from keystride.authentication a where a.organization_id = organization
      and a.id >= keystride.uuid_from(w.since) and a.id < keystride.uuid_from(w.before) offset 0) a
  group by 1
$$;

-- Moves the windows of user_total on to the last closed hour, an hour a step, for half a second at the most save where it
-- begins; true where more is left. An hour is closed ten minutes after its end.
create function keystride.slide_totals(now timestamptz default clock_timestamp()) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  closed timestamptz := date_trunc('hour', now - interval '10 minutes', 'UTC');
  give_up timestamptz := clock_timestamp() + interval '500 milliseconds';
  span record;
  hour timestamptz;
  leaving timestamptz;
begin
  insert into keystride.user_totaled (organization_id, days, until)
    select o.organization_id, d.days, '-infinity' from keystride.organization o, (values (7), (30), (90)) d (days)
    on conflict do nothing;
  for span in
    select t.organization_id, t.days, t.until from keystride.user_totaled t where t.until < closed
      order by t.organization_id, t.days for update skip locked
  loop
    hour := span.until;
    -- Far behind, or never begun: all at once, for each user is then written once.
    if hour < closed - interval '3 days' then
      if clock_timestamp() > give_up then return true; end if;
      delete from keystride.user_total t where t.organization_id = span.organization_id and t.days = span.days;
      insert into keystride.user_total
        select a.organization_id, span.days, a.id, a.user_ref, f.n, f.n_authenticated, f.n_challenged, f.n_blocked,
          f.sum_confidence, f.sum_biometrics, f.n_biometrics, f.last_at
        from keystride.user_figures(span.organization_id, array[closed - make_interval(days => span.days)], array[closed], array[1]) f
          join keystride.account a on a.organization_id = span.organization_id and a.id = f.account_id;
      hour := closed;
    end if;
    while hour < closed loop
      if clock_timestamp() > give_up then return true; end if;
      leaving := hour - make_interval(days => span.days);
      insert into keystride.user_total as t
        select span.organization_id, span.days, f.account_id, a.user_ref, f.n, f.n_authenticated, f.n_challenged, f.n_blocked,
          f.sum_confidence, f.sum_biometrics, f.n_biometrics, f.last_at
        from keystride.user_figures(span.organization_id, array[hour, leaving],
            array[hour + interval '1 hour', leaving + interval '1 hour'], array[1, -1]) f
          -- One by one: an hour has few users beside all there are.
          cross join lateral (select a.user_ref from keystride.account a
            where a.organization_id = span.organization_id and a.id = f.account_id offset 0) a
      on conflict (organization_id, days, account_id) do update set n = t.n + excluded.n,
        n_authenticated = t.n_authenticated + excluded.n_authenticated, n_challenged = t.n_challenged + excluded.n_challenged,
        n_blocked = t.n_blocked + excluded.n_blocked, sum_confidence = t.sum_confidence + excluded.sum_confidence,
        sum_biometrics = t.sum_biometrics + excluded.sum_biometrics, n_biometrics = t.n_biometrics + excluded.n_biometrics,
        last_at = greatest(t.last_at, excluded.last_at);
      delete from keystride.user_total t
        where t.organization_id = span.organization_id and t.days = span.days and t.n = 0;
      hour := hour + interval '1 hour';
      update keystride.user_totaled t set until = hour
        where t.organization_id = span.organization_id and t.days = span.days;
    end loop;
    update keystride.user_totaled t set until = hour
      where t.organization_id = span.organization_id and t.days = span.days;
  end loop;
  return false;
end
$$;

-- As before, with whole counted days from their counts where the buckets allow it.
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
begin
  select least(date_trunc('hour', before, 'UTC'), c.until), c.days_until into last_whole, last_day
    from keystride.attempt_counted c where c.organization_id = organization;
  if last_whole is null or last_whole < first_whole then
    first_whole := least(first_whole, before);
    last_whole := first_whole;
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
        where organization_id = organization and id >= keystride.uuid_from(last_whole) and id < keystride.uuid_from(before)
    ) a, lateral (select case wanted when 'all' then '' when 'method' then a.method when 'reason' then a.reason
      else a.facets ->> wanted end as value) f
    where f.value is not null
    group by 1, 2;
end
$$;

revoke execute on function keystride.count_days() from public;
revoke execute on function keystride.slide_totals(timestamptz) from public;
revoke execute on function keystride.user_figures(uuid, timestamptz[], timestamptz[], int[]) from public;
grant execute on function keystride.user_figures(uuid, timestamptz[], timestamptz[], int[]) to keystride_app, keystride_system;
grant create on schema keystride to keystride_system;
alter function keystride.count_days() owner to keystride_system;
alter function keystride.slide_totals(timestamptz) owner to keystride_system;
revoke create on schema keystride from keystride_system;
do $$
begin
  set local role keystride_system;
  execute format('grant execute on function keystride.count_days() to %I', session_user);
  execute format('grant execute on function keystride.slide_totals(timestamptz) to %I', session_user);
  reset role;
end
$$;
