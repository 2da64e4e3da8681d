CREATE SCHEMA keystride;
ALTER SCHEMA keystride OWNER TO app;
CREATE FUNCTION keystride.abandoned_exports() RETURNS TABLE(organization_id uuid, id uuid)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select a.organization_id, a.id from keystride.export_archive a
  where (a.status = 'running' and a.claimed_until < clock_timestamp())
    or (a.status = 'queued' and a.created_at < clock_timestamp() - interval '30 seconds')
  order by a.created_at limit 100
$$;
ALTER FUNCTION keystride.abandoned_exports() OWNER TO keystride_system;
CREATE FUNCTION keystride.add_up_headcounts() RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  org record;
  n_added int := 0;
begin
  for org in
    select h.organization_id from keystride.headcount h
    where exists (select from keystride.headcount_change c where c.organization_id = h.organization_id)
  loop
    n_added := n_added + keystride.enter_headcount_line(org.organization_id, false)::int;
    exit when n_added = 100;
  end loop;
  return n_added = 100;
end
$$;
ALTER FUNCTION keystride.add_up_headcounts() OWNER TO keystride_system;
CREATE FUNCTION keystride.add_usage(counted jsonb, logged jsonb) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
ALTER FUNCTION keystride.add_usage(counted jsonb, logged jsonb) OWNER TO keystride_system;
CREATE FUNCTION keystride.analyze_grown() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET jit TO 'off'
    AS $$
declare
  grown regclass;
begin
  for grown in
    select c.oid::regclass from pg_class c
      cross join lateral (select pg_relation_size(c.oid) / current_setting('block_size')::int as pages) now
    where c.relnamespace = 'keystride'::regnamespace and c.relkind = 'r'
      and now.pages > 4 and c.relpages < now.pages / 4.0
    order by 1
  loop
    execute format('analyze (skip_locked) %s', grown);
  end loop;
end
$$;
ALTER FUNCTION keystride.analyze_grown() OWNER TO app;
CREATE FUNCTION keystride.append_checkpoints(today timestamp with time zone DEFAULT now()) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  org record;
  made int := 0;
begin
  for org in
    select h.organization_id from keystride.headcount h
    where not exists (select 1 from keystride.usage_event e where e.organization_id = h.organization_id
      and e.kind = 'checkpoint' and e.at >= date_trunc('day', today, 'UTC'))
    order by h.organization_id
  loop
    continue when not pg_try_advisory_xact_lock(keystride.headcount_line(org.organization_id));
    continue when exists (select 1 from keystride.usage_event e where e.organization_id = org.organization_id
      and e.kind = 'checkpoint' and e.at >= date_trunc('day', today, 'UTC'));
    perform keystride.append_usage_event(org.organization_id, 'checkpoint');
    made := made + 1;
  end loop;
  return made;
end
$$;
ALTER FUNCTION keystride.append_checkpoints(today timestamp with time zone) OWNER TO keystride_system;
CREATE FUNCTION keystride.append_usage_event(organization uuid, happened text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '1s'
    AS $$
declare
  held keystride.headcount;
  event keystride.usage_event;
begin
  perform keystride.enter_headcount_line(organization, true);
  select * into held from keystride.headcount h where h.organization_id = organization for update;
  event.organization_id := organization;
  event.n := held.last_event + 1;
  event.at := clock_timestamp();
  event.kind := happened;
  event.n_accounts := held.n_accounts;
  event.n_accounts_generic := held.n_accounts_generic;
  event.n_users_nominative := held.n_users_nominative;
  event.n_users_generic := held.n_users_generic;
  select (o.quota_accounts > 0 and held.n_accounts > o.quota_accounts)
      or (o.quota_shared_accounts > 0 and held.n_accounts_generic > o.quota_shared_accounts)
    into event.over_quota from keystride.organization o where o.organization_id = organization;
  event.hash := keystride.usage_hash(event, held.last_hash);
  insert into keystride.usage_event select event.*;
  update keystride.headcount set last_event = event.n, last_hash = event.hash where organization_id = organization;
end
$$;
ALTER FUNCTION keystride.append_usage_event(organization uuid, happened text) OWNER TO keystride_system;
CREATE FUNCTION keystride.await_erasures() RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select pg_advisory_xact_lock(hashtextextended('keystride erasure ' || keystride.current_organization(), 0))
$$;
ALTER FUNCTION keystride.await_erasures() OWNER TO keystride_system;
CREATE FUNCTION keystride.blocked_until(attempts jsonb) RETURNS timestamp with time zone
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$
declare
  closed_until float8 := greatest(
    (attempts #>> '{biometric,closedUntil}')::float8, (attempts #>> '{security_code,closedUntil}')::float8);
begin
  if (attempts #>> '{biometric,off}')::boolean or (attempts #>> '{security_code,off}')::boolean then
    return 'infinity'::timestamptz;
  end if;
  return case when closed_until > 0 then to_timestamp(closed_until / 1000) end;
end
$$;
ALTER FUNCTION keystride.blocked_until(attempts jsonb) OWNER TO app;
CREATE FUNCTION keystride.broken_usage_event() RETURNS bigint
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  with told as (
    select e.n, e.hash, row_number() over (order by e.n) as place,
      keystride.usage_hash(e, lag(e.hash, 1, '') over (order by e.n)) as should
    from keystride.usage_event e where e.organization_id = keystride.current_organization()
  ), held as (
    select h.last_event, h.last_hash from keystride.headcount h where h.organization_id = keystride.current_organization()
  )
  select min(n) from (
    select place as n from told where n <> place or hash <> should
    union all
    select last_event from held where last_event > 0
      and not exists (select 1 from told where told.n = last_event and told.hash = last_hash)
  ) broken
$$;
ALTER FUNCTION keystride.broken_usage_event() OWNER TO keystride_system;
CREATE FUNCTION keystride.claim_deliveries(most integer) RETURNS TABLE(organization_id uuid, id uuid)
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
ALTER FUNCTION keystride.claim_deliveries(most integer) OWNER TO keystride_system;
CREATE FUNCTION keystride.claim_mark(organization uuid, mark bytea, mark_bands bigint[], owner_id uuid, at timestamp with time zone, reject boolean, memory_days integer, pattern uuid, pattern_generation integer, cleared bytea[]) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
    AS $$
declare
  oldest timestamptz := at - make_interval(days => memory_days);
begin
  if reject then
    perform 1 from (select * from keystride.replay_mark where bands && mark_bands offset 0) m
      where m.organization_id = organization and m.seen_at > oldest and m.exact <> all (cleared)
        and keystride.resembles(m.member_id, m.bands, owner_id, mark_bands)
      limit 1;
    if found then return false; end if;
  end if;
  insert into keystride.replay_mark as m (organization_id, exact, bands, member_id, seen_at, pattern_id, generation)
    values (organization, mark, mark_bands, owner_id, at, pattern, pattern_generation)
    on conflict (organization_id, exact) do update set bands = excluded.bands, member_id = excluded.member_id,
      seen_at = excluded.seen_at, pattern_id = excluded.pattern_id, generation = excluded.generation
      where m.seen_at <= oldest;
  return found or not reject;
end
$$;
ALTER FUNCTION keystride.claim_mark(organization uuid, mark bytea, mark_bands bigint[], owner_id uuid, at timestamp with time zone, reject boolean, memory_days integer, pattern uuid, pattern_generation integer, cleared bytea[]) OWNER TO keystride_system;
CREATE FUNCTION keystride.claim_own_mark(mark bytea, mark_bands bigint[], owner_id uuid, at timestamp with time zone, reject boolean, memory_days integer, pattern uuid, pattern_generation integer, cleared bytea[]) RETURNS boolean
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select keystride.claim_mark(keystride.current_organization(), mark, mark_bands, owner_id, at, reject,
    memory_days, pattern, pattern_generation, cleared)
$$;
ALTER FUNCTION keystride.claim_own_mark(mark bytea, mark_bands bigint[], owner_id uuid, at timestamp with time zone, reject boolean, memory_days integer, pattern uuid, pattern_generation integer, cleared bytea[]) OWNER TO keystride_system;
CREATE FUNCTION keystride.confidence_bin(method text, confidence double precision) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ select case when method = 'biometric' then lpad(least(19, floor(confidence * 20)::int)::text, 2, '0') end $$;
ALTER FUNCTION keystride.confidence_bin(method text, confidence double precision) OWNER TO app;
CREATE FUNCTION keystride.count_account() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  people int;
begin
  if tg_op = 'INSERT' then
    insert into keystride.headcount_change (organization_id, n_accounts, n_accounts_generic)
      values (new.organization_id, 1, (new.type = 'generic')::int);
  elsif tg_op = 'DELETE' then
    insert into keystride.headcount_change (organization_id, n_accounts, n_accounts_generic)
      values (old.organization_id, -1, -(old.type = 'generic')::int);
    perform keystride.append_usage_event(old.organization_id, 'delete');
  elsif new.type <> old.type then
    select count(*) into people from keystride.member m
      where m.organization_id = new.organization_id and m.account_id = new.id and m.archived_at is null;
    if new.type = 'nominative' then people := -people; end if;
    insert into keystride.headcount_change (organization_id, n_accounts_generic, n_users_generic, n_users_nominative)
      values (new.organization_id, case new.type when 'generic' then 1 else -1 end, people, -people);
    perform keystride.append_usage_event(new.organization_id, 'type-change');
  end if;
  return null;
end
$$;
ALTER FUNCTION keystride.count_account() OWNER TO keystride_system;
CREATE FUNCTION keystride.count_attempts(now timestamp with time zone DEFAULT clock_timestamp()) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    AS $$
declare
  a_step constant int := 2000;
  closed timestamptz := date_trunc('hour', now - interval '10 minutes', 'UTC');
  settled timestamptz := date_trunc('milliseconds', now - interval '20 seconds');
  give_up timestamptz := clock_timestamp() + interval '500 milliseconds';
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
      if clock_timestamp() > soon then return true; end if;
    end loop;
  end loop;
  return false;
end
$$;
ALTER FUNCTION keystride.count_attempts(now timestamp with time zone) OWNER TO keystride_system;
CREATE FUNCTION keystride.count_by_facets(organization uuid, since timestamp with time zone, before timestamp with time zone) RETURNS TABLE(facet text, value text, n bigint, n_authenticated bigint, n_challenged bigint, n_blocked bigint, sum_confidence double precision, sum_biometrics double precision, n_biometrics bigint, sum_context double precision, n_context bigint)
    LANGUAGE sql STABLE
    AS $$
  with alike as (
    select a.facets, a.method, a.reason, c.bin, grouping(c.bin) = 0 as by_bin, count(*) as n, count(*) filter (where a.authenticated) as n_authenticated,
      count(*) filter (where a.recommended_action = 'challenge') as n_challenged,
      count(*) filter (where a.recommended_action = 'block') as n_blocked, sum(a.confidence) as sum_confidence,
      sum(a.confidence_biometrics) as sum_biometrics, coalesce(sum(a.confidence_context), 0) as sum_context,
      count(a.confidence_context) as n_context
    from keystride.authentication a, lateral (select keystride.confidence_bin(a.method, a.confidence) as bin) c
    where a.organization_id = organization and a.id >= keystride.uuid_from(since) and a.id < keystride.uuid_from(before)
    group by grouping sets ((a.facets, a.method, a.reason), (c.bin)))
  select f.facet, f.value, sum(n), sum(n_authenticated), sum(n_challenged), sum(n_blocked), sum(sum_confidence),
    coalesce(sum(sum_biometrics) filter (where method = 'biometric'), 0),
    coalesce(sum(n) filter (where method = 'biometric'), 0), sum(sum_context), sum(n_context)
  from alike, jsonb_each_text(coalesce(facets, '{}') || jsonb_build_object('all', '', 'method', method, 'reason', reason)) f
    (facet, value)
  where not by_bin
  group by 1, 2
  union all
  select 'confidence', bin, n, n_authenticated, n_challenged, n_blocked, sum_confidence, sum_biometrics, n, sum_context, n_context
  from alike
  where by_bin and bin is not null
$$;
ALTER FUNCTION keystride.count_by_facets(organization uuid, since timestamp with time zone, before timestamp with time zone) OWNER TO keystride_system;
CREATE FUNCTION keystride.count_days() RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
ALTER FUNCTION keystride.count_days() OWNER TO keystride_system;
CREATE FUNCTION keystride.count_member() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  of_member keystride.member;
  was boolean := tg_op <> 'INSERT' and old.archived_at is null;
  stays boolean := tg_op <> 'DELETE' and new.archived_at is null;
  change int := stays::int - was::int;
begin
  if tg_op = 'DELETE' then of_member := old; else of_member := new; end if;
  if change <> 0 then
    insert into keystride.headcount_change (organization_id, n_users_generic, n_users_nominative)
      select a.organization_id, case a.type when 'generic' then change else 0 end,
        case a.type when 'nominative' then change else 0 end
      from keystride.account a
      where a.organization_id = of_member.organization_id and a.id = of_member.account_id;
  end if;
  if tg_op = 'UPDATE' then
    if was and not stays then perform keystride.append_usage_event(new.organization_id, 'delete'); end if;
    if new.completed_at is not null and old.completed_at is distinct from new.completed_at then
      perform keystride.append_usage_event(new.organization_id, 'enroll');
    end if;
  end if;
  return null;
end
$$;
ALTER FUNCTION keystride.count_member() OWNER TO keystride_system;
CREATE FUNCTION keystride.count_organization() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  insert into keystride.headcount (organization_id) values (new.organization_id);
  return null;
end
$$;
ALTER FUNCTION keystride.count_organization() OWNER TO keystride_system;
CREATE FUNCTION keystride.counts(wanted text, since timestamp with time zone, before timestamp with time zone, bucket text) RETURNS TABLE(at timestamp with time zone, value text, n bigint, n_authenticated bigint, n_challenged bigint, n_blocked bigint, sum_confidence double precision, sum_biometrics double precision, n_biometrics bigint, sum_context double precision, n_context bigint)
    LANGUAGE plpgsql STABLE
    AS $$
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
      when 'confidence' then keystride.confidence_bin(a.method, a.confidence) else a.facets ->> wanted end as value) f
    where f.value is not null
    group by 1, 2;
end
$$;
ALTER FUNCTION keystride.counts(wanted text, since timestamp with time zone, before timestamp with time zone, bucket text) OWNER TO app;
CREATE TABLE keystride.account (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    user_ref text NOT NULL,
    type text NOT NULL,
    display_name text,
    member_selection text DEFAULT 'ask'::text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    groups jsonb DEFAULT '[]'::jsonb NOT NULL,
    tag jsonb DEFAULT '{}'::jsonb NOT NULL,
    CONSTRAINT account_member_selection_check CHECK ((member_selection = ANY (ARRAY['ask'::text, 'list'::text]))),
    CONSTRAINT account_type_check CHECK ((type = ANY (ARRAY['nominative'::text, 'generic'::text])))
);
ALTER TABLE ONLY keystride.account FORCE ROW LEVEL SECURITY;
ALTER TABLE keystride.account OWNER TO app;
CREATE TABLE keystride.member (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    member_ref text NOT NULL,
    generation integer DEFAULT 0 NOT NULL,
    n_visible integer DEFAULT 0 NOT NULL,
    n_sensitive integer DEFAULT 0 NOT NULL,
    ever_reset boolean DEFAULT false NOT NULL,
    reset_at timestamp with time zone,
    completed_at timestamp with time zone,
    last_success_at timestamp with time zone,
    preferred_language text,
    attempts jsonb NOT NULL,
    attempts_version bigint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    code_hash text,
    code_previous_hash text,
    code_temporary boolean DEFAULT false NOT NULL,
    code_used boolean DEFAULT false NOT NULL,
    code_set_at timestamp with time zone,
    code_expires_at timestamp with time zone,
    code_issued jsonb DEFAULT '[]'::jsonb NOT NULL,
    code_version bigint DEFAULT 0 NOT NULL,
    display_name text,
    archived_at timestamp with time zone,
    invalid_patterns timestamp with time zone[] DEFAULT '{}'::timestamp with time zone[] NOT NULL,
    patterns_closed_until timestamp with time zone,
    typed_at timestamp with time zone,
    profile_version bigint DEFAULT 0 NOT NULL,
    sample_format smallint DEFAULT 1 NOT NULL,
    successor_owner text,
    successor_format smallint,
    successor_visible integer DEFAULT 0 NOT NULL,
    successor_sensitive integer DEFAULT 0 NOT NULL,
    pending_id uuid,
    pending_action text,
    pending_queued_at timestamp with time zone,
    pending_replaced integer DEFAULT 0 NOT NULL,
    adapted_at timestamp with time zone,
    row_version bigint DEFAULT 0 NOT NULL,
    habits text DEFAULT '{}'::text NOT NULL,
    blocked_until timestamp with time zone GENERATED ALWAYS AS (keystride.blocked_until(attempts)) STORED,
    CONSTRAINT member_code CHECK (((code_temporary = (code_expires_at IS NOT NULL)) AND (code_temporary OR (NOT code_used)))),
    CONSTRAINT member_n_sensitive_check CHECK ((n_sensitive >= 0)),
    CONSTRAINT member_n_visible_check CHECK ((n_visible >= 0)),
    CONSTRAINT member_pending CHECK ((((pending_id IS NULL) = (pending_action IS NULL)) AND ((pending_id IS NULL) = (pending_queued_at IS NULL)))),
    CONSTRAINT member_pending_action_check CHECK ((pending_action = ANY (ARRAY['RESET_BIOMETRIC_PROFILE'::text, 'UPDATE_BIOMETRIC_PROFILE'::text]))),
    CONSTRAINT member_successor CHECK (((successor_visible >= 0) AND (successor_sensitive >= 0) AND ((successor_owner IS NULL) = ((successor_visible + successor_sensitive) = 0)) AND ((successor_owner IS NULL) = (successor_format IS NULL))))
)
WITH (fillfactor='80');
ALTER TABLE ONLY keystride.member FORCE ROW LEVEL SECURITY;
ALTER TABLE keystride.member OWNER TO app;
CREATE FUNCTION keystride.create_accounts(organizations uuid[], ids uuid[], user_refs text[], types text[], names text[], created_ms double precision[], member_ids uuid[], member_refs text[], member_names text[], no_attempts jsonb, waits boolean) RETURNS TABLE(nth integer, outcome text, licensed integer, found_account keystride.account, found_member keystride.member)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '1s'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    AS $$
declare
  o keystride.organization;
  org uuid;
  asked int[];
  coming int[];
  others int[];
  outcomes text[] := array_fill(null::text, array[cardinality(ids)]);
  held record;
  is_limited boolean;
begin
  for org, asked in
    select organizations[i], array_agg(i order by user_refs[i]) from generate_subscripts(organizations, 1) i group by 1 order by 1
  loop
    perform set_config('keystride.organization_id', org::text, true);
    select * into o from keystride.organization where organization_id = org;
    coming := array(select i from unnest(asked) with ordinality u (i, place)
      where not exists (select from keystride.account a where a.organization_id = org and a.user_ref = user_refs[i] offset 0)
      order by place);
    is_limited := o.quota_mode = 'strict' and (o.quota_accounts > 0
      or o.quota_shared_accounts > 0 and exists (select from unnest(coming) i where types[i] = 'generic'));
    if is_limited and coming <> '{}' then
      select * into held from keystride.headcount_now(org);
      if (o.quota_accounts = 0 or held.n_accounts < o.quota_accounts) then
        if keystride.enter_headcount_line(org, waits) then
          select * into held from keystride.headcount_now(org);
          coming := array(select i from unnest(coming) with ordinality u (i, place)
            where not exists (select from keystride.account a where a.organization_id = org and a.user_ref = user_refs[i] offset 0)
            order by place);
        else
          foreach nth in array coming loop outcomes[nth] := 'line'; end loop;
          coming := '{}';
        end if;
      end if;
      others := coming;
      coming := '{}';
      foreach nth in array others loop
        if o.quota_accounts > 0 and held.n_accounts >= o.quota_accounts then
          outcomes[nth] := 'accounts-quota';
        elsif types[nth] = 'generic' and o.quota_shared_accounts > 0 and held.n_accounts_generic >= o.quota_shared_accounts then
          outcomes[nth] := 'shared-accounts-quota';
        else
          coming := coming || nth;
          held.n_accounts := held.n_accounts + 1;
          held.n_accounts_generic := held.n_accounts_generic + (types[nth] = 'generic')::int;
        end if;
      end loop;
    end if;
    if coming <> '{}' then
      insert into keystride.account (organization_id, id, user_ref, type, display_name, created_at)
        select org, ids[i], user_refs[i], types[i], names[i], to_timestamp(created_ms[i] / 1000)
        from unnest(coming) with ordinality a (i, place) order by place
        on conflict (organization_id, user_ref) do nothing;
      insert into keystride.member (organization_id, id, account_id, member_ref, display_name, attempts, created_at)
        select org, member_ids[i], ids[i], member_refs[i], member_names[i], no_attempts, to_timestamp(created_ms[i] / 1000)
        from unnest(coming) i
        where member_ids[i] is not null
          and exists (select from keystride.account a where a.organization_id = org and a.id = ids[i] offset 0)
        on conflict (organization_id, account_id, member_ref) do nothing;
    end if;
    return query
      select i, case when a.id is null then outcomes[i] when a.id = ids[i] then 'created' else 'found' end,
        case outcomes[i] when 'accounts-quota' then o.quota_accounts when 'shared-accounts-quota' then o.quota_shared_accounts end,
        known.found, of_account.m
      from unnest(asked) i
        left join lateral (
          select a as found from keystride.account a where a.organization_id = org and a.user_ref = user_refs[i]
          offset 0) known on true
        left join lateral (select (known.found).*) a on true
        left join lateral (
          select m from keystride.member m
          where m.organization_id = a.organization_id and m.account_id = a.id and m.archived_at is null
            and m.member_ref = coalesce(member_refs[i], case a.type when 'nominative' then a.user_ref end)
          offset 0) of_account on true;
  end loop;
end
$$;
ALTER FUNCTION keystride.create_accounts(organizations uuid[], ids uuid[], user_refs text[], types text[], names text[], created_ms double precision[], member_ids uuid[], member_refs text[], member_names text[], no_attempts jsonb, waits boolean) OWNER TO keystride_app;
CREATE FUNCTION keystride.current_organization() RETURNS uuid
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$ select nullif(current_setting('keystride.organization_id', true), '')::uuid $$;
ALTER FUNCTION keystride.current_organization() OWNER TO app;
CREATE FUNCTION keystride.derive_notifications(since timestamp with time zone, most integer DEFAULT 500) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
    AS $$
declare
  settled constant timestamptz := clock_timestamp() - interval '1 minute';
  of_organization record;
  until timestamptz;
  more boolean := false;
begin
  if not pg_try_advisory_xact_lock(7241865325823976) then return false; end if;
  insert into keystride.alerting (organization_id, derived_until)
    select o.organization_id, o.created_at from keystride.organization o
    where not exists (select 1 from keystride.alerting a where a.organization_id = o.organization_id) on conflict do nothing;
  for of_organization in
    with found as (
      select f.* from keystride.alerting c cross join lateral (
        select a.organization_id, a.id, a.account_id, a.member_id, a.method, a.events,
          row_number() over (order by a.id) as turn
        from keystride.authentication a
        where a.organization_id = c.organization_id and a.events is not null
          and a.id >= keystride.uuid_from(least(c.derived_until, since))
          and (select true from keystride.notification n where n.organization_id = a.organization_id
            and n.event = 'attempt ' || a.id || ' ' || (a.events -> 0 ->> 'kind')) is null
        order by a.id limit most) f
      order by f.turn limit most
    ), theirs as (
      select a.* from (select distinct organization_id, account_id from found) f cross join lateral (
        select a.organization_id, a.id from keystride.account a
        where a.organization_id = f.organization_id and a.id = f.account_id for key share skip locked) a
    ), noted as (
      insert into keystride.notification (organization_id, id, event, kind, at, account_id, member_id, authentication_id, details)
        select f.organization_id, keystride.new_id(keystride.time_of(f.id)), 'attempt ' || f.id || ' ' || (e ->> 'kind'),
          e ->> 'kind', keystride.time_of(f.id), f.account_id, f.member_id, f.id, e - 'kind'
        from found f cross join jsonb_array_elements(f.events) e
          join theirs a on a.organization_id = f.organization_id and a.id = f.account_id
        order by f.organization_id, f.id
        on conflict do nothing returning organization_id)
    select c.organization_id, f.sprayed, coalesce(f.passed_by, false) as passed_by, (select count(*) from found) = most as full_run,
      exists (select from noted) as some_noted
    from keystride.alerting c left join (
      select m.organization_id, array_agg(m.last_code order by m.last_code) filter (where m.last_code is not null) as sprayed,
        bool_or(m.passed_by) as passed_by
      from (select f.organization_id, max(keystride.time_of(f.id)) filter (where method = 'security_code') as last_code,
          bool_or(a.id is null and exists (select from keystride.account there
            where there.organization_id = f.organization_id and there.id = f.account_id)) as passed_by
        from found f left join theirs a on a.organization_id = f.organization_id and a.id = f.account_id
        group by f.organization_id, date_trunc('minute', keystride.time_of(f.id))) m
      group by 1) f using (organization_id)
    where f.organization_id is not null or c.derived_until < settled - interval '1 minute'
  loop
    foreach until in array coalesce(of_organization.sprayed, '{}') loop
      perform keystride.note_spraying(of_organization.organization_id, until);
    end loop;
    more := of_organization.full_run and of_organization.some_noted;
    continue when of_organization.full_run or of_organization.passed_by;
    update keystride.alerting c set derived_until = greatest(c.derived_until, settled)
      where c.organization_id = of_organization.organization_id;
  end loop;
  return more;
end
$$;
ALTER FUNCTION keystride.derive_notifications(since timestamp with time zone, most integer) OWNER TO keystride_system;
CREATE FUNCTION keystride.drop_partitions(days integer, today timestamp with time zone DEFAULT now()) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '150ms'
    AS $_$
declare
  gone int := 0;
  name text;
begin
  perform pg_advisory_xact_lock(7241865325823965);
  for name in
    select c.relname from pg_catalog.pg_inherits i join pg_catalog.pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'keystride.authentication'::regclass and c.relname ~ '^authentication_\d{4}_\d{2}$'
      and (to_date(substr(c.relname, 16), 'YYYY_MM') + interval '1 month') at time zone 'utc'
        <= today - make_interval(days => days)
    order by 1
  loop
    execute format('drop table keystride.%I', name);
    gone := gone + 1;
  end loop;
  return gone;
end
$_$;
ALTER FUNCTION keystride.drop_partitions(days integer, today timestamp with time zone) OWNER TO app;
CREATE FUNCTION keystride.ensure_partitions(ahead integer, today timestamp with time zone DEFAULT now()) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  made int := 0;
  month timestamp;
  name text;
begin
  perform pg_advisory_xact_lock(7241865325823965);
  for month in
    select generate_series(date_trunc('month', today at time zone 'utc'),
      date_trunc('month', today at time zone 'utc') + make_interval(months => ahead), interval '1 month')
  loop
    name := 'authentication_' || to_char(month, 'YYYY_MM');
    continue when to_regclass('keystride.' || name) is not null;
    begin
      execute format('create table keystride.%I partition of keystride.authentication for values from (%L) to (%L)',
        name, keystride.uuid_from(month at time zone 'utc'),
        keystride.uuid_from((month + interval '1 month') at time zone 'utc'));
      execute format('alter table keystride.%I enable row level security', name);
      execute format('alter table keystride.%I force row level security', name);
      execute format('alter table keystride.%I set (toast_tuple_target = 4080)', name);
      made := made + 1;
    exception when check_violation then
      raise warning 'keystride: rows of % stay in the default partition', name;
    end;
  end loop;
  return made;
end
$$;
ALTER FUNCTION keystride.ensure_partitions(ahead integer, today timestamp with time zone) OWNER TO app;
CREATE FUNCTION keystride.enter_headcount_line(organization uuid, waits boolean) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '1s'
    AS $$
declare
  added keystride.headcount_change;
begin
  if waits then
    perform pg_advisory_xact_lock(keystride.headcount_line(organization));
  elsif not pg_try_advisory_xact_lock(keystride.headcount_line(organization)) then
    return false;
  end if;
  with gone as (delete from keystride.headcount_change c where c.organization_id = organization returning *)
    select organization, null, sum(n_accounts), sum(n_accounts_generic), sum(n_users_nominative), sum(n_users_generic)
    into added from gone having count(*) > 0;
  if found then
    update keystride.headcount h set n_accounts = h.n_accounts + added.n_accounts,
        n_accounts_generic = h.n_accounts_generic + added.n_accounts_generic,
        n_users_nominative = h.n_users_nominative + added.n_users_nominative,
        n_users_generic = h.n_users_generic + added.n_users_generic
      where h.organization_id = organization;
  end if;
  return true;
end
$$;
ALTER FUNCTION keystride.enter_headcount_line(organization uuid, waits boolean) OWNER TO keystride_system;
CREATE FUNCTION keystride.find_people(organizations uuid[], of_users text[], of_members text[]) RETURNS TABLE(nth integer, found_account keystride.account, found_member keystride.member)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
    AS $$
begin
  for i in 1 .. cardinality(organizations) loop
    perform set_config('keystride.organization_id', organizations[i]::text, true);
    return query
      select i, a, of_account.m from keystride.account a
        left join lateral (
          select m from keystride.member m
          where m.organization_id = a.organization_id and m.account_id = a.id and m.archived_at is null
            and m.member_ref = coalesce(of_members[i], case a.type when 'nominative' then a.user_ref end)
          offset 0) of_account on true
      where a.organization_id = organizations[i] and a.user_ref = of_users[i];
  end loop;
end
$$;
ALTER FUNCTION keystride.find_people(organizations uuid[], of_users text[], of_members text[]) OWNER TO keystride_app;
CREATE FUNCTION keystride.find_profile_link(wanted bytea) RETURNS TABLE(organization_id uuid, id uuid, kind text, aim text, redirect_uri text, user_ref text, member_ref text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select l.organization_id, l.id, l.kind, l.aim, l.redirect_uri, a.user_ref, m.member_ref
  from keystride.profile_link l
  join keystride.member m on m.organization_id = l.organization_id and m.id = l.member_id and m.archived_at is null
  join keystride.account a on a.organization_id = m.organization_id and a.id = m.account_id
  where l.sha256 = wanted and l.expires_at > clock_timestamp() limit 1
$$;
ALTER FUNCTION keystride.find_profile_link(wanted bytea) OWNER TO keystride_system;
CREATE FUNCTION keystride.forget_actions_of(gone uuid) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  delete from keystride.admin_action where organization_id = keystride.current_organization() and account_id = gone
    and not exists (select 1 from keystride.account a
      where a.organization_id = keystride.current_organization() and a.id = gone)
$$;
ALTER FUNCTION keystride.forget_actions_of(gone uuid) OWNER TO keystride_system;
CREATE FUNCTION keystride.forget_exports(now timestamp with time zone) RETURNS boolean
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  delete from keystride.export_archive where expires_at <= now;
  with gone as (
    delete from keystride.export_piece where ctid = any (array(
      select p.ctid from keystride.export_piece p where not exists (
        select 1 from keystride.export_archive a where a.organization_id = p.organization_id and a.id = p.archive_id
          and a.attempts = p.attempt and a.secret is not null)
      limit 100))
    returning 1)
  select count(*) = 100 from gone
$$;
ALTER FUNCTION keystride.forget_exports(now timestamp with time zone) OWNER TO keystride_system;
CREATE FUNCTION keystride.forget_notifications(before timestamp with time zone) RETURNS boolean
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  with gone as (
    delete from keystride.notification where (organization_id, id) in (
      select organization_id, id from keystride.notification where id < keystride.uuid_from(before) limit 2000)
    returning 1)
  select count(*) = 2000 from gone
$$;
ALTER FUNCTION keystride.forget_notifications(before timestamp with time zone) OWNER TO keystride_system;
CREATE FUNCTION keystride.forget_old(today timestamp with time zone, days integer) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  most constant int := 2000;
  kept timestamptz := today - make_interval(days => days);
  n int;
  more boolean := false;
begin
  delete from keystride.authentication where tableoid = 'keystride.authentication_default'::regclass
    and (organization_id, id) in (
      select a.organization_id, a.id from keystride.authentication a
      where a.tableoid = 'keystride.authentication_default'::regclass and a.id < keystride.uuid_from(kept) limit most);
  get diagnostics n = row_count; more := more or n = most;
  delete from keystride.replay_mark where ctid = any (array(
    select ctid from keystride.replay_mark where seen_at < kept limit most));
  get diagnostics n = row_count; more := more or n = most;
  delete from keystride.refused_pattern where ctid = any (array(
    select ctid from keystride.refused_pattern where seen_at < kept limit most));
  get diagnostics n = row_count; more := more or n = most;
  delete from keystride.admin_action where ctid = any (array(
    select ctid from keystride.admin_action where at < kept limit most));
  get diagnostics n = row_count; more := more or n = most;
  delete from keystride.attempt_count where ctid = any (array(
    select ctid from keystride.attempt_count where hour < kept limit most));
  get diagnostics n = row_count; more := more or n = most;
  delete from keystride.attempt_day where ctid = any (array(
    select ctid from keystride.attempt_day where day < kept limit most));
  get diagnostics n = row_count; more := more or n = most;
  delete from keystride.lock_tombstone where ctid = any (array(
    select ctid from keystride.lock_tombstone where kept_until <= today limit most));
  get diagnostics n = row_count; more := more or n = most;
  update keystride.member set invalid_patterns = '{}' where ctid = any (array(
    select ctid from keystride.member where invalid_patterns <> '{}'
      and invalid_patterns[array_upper(invalid_patterns, 1)] < today - interval '1 day' limit most));
  get diagnostics n = row_count; more := more or n = most;
  return more;
end
$$;
ALTER FUNCTION keystride.forget_old(today timestamp with time zone, days integer) OWNER TO keystride_system;
CREATE FUNCTION keystride.forget_requests(before timestamp with time zone) RETURNS boolean
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  with gone as (
    delete from keystride.request_log where (organization_id, id) in (
      select organization_id, id from keystride.request_log where id < keystride.uuid_from(before) limit 5000)
    returning 1)
  select count(*) = 5000 from gone
$$;
ALTER FUNCTION keystride.forget_requests(before timestamp with time zone) OWNER TO keystride_system;
CREATE PROCEDURE keystride.guard(IN guarded regclass)
    LANGUAGE plpgsql
    AS $$
begin
  execute format('alter table %s enable row level security', guarded);
  execute format('alter table %s force row level security', guarded);
  execute format('create policy own_organization on %s to keystride_app
    using (organization_id = keystride.current_organization())
    with check (organization_id = keystride.current_organization())', guarded);
  execute format('create policy every_organization on %s to keystride_system using (true) with check (true)', guarded);
  execute format('grant select, insert, update, delete on %s to keystride_app, keystride_system', guarded);
end
$$;
ALTER PROCEDURE keystride.guard(IN guarded regclass) OWNER TO app;
CREATE FUNCTION keystride.headcount_line(organization uuid) RETURNS bigint
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$ select hashtextextended(organization::text, 7241865325823967) $$;
ALTER FUNCTION keystride.headcount_line(organization uuid) OWNER TO keystride_system;
CREATE FUNCTION keystride.headcount_now(organization uuid) RETURNS TABLE(n_accounts integer, n_accounts_generic integer, n_users_nominative integer, n_users_generic integer)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select (h.n_accounts + c.n_accounts)::int, (h.n_accounts_generic + c.n_accounts_generic)::int,
    (h.n_users_nominative + c.n_users_nominative)::int, (h.n_users_generic + c.n_users_generic)::int
  from keystride.headcount h, (
    select coalesce(sum(n_accounts), 0) as n_accounts, coalesce(sum(n_accounts_generic), 0) as n_accounts_generic,
      coalesce(sum(n_users_nominative), 0) as n_users_nominative, coalesce(sum(n_users_generic), 0) as n_users_generic
    from keystride.headcount_change where organization_id = organization) c
  where h.organization_id = organization
$$;
ALTER FUNCTION keystride.headcount_now(organization uuid) OWNER TO app;
CREATE FUNCTION keystride.keep_locks() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  of_member keystride.member;
  user_ref text;
  mark bytea;
  kept keystride.lock_tombstone;
begin
  if tg_op = 'DELETE' then of_member := old; else of_member := new; end if;
  select a.user_ref into user_ref from keystride.account a
    where a.organization_id = of_member.organization_id and a.id = of_member.account_id;
  if tg_op <> 'DELETE' then
    mark := sha256(convert_to(concat_ws('|', new.organization_id, user_ref, new.member_ref), 'UTF8'));
    delete from keystride.lock_tombstone t
      where t.organization_id = new.organization_id and t.person = mark and t.kept_until > now()
      returning t.* into kept;
    if kept.person is not null and kept.member_id is distinct from new.id then
      new.attempts := keystride.stricter_attempts(new.attempts, kept.attempts);
    end if;
  end if;
  if tg_op <> 'INSERT' then
    mark := sha256(convert_to(concat_ws('|', old.organization_id, user_ref, old.member_ref), 'UTF8'));
    delete from keystride.lock_tombstone t where t.organization_id = old.organization_id and t.kept_until <= now();
    if exists (select 1 from jsonb_each(old.attempts) kind where (kind.value ->> 'off')::boolean
      or (kind.value ->> 'streak')::int > 0 or jsonb_array_length(kind.value -> 'recentFailures') > 0) then
      insert into keystride.lock_tombstone as t (organization_id, person, member_id, attempts, kept_until)
        values (old.organization_id, mark, case tg_op when 'UPDATE' then old.id end, old.attempts, now() + interval '24 hours')
        on conflict (organization_id, person) do update
          set member_id = excluded.member_id, attempts = excluded.attempts, kept_until = excluded.kept_until;
    end if;
  end if;
  if tg_op = 'DELETE' then return old; end if;
  return new;
end
$$;
ALTER FUNCTION keystride.keep_locks() OWNER TO keystride_system;
CREATE FUNCTION keystride.move_row_version() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  new.row_version := old.row_version + 1;
  return new;
end
$$;
ALTER FUNCTION keystride.move_row_version() OWNER TO app;
CREATE FUNCTION keystride.move_row_versions() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  update keystride.member m set row_version = m.row_version
    where m.organization_id = new.organization_id and m.account_id = new.id;
  return null;
end
$$;
ALTER FUNCTION keystride.move_row_versions() OWNER TO app;
CREATE FUNCTION keystride.new_id(at timestamp with time zone) RETURNS uuid
    LANGUAGE sql
    AS $$
  select overlay(replace(gen_random_uuid()::text, '-', '')
    placing lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0') || '7' from 1 for 13)::uuid
$$;
ALTER FUNCTION keystride.new_id(at timestamp with time zone) OWNER TO keystride_system;
CREATE FUNCTION keystride.note_enrollment() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  insert into keystride.notification (organization_id, id, event, kind, at, account_id, member_id, details, read_at)
    select new.organization_id, keystride.new_id(clock_timestamp()),
      'enrolled ' || new.id || ' ' || new.generation || ' ' || new.profile_version, 'enrollment-completed', new.completed_at,
      new.account_id, new.id, jsonb_build_object('accountType', c.type, 'nPatternsRef', new.n_visible + new.n_sensitive),
      clock_timestamp()
    from keystride.account c join keystride.alerting a using (organization_id)
    where c.organization_id = new.organization_id and c.id = new.account_id
      and exists (select 1 from jsonb_each_text(a.rules -> 'enrollment-completed') r where r.value::boolean)
    on conflict do nothing;
  return null;
end
$$;
ALTER FUNCTION keystride.note_enrollment() OWNER TO keystride_system;
CREATE FUNCTION keystride.note_erasure() RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select pg_advisory_xact_lock_shared(hashtextextended('keystride erasure ' || keystride.current_organization(), 0))
$$;
ALTER FUNCTION keystride.note_erasure() OWNER TO keystride_system;
CREATE FUNCTION keystride.note_outage(began timestamp with time zone, ended timestamp with time zone) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  perform pg_advisory_xact_lock(7241865325823977);
  insert into keystride.notification (organization_id, id, event, kind, at, details)
    select a.organization_id, keystride.new_id(ended), 'degraded ' || extract(epoch from began), 'degraded', ended,
      jsonb_build_object('beganAt', floor(extract(epoch from began) * 1000), 'endedAt', floor(extract(epoch from ended) * 1000))
    from keystride.alerting a
    where exists (select 1 from jsonb_each_text(a.rules -> 'degraded') r where r.value::boolean)
      and not exists (select 1 from keystride.notification n where n.organization_id = a.organization_id
        and n.account_id is null and n.kind = 'degraded' and n.at >= began - interval '5 seconds'
        and (n.details ->> 'beganAt')::float8 / 1000 <= extract(epoch from ended) + 5)
    on conflict do nothing;
end
$$;
ALTER FUNCTION keystride.note_outage(began timestamp with time zone, ended timestamp with time zone) OWNER TO keystride_system;
CREATE FUNCTION keystride.note_overage(organization uuid, counted text, n_before integer, quota_before integer, n integer, quota integer) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  insert into keystride.notification (organization_id, id, event, kind, at, details)
    select organization, keystride.new_id(clock_timestamp()), 'quota ' || counted || ' ' || gen_random_uuid(), 'quota-overage',
      clock_timestamp(), jsonb_build_object('of', counted, 'n', n, 'licensed', quota)
    where quota > 0 and n > quota and not (quota_before > 0 and n_before > quota_before)
$$;
ALTER FUNCTION keystride.note_overage(organization uuid, counted text, n_before integer, quota_before integer, n integer, quota integer) OWNER TO keystride_system;
CREATE FUNCTION keystride.note_overage_of_count() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  o keystride.organization;
begin
  select * into o from keystride.organization where organization_id = new.organization_id;
  perform keystride.note_overage(new.organization_id, 'accounts', old.n_accounts, o.quota_accounts, new.n_accounts,
    o.quota_accounts);
  perform keystride.note_overage(new.organization_id, 'shared accounts', old.n_accounts_generic, o.quota_shared_accounts,
    new.n_accounts_generic, o.quota_shared_accounts);
  return null;
end
$$;
ALTER FUNCTION keystride.note_overage_of_count() OWNER TO keystride_system;
CREATE FUNCTION keystride.note_overage_of_quota() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  h keystride.headcount;
begin
  select * into h from keystride.headcount where organization_id = new.organization_id;
  perform keystride.note_overage(new.organization_id, 'accounts', h.n_accounts, old.quota_accounts, h.n_accounts,
    new.quota_accounts);
  perform keystride.note_overage(new.organization_id, 'shared accounts', h.n_accounts_generic, old.quota_shared_accounts,
    h.n_accounts_generic, new.quota_shared_accounts);
  return null;
end
$$;
ALTER FUNCTION keystride.note_overage_of_quota() OWNER TO keystride_system;
CREATE FUNCTION keystride.note_reset() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  insert into keystride.notification (organization_id, id, event, kind, at, account_id, member_id)
    values (new.organization_id, keystride.new_id(clock_timestamp()),
      'reset ' || new.id || ' ' || new.generation || ' ' || new.profile_version, 'profile-reset', clock_timestamp(),
      new.account_id, new.id)
    on conflict do nothing;
  return null;
end
$$;
ALTER FUNCTION keystride.note_reset() OWNER TO keystride_system;
CREATE FUNCTION keystride.note_spraying(organization uuid, until timestamp with time zone) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  window_length constant interval := '10 minutes';
  n_failed int;
  n_members int;
begin
  if exists (select 1 from keystride.notification n where n.organization_id = organization and n.account_id is null
    and n.kind = 'security-code-locked' and n.at > until - window_length and n.at < until + window_length) then return; end if;
  select count(distinct a.member_id) into n_failed from keystride.authentication a
    where a.organization_id = organization and a.events is not null and a.method = 'security_code' and not a.authenticated
      and a.id >= keystride.uuid_from(until - window_length) and a.id < keystride.uuid_from(until + interval '1 millisecond');
  select h.n_users_nominative + h.n_users_generic into n_members from keystride.headcount_now(organization) h;
  if n_failed < 3 or n_failed <= least(50, n_members * 0.05) then return; end if;
  insert into keystride.notification (organization_id, id, event, kind, at, details)
    values (organization, keystride.new_id(until), 'spraying ' || extract(epoch from until), 'security-code-locked', until,
      jsonb_build_object('nFailed', n_failed, 'nMembers', n_members))
    on conflict do nothing;
end
$$;
ALTER FUNCTION keystride.note_spraying(organization uuid, until timestamp with time zone) OWNER TO keystride_system;
CREATE FUNCTION keystride.organizations_with_ended_links() RETURNS TABLE(organization_id uuid)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select o.organization_id from keystride.organization o where exists (
    select 1 from keystride.profile_link l where l.organization_id = o.organization_id and l.expires_at < clock_timestamp())
  limit 100
$$;
ALTER FUNCTION keystride.organizations_with_ended_links() OWNER TO keystride_system;
CREATE FUNCTION keystride.outbox_state(OUT waiting integer, OUT oldest_waiting_s double precision, OUT channels_paused integer) RETURNS record
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select (select count(*) from keystride.alert_delivery where state = 'waiting'),
    (select extract(epoch from clock_timestamp() - min(keystride.time_of(id))) from keystride.alert_delivery where state = 'waiting'),
    (select count(*) from keystride.alert_channel where closed_until > clock_timestamp())
$$;
ALTER FUNCTION keystride.outbox_state(OUT waiting integer, OUT oldest_waiting_s double precision, OUT channels_paused integer) OWNER TO keystride_system;
CREATE FUNCTION keystride.own_marks_like(mark bytea, mark_bands bigint[], owner_id uuid, after timestamp with time zone, most integer) RETURNS TABLE(exact bytea, pattern_id uuid, generation integer, member_id uuid, bands_shared integer)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
    AS $$
  select m.exact, m.pattern_id, m.generation, m.member_id,
      (select count(distinct band)::int from unnest(m.bands) band where band = any (mark_bands))
    from (select * from keystride.replay_mark known where known.bands && mark_bands offset 0) m
    where m.organization_id = keystride.current_organization() and m.seen_at > after
      and keystride.resembles(m.member_id, m.bands, owner_id, mark_bands)
  union
  select m.exact, m.pattern_id, m.generation, m.member_id,
      (select count(distinct band)::int from unnest(m.bands) band where band = any (mark_bands))
    from keystride.replay_mark m
    where m.organization_id = keystride.current_organization() and m.exact = mark and m.seen_at > after
  limit most
$$;
ALTER FUNCTION keystride.own_marks_like(mark bytea, mark_bands bigint[], owner_id uuid, after timestamp with time zone, most integer) OWNER TO keystride_system;
CREATE FUNCTION keystride.queue_deliveries() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
ALTER FUNCTION keystride.queue_deliveries() OWNER TO keystride_system;
CREATE FUNCTION keystride.record_attempts(organization_ids uuid[], account_ids uuid[], member_ids uuid[], attempts_versions bigint[], generations integer[], row_versions bigint[], exacts bytea[], bands bigint[], ids uuid[], created_ms bigint[], user_refs text[], member_refs text[], account_types text[], session_ids text[], methods text[], authenticated boolean[], recommended_actions text[], reasons text[], confidences double precision[], confidences_biometrics double precision[], confidences_context double precision[], policy_ids uuid[], n_patterns_ref integer[], n_patterns_ref_used integer[], pattern_ids uuid[], cleareds text[], sealed text, facts text, tags text, facets text, events text, counters text, habits text, memory_days integer) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    AS $$
declare
  bands_each constant int := cardinality(bands) / greatest(cardinality(ids), 1);
  sealed_of constant text[] := string_to_array(sealed, chr(31), '');
  facts_of constant text[] := string_to_array(facts, chr(31), '');
  tags_of constant text[] := string_to_array(tags, chr(31), '');
  facets_of constant text[] := string_to_array(facets, chr(31), '');
  events_of constant text[] := string_to_array(events, chr(31), '');
  counters_of constant text[] := string_to_array(counters, chr(31), '');
  habits_of constant text[] := string_to_array(habits, chr(31), '');
  outcomes jsonb;
begin
  with attempt as materialized (
    select i, organization_ids[i] as organization_id, account_ids[i] as account_id, member_ids[i] as member_id,
      exacts[i] as exact, bands[bands_each * (i - 1) + 1 : bands_each * i] as bands,
      to_timestamp(created_ms[i] / 1000::float8) as at
    from generate_series(1, cardinality(ids)) i),
  held as materialized (
    select a.*, m.attempts_version, m.generation, m.row_version from attempt a
    join keystride.member m on m.organization_id = a.organization_id and m.account_id = a.account_id and m.id = a.member_id
    order by m.organization_id, m.id for no key update of m),
  judged as materialized (
    select h.*, case
        when h.attempts_version <> attempts_versions[h.i] or h.generation <> generations[h.i]
          or h.row_version <> coalesce(row_versions[h.i], h.row_version)
          or array_position(member_ids, h.member_id) < h.i then 'conflict'
        when h.exact is not null and exists (
          select from (select * from keystride.replay_mark m
            where m.bands && h.bands offset 0) k
          where k.organization_id = h.organization_id and k.seen_at > h.at - make_interval(days => memory_days)
            and keystride.resembles(k.member_id, k.bands, h.member_id, h.bands)
            and (cleareds[h.i] is null or position(encode(k.exact, 'hex') in cleareds[h.i]) = 0))
          then 'replay'
        else 'recorded' end as so_far
    from held h),
  claimed as (
    insert into keystride.replay_mark as m (organization_id, exact, bands, member_id, seen_at, pattern_id, generation)
      select j.organization_id, j.exact, j.bands, j.member_id, j.at, pattern_ids[j.i], generations[j.i] from judged j
      where j.so_far = 'recorded' and j.exact is not null order by j.organization_id, j.exact
      on conflict (organization_id, exact) do update set bands = excluded.bands, member_id = excluded.member_id,
        seen_at = excluded.seen_at, pattern_id = excluded.pattern_id, generation = excluded.generation where m.seen_at <= excluded.seen_at - make_interval(days => memory_days)
      returning m.organization_id, m.exact),
  told as materialized (
    select j.i, j.organization_id, j.account_id, j.member_id, j.at, case when j.so_far = 'recorded' and j.exact is not null
        and not exists (select from claimed c where c.organization_id = j.organization_id and c.exact = j.exact)
      then 'replay' else j.so_far end as outcome
    from judged j),
  moved as (
    update keystride.member m set attempts = counters_of[t.i]::jsonb, attempts_version = m.attempts_version + 1,
        row_version = m.row_version + 1, habits = coalesce(habits_of[t.i], m.habits),
        last_success_at = case when authenticated[t.i] then t.at else m.last_success_at end,
        typed_at = case when authenticated[t.i] and methods[t.i] = 'biometric' then t.at else m.typed_at end,
        code_used = m.code_used or (authenticated[t.i] and methods[t.i] = 'security_code' and m.code_temporary)
      from told t where t.outcome = 'recorded'
        and m.organization_id = t.organization_id and m.account_id = t.account_id and m.id = t.member_id),
  written as (
    insert into keystride.authentication (organization_id, id, created_at, account_id, member_id, user_ref, member_ref,
        account_type, session_id, method, authenticated, recommended_action, reason, confidence, confidence_biometrics,
        confidence_context, policy_id, n_patterns_ref, n_patterns_ref_used, pattern_id, sealed, facts, tags, facets, events)
      select t.organization_id, ids[t.i], t.at, t.account_id, t.member_id, user_refs[t.i], member_refs[t.i],
        account_types[t.i], session_ids[t.i], methods[t.i], authenticated[t.i], recommended_actions[t.i], reasons[t.i],
        confidences[t.i], confidences_biometrics[t.i], confidences_context[t.i], policy_ids[t.i], n_patterns_ref[t.i],
        n_patterns_ref_used[t.i], pattern_ids[t.i], decode(sealed_of[t.i], 'base64'), facts_of[t.i], tags_of[t.i]::jsonb,
        facets_of[t.i]::jsonb, events_of[t.i]::jsonb
      from told t where t.outcome = 'recorded')
  select jsonb_object_agg(t.i, t.outcome) into outcomes from told t;
  return coalesce(outcomes, '{}');
end
$$;
ALTER FUNCTION keystride.record_attempts(organization_ids uuid[], account_ids uuid[], member_ids uuid[], attempts_versions bigint[], generations integer[], row_versions bigint[], exacts bytea[], bands bigint[], ids uuid[], created_ms bigint[], user_refs text[], member_refs text[], account_types text[], session_ids text[], methods text[], authenticated boolean[], recommended_actions text[], reasons text[], confidences double precision[], confidences_biometrics double precision[], confidences_context double precision[], policy_ids uuid[], n_patterns_ref integer[], n_patterns_ref_used integer[], pattern_ids uuid[], cleareds text[], sealed text, facts text, tags text, facets text, events text, counters text, habits text, memory_days integer) OWNER TO keystride_system;
CREATE FUNCTION keystride.refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  raise exception 'keystride: % is append-only', tg_table_name using errcode = 'insufficient_privilege';
end
$$;
ALTER FUNCTION keystride.refuse_change() OWNER TO app;
CREATE FUNCTION keystride.refuse_deletion() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  if exists (select from keystride.organization o where o.organization_id = old.organization_id) then
    raise exception 'keystride: % is append-only', tg_table_name using errcode = 'insufficient_privilege';
  end if;
  return old;
end
$$;
ALTER FUNCTION keystride.refuse_deletion() OWNER TO keystride_system;
CREATE FUNCTION keystride.remember_refused(owner_id uuid, mark bytea, mark_bands bigint[], at timestamp with time zone, pattern uuid, pattern_generation integer, sample bytea, most integer, memory_days integer) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  own constant uuid := keystride.current_organization();
  since constant uuid := keystride.uuid_from(at - interval '24 hours');
begin
  perform from keystride.member m where m.organization_id = own and m.id = owner_id and m.archived_at is null
    and (select count(*) from keystride.refused_pattern r
      where r.organization_id = own and r.member_id = owner_id and r.id >= since) < most
    for no key update;
  if not found then return false; end if;
  if (select count(*) from keystride.refused_pattern r
    where r.organization_id = own and r.member_id = owner_id and r.id >= since) >= most then return false; end if;
  insert into keystride.replay_mark as m (organization_id, exact, bands, member_id, seen_at, pattern_id, generation)
    values (own, mark, mark_bands, owner_id, at, pattern, pattern_generation)
    on conflict (organization_id, exact) do update set bands = excluded.bands, member_id = excluded.member_id,
      seen_at = excluded.seen_at, pattern_id = excluded.pattern_id, generation = excluded.generation
      where m.seen_at <= at - make_interval(days => memory_days);
  if not found then return false; end if;
  insert into keystride.refused_pattern (organization_id, member_id, id, generation, sealed, seen_at)
    values (own, owner_id, pattern, pattern_generation, sample, at);
  update keystride.member set attempts_version = attempts_version + 1 where organization_id = own and id = owner_id;
  return true;
end
$$;
ALTER FUNCTION keystride.remember_refused(owner_id uuid, mark bytea, mark_bands bigint[], at timestamp with time zone, pattern uuid, pattern_generation integer, sample bytea, most integer, memory_days integer) OWNER TO keystride_system;
CREATE FUNCTION keystride.resembles(known_member uuid, known_bands bigint[], owner_id uuid, mark_bands bigint[]) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select count(distinct band) >= case when known_member = owner_id then 1 else 2 end
    from unnest(known_bands) band where band = any (mark_bands)
$$;
ALTER FUNCTION keystride.resembles(known_member uuid, known_bands bigint[], owner_id uuid, mark_bands bigint[]) OWNER TO keystride_system;
CREATE FUNCTION keystride.resolve_api_key(wanted bytea) RETURNS TABLE(organization_id uuid, id uuid, scopes jsonb, key_rate integer, key_burst integer)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select k.organization_id, k.id, to_jsonb(k.scopes), o.key_rate, o.key_burst
  from keystride.api_key k join keystride.organization o using (organization_id)
  where k.sha256 = wanted and k.revoked_at is null and (k.expires_at is null or k.expires_at > now()) limit 1
$$;
ALTER FUNCTION keystride.resolve_api_key(wanted bytea) OWNER TO keystride_system;
CREATE FUNCTION keystride.slide_totals(now timestamp with time zone DEFAULT clock_timestamp()) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  closed timestamptz := date_trunc('hour', now - interval '10 minutes', 'UTC');
  give_up timestamptz := clock_timestamp() + interval '500 milliseconds';
  span record;
  hour timestamptz;
  leaving timestamptz;
begin
  insert into keystride.user_totaled (organization_id, days, until)
    select o.organization_id, d.days, '-infinity' from keystride.organization o, unnest(keystride.totaled_windows()) d (days)
    on conflict do nothing;
  for span in
    select t.organization_id, t.days, t.until from keystride.user_totaled t where t.until < closed
      order by t.organization_id, t.days for update skip locked
  loop
    hour := span.until;
    if hour < closed - interval '3 days' then
      if clock_timestamp() > give_up then return true; end if;
      insert into keystride.user_total
        select a.organization_id, span.days, a.id, a.user_ref, coalesce(f.n, 0), coalesce(f.n_authenticated, 0),
          coalesce(f.n_challenged, 0), coalesce(f.n_blocked, 0), coalesce(f.sum_confidence, 0), coalesce(f.sum_biometrics, 0),
          coalesce(f.n_biometrics, 0), f.last_at
        from keystride.account a
          left join keystride.user_figures(span.organization_id, array[closed - make_interval(days => span.days)], array[closed],
            array[1]) f on f.account_id = a.id
        where a.organization_id = span.organization_id
        for key share of a
      on conflict (organization_id, account_id, days) do update set n = excluded.n, n_authenticated = excluded.n_authenticated,
        n_challenged = excluded.n_challenged, n_blocked = excluded.n_blocked, sum_confidence = excluded.sum_confidence,
        sum_biometrics = excluded.sum_biometrics, n_biometrics = excluded.n_biometrics, last_at = excluded.last_at;
      hour := closed;
    end if;
    while hour < closed loop
      if clock_timestamp() > give_up then return true; end if;
      leaving := hour - make_interval(days => span.days);
      update keystride.user_total t set n = t.n + f.n, n_authenticated = t.n_authenticated + f.n_authenticated,
          n_challenged = t.n_challenged + f.n_challenged, n_blocked = t.n_blocked + f.n_blocked,
          sum_confidence = t.sum_confidence + f.sum_confidence, sum_biometrics = t.sum_biometrics + f.sum_biometrics,
          n_biometrics = t.n_biometrics + f.n_biometrics,
          last_at = case when t.n + f.n > 0 then greatest(t.last_at, f.last_at) end
        from keystride.user_figures(span.organization_id, array[hour, leaving],
          array[hour + interval '1 hour', leaving + interval '1 hour'], array[1, -1]) f
        where t.organization_id = span.organization_id and t.days = span.days and t.account_id = f.account_id;
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
ALTER FUNCTION keystride.slide_totals(now timestamp with time zone) OWNER TO keystride_system;
CREATE FUNCTION keystride.stricter_attempts(one jsonb, other jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select jsonb_object_agg(kind, jsonb_build_object(
    'streak', greatest((a ->> 'streak')::int, (b ->> 'streak')::int),
    'closedUntil', greatest((a ->> 'closedUntil')::numeric, (b ->> 'closedUntil')::numeric),
    'off', (a ->> 'off')::boolean or (b ->> 'off')::boolean,
    'recentFailures', (
      select coalesce(jsonb_agg(latest.at order by latest.at), '[]') from (
        (select at::numeric as at from jsonb_array_elements_text(a -> 'recentFailures') at
          except all select at::numeric from jsonb_array_elements_text(b -> 'recentFailures') at)
        union all select at::numeric from jsonb_array_elements_text(b -> 'recentFailures') at
        order by 1 desc limit 20) latest)))
  from (select kind, counters as a, other -> kind as b from jsonb_each(one) e (kind, counters)) both_of_them
$$;
ALTER FUNCTION keystride.stricter_attempts(one jsonb, other jsonb) OWNER TO keystride_system;
CREATE FUNCTION keystride.sweep_sessions(most integer) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off'
    AS $$
declare
  n int;
  more boolean := false;
begin
  delete from keystride.session where ctid = any (array(
    select ctid from keystride.session where expires_at < statement_timestamp()
    order by expires_at limit most for update skip locked));
  get diagnostics n = row_count;
  more := n >= most;
  delete from keystride.sso_artifact where ctid = any (array(
    select ctid from keystride.sso_artifact where expires_at < statement_timestamp()
    order by expires_at limit most for update skip locked));
  get diagnostics n = row_count;
  more := more or n >= most;
  delete from keystride.one_time_password where ctid = any (array(
    select ctid from keystride.one_time_password where expires_at < statement_timestamp() - interval '1 day'
    order by expires_at limit most for update skip locked));
  get diagnostics n = row_count;
  return more or n >= most;
end
$$;
ALTER FUNCTION keystride.sweep_sessions(most integer) OWNER TO keystride_system;
CREATE FUNCTION keystride.tested_patterns(organizations uuid[], of_users text[], of_members uuid[], since_ms bigint[], limits integer[], knowns text[]) RETURNS TABLE(nth integer, pattern_id uuid, tested_at timestamp with time zone, succeeded boolean, sample bytea, refused_generation integer)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
    AS $$
declare
  since uuid;
  known uuid[];
begin
  for i in 1 .. cardinality(organizations) loop
    perform set_config('keystride.organization_id', organizations[i]::text, true);
    since := keystride.uuid_from(to_timestamp(since_ms[i] / 1000::float8));
    known := string_to_array(knowns[i], ',')::uuid[];
    return query
      (select i, a.pattern_id, a.created_at, a.authenticated, a.sealed, null::int from keystride.authentication a
        where a.organization_id = organizations[i] and a.user_ref = of_users[i] and a.id >= since
          and a.member_id = of_members[i] and a.pattern_id is not null and a.sealed is not null
          and a.pattern_id <> all (known)
        order by a.id desc limit limits[i])
      union all
      (select i, r.id, r.seen_at, false, r.sealed, r.generation from keystride.refused_pattern r
        where r.organization_id = organizations[i] and r.member_id = of_members[i] and r.id >= since and r.id <> all (known)
        order by r.id desc limit limits[i]);
  end loop;
end
$$;
ALTER FUNCTION keystride.tested_patterns(organizations uuid[], of_users text[], of_members uuid[], since_ms bigint[], limits integer[], knowns text[]) OWNER TO keystride_app;
CREATE FUNCTION keystride.time_of(id uuid) RETURNS timestamp with time zone
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ select to_timestamp(('x' || replace(left(id::text, 13), '-', ''))::bit(48)::bigint / 1000.0) $$;
ALTER FUNCTION keystride.time_of(id uuid) OWNER TO app;
CREATE FUNCTION keystride.total_account() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  insert into keystride.user_total
    select new.organization_id, days, new.id, new.user_ref, 0, 0, 0, 0, 0, 0, 0, null from unnest(keystride.totaled_windows()) days;
  return null;
end
$$;
ALTER FUNCTION keystride.total_account() OWNER TO keystride_system;
CREATE FUNCTION keystride.totaled_windows() RETURNS integer[]
    LANGUAGE sql IMMUTABLE
    RETURN ARRAY[7, 30, 90];
ALTER FUNCTION keystride.totaled_windows() OWNER TO app;
CREATE FUNCTION keystride.uncount_attempts(person text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  organization uuid := keystride.current_organization();
  naming constant text[] := array['application', 'place', 'asn'];
  counted record;
  gone keystride.attempt_count[];
begin
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
ALTER FUNCTION keystride.uncount_attempts(person text) OWNER TO keystride_system;
CREATE TABLE keystride.usage_event (
    organization_id uuid NOT NULL,
    n bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    kind text NOT NULL,
    n_accounts integer NOT NULL,
    n_accounts_generic integer NOT NULL,
    n_users_nominative integer NOT NULL,
    n_users_generic integer NOT NULL,
    over_quota boolean NOT NULL,
    hash bytea NOT NULL,
    CONSTRAINT usage_event_kind_check CHECK ((kind = ANY (ARRAY['enroll'::text, 'delete'::text, 'type-change'::text, 'checkpoint'::text])))
);
ALTER TABLE ONLY keystride.usage_event FORCE ROW LEVEL SECURITY;
ALTER TABLE keystride.usage_event OWNER TO app;
CREATE FUNCTION keystride.usage_hash(e keystride.usage_event, previous bytea) RETURNS bytea
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select sha256(previous || convert_to(concat_ws('|', e.organization_id, e.n, extract(epoch from e.at), e.kind, e.n_accounts,
    e.n_accounts_generic, e.n_users_nominative, e.n_users_generic, e.over_quota), 'UTF8'))
$$;
ALTER FUNCTION keystride.usage_hash(e keystride.usage_event, previous bytea) OWNER TO keystride_system;
CREATE FUNCTION keystride.user_figures(organization uuid, since timestamp with time zone[], before timestamp with time zone[], signs integer[]) RETURNS TABLE(account_id uuid, n bigint, n_authenticated bigint, n_challenged bigint, n_blocked bigint, sum_confidence bigint, sum_biometrics bigint, n_biometrics bigint, last_at timestamp with time zone)
    LANGUAGE sql STABLE
    AS $$
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
ALTER FUNCTION keystride.user_figures(organization uuid, since timestamp with time zone[], before timestamp with time zone[], signs integer[]) OWNER TO app;
CREATE FUNCTION keystride.uuid_from(at timestamp with time zone) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  select (lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;
ALTER FUNCTION keystride.uuid_from(at timestamp with time zone) OWNER TO app;
CREATE TABLE keystride.admin_action (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    at timestamp with time zone NOT NULL,
    account_id uuid NOT NULL,
    user_ref text NOT NULL,
    member_ref text NOT NULL,
    action text NOT NULL,
    api_key_id uuid NOT NULL,
    request_id uuid NOT NULL,
    done_of uuid
);
ALTER TABLE ONLY keystride.admin_action FORCE ROW LEVEL SECURITY;
ALTER TABLE keystride.admin_action OWNER TO app;
CREATE TABLE keystride.alert_attempt (
    organization_id uuid NOT NULL,
    delivery_id uuid NOT NULL,
    at timestamp with time zone NOT NULL,
    outcome text NOT NULL,
    duration_ms double precision NOT NULL
);
ALTER TABLE ONLY keystride.alert_attempt FORCE ROW LEVEL SECURITY;
ALTER TABLE keystride.alert_attempt OWNER TO app;
CREATE TABLE keystride.alert_channel (
    organization_id uuid NOT NULL,
    channel text NOT NULL,
    settings jsonb NOT NULL,
    secret bytea,
    tested_at timestamp with time zone,
    failures integer DEFAULT 0 NOT NULL,
    closed_until timestamp with time zone,
    CONSTRAINT alert_channel_channel_check CHECK ((channel = ANY (ARRAY['email'::text, 'sms'::text, 'syslog'::text, 'webhook'::text])))
);
ALTER TABLE ONLY keystride.alert_channel FORCE ROW LEVEL SECURITY;
ALTER TABLE keystride.alert_channel OWNER TO app;
CREATE TABLE keystride.alert_delivery (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    notification_id uuid NOT NULL,
    channel text NOT NULL,
    state text DEFAULT 'waiting'::text NOT NULL,
    refusals integer DEFAULT 0 NOT NULL,
    due_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT alert_delivery_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'delivered'::text, 'failed'::text, 'dropped'::text])))
);
ALTER TABLE ONLY keystride.alert_delivery FORCE ROW LEVEL SECURITY;
ALTER TABLE keystride.alert_delivery OWNER TO app;
CREATE TABLE keystride.alerting (
    organization_id uuid NOT NULL,
    rules jsonb DEFAULT '{}'::jsonb NOT NULL,
    read_all_at timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    derived_until timestamp with time zone NOT NULL
);
ALTER TABLE ONLY keystride.alerting FORCE ROW LEVEL SECURITY;
ALTER TABLE keystride.alerting OWNER TO app;
CREATE TABLE keystride.api_key (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    label text NOT NULL,
    scopes text[] NOT NULL,
    sha256 bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone,
    expires_at timestamp with time zone,
    CONSTRAINT api_key_sha256_check CHECK ((octet_length(sha256) = 32))
);
ALTER TABLE ONLY keystride.api_key FORCE ROW LEVEL SECURITY;
ALTER TABLE keystride.api_key OWNER TO app;
CREATE TABLE keystride.api_usage (
    organization_id uuid NOT NULL,
    day date NOT NULL,
    class text NOT NULL,
    n bigint NOT NULL
);
ALTER TABLE ONLY keystride.api_usage FORCE ROW LEVEL SECURITY;
ALTER TABLE keystride.api_usage OWNER TO app;
CREATE TABLE keystride.attempt_count (
    organization_id uuid NOT NULL,
    facet text NOT NULL,
    hour timestamp with time zone NOT NULL,
    value text NOT NULL,
    n integer NOT NULL,
    n_authenticated integer NOT NULL,
    n_challenged integer NOT NULL,
    n_blocked integer NOT NULL,
    sum_confidence double precision NOT NULL,
    sum_biometrics double precision NOT NULL,
    n_biometrics integer NOT NULL,
    sum_context double precision NOT NULL,
    n_context integer NOT NULL
);
ALTER TABLE ONLY keystride.attempt_count FORCE ROW LEVEL SECURITY;
ALTER TABLE keystride.attempt_count OWNER TO app;
CREATE TABLE keystride.attempt_counted (
    organization_id uuid NOT NULL,
    until timestamp with time zone NOT NULL,
    days_until timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    recent_until timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL
);
ALTER TABLE ONLY keystride.attempt_counted FORCE ROW LEVEL SECURITY;
ALTER TABLE keystride.attempt_counted OWNER TO app;
CREATE TABLE keystride.attempt_day (
    organization_id uuid NOT NULL,
    facet text NOT NULL,
    day timestamp with time zone NOT NULL,
    value text NOT NULL,
    n integer NOT NULL,
    n_authenticated integer NOT NULL,
    n_challenged integer NOT NULL,
    n_blocked integer NOT NULL,
    sum_confidence double precision NOT NULL,
    sum_biometrics double precision NOT NULL,
    n_biometrics integer NOT NULL,
    sum_context double precision NOT NULL,
    n_context integer NOT NULL
);
ALTER TABLE ONLY keystride.attempt_day FORCE ROW LEVEL SECURITY;
ALTER TABLE keystride.attempt_day OWNER TO app;
CREATE TABLE keystride.attempt_recent (
    organization_id uuid NOT NULL,
    facet text NOT NULL,
    hour timestamp with time zone NOT NULL,
    value text NOT NULL,
    n integer NOT NULL,
    n_authenticated integer NOT NULL,
    n_challenged integer NOT NULL,
    n_blocked integer NOT NULL,
    sum_confidence double precision NOT NULL,
    sum_biometrics double precision NOT NULL,
    n_biometrics integer NOT NULL,
    sum_context double precision NOT NULL,
    n_context integer NOT NULL
)
WITH (fillfactor='50');
ALTER TABLE ONLY keystride.attempt_recent FORCE ROW LEVEL SECURITY;
ALTER TABLE keystride.attempt_recent OWNER TO app;
CREATE TABLE keystride.authentication (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    account_id uuid NOT NULL,
    member_id uuid NOT NULL,
    user_ref text NOT NULL,
    member_ref text NOT NULL,
    account_type text NOT NULL,
    session_id text NOT NULL,
    method text NOT NULL,
    authenticated boolean NOT NULL,
    recommended_action text NOT NULL,
    reason text NOT NULL,
    confidence double precision NOT NULL,
    confidence_biometrics double precision NOT NULL,
    confidence_context double precision,
    policy_id uuid NOT NULL,
    n_patterns_ref integer NOT NULL,
    n_patterns_ref_used integer NOT NULL,
    pattern_id uuid,
    sealed bytea,
    facts text,
    facets jsonb,
    events jsonb,
    tags jsonb
)
PARTITION BY RANGE (id);
ALTER TABLE ONLY keystride.authentication ALTER COLUMN sealed SET STORAGE EXTERNAL;
ALTER TABLE ONLY keystride.authentication FORCE ROW LEVEL SECURITY;
ALTER TABLE keystride.authentication OWNER TO app;
CREATE TABLE keystride.authentication_default (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    account_id uuid NOT NULL,
    member_id uuid NOT NULL,
    user_ref text NOT NULL,
    member_ref text NOT NULL,
    account_type text NOT NULL,
    session_id text NOT NULL,
    method text NOT NULL,
    authenticated boolean NOT NULL,
    recommended_action text NOT NULL,
    reason text NOT NULL,
    confidence double precision NOT NULL,
    confidence_biometrics double precision NOT NULL,
    confidence_context double precision,
    policy_id uuid NOT NULL,
    n_patterns_ref integer NOT NULL,
    n_patterns_ref_used integer NOT NULL,
    pattern_id uuid,
    sealed bytea,
    facts text,
    facets jsonb,
    events jsonb,
    tags jsonb
)
WITH (toast_tuple_target='4080');
ALTER TABLE ONLY keystride.authentication_default ALTER COLUMN sealed SET STORAGE EXTERNAL;
ALTER TABLE ONLY keystride.authentication_default FORCE ROW LEVEL SECURITY;
ALTER TABLE keystride.authentication_default OWNER TO app;
CREATE TABLE keystride.erasure (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    at timestamp with time zone NOT NULL,
    of text NOT NULL,
    person bytea NOT NULL,
    CONSTRAINT erasure_of_check CHECK ((of = ANY (ARRAY['account'::text, 'member'::text])))
);
ALTER TABLE ONLY keystride.erasure FORCE ROW LEVEL SECURITY;
ALTER TABLE keystride.erasure OWNER TO app;
CREATE TABLE keystride.export_archive (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    kind text NOT NULL,
    date_from timestamp with time zone NOT NULL,
    date_to timestamp with time zone NOT NULL,
    status text DEFAULT 'queued'::text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    size bigint,
    attempts integer DEFAULT 0 NOT NULL,
    secret bytea,
    claimed_until timestamp with time zone,
    CONSTRAINT export_archive_check CHECK (((status <> 'ready'::text) OR ((secret IS NOT NULL) AND (size IS NOT NULL)))),
    CONSTRAINT export_archive_kind_check CHECK ((kind = ANY (ARRAY['authentications'::text, 'logs'::text, 'usage'::text]))),
    CONSTRAINT export_archive_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'ready'::text, 'failed'::text])))
);
ALTER TABLE ONLY keystride.export_archive FORCE ROW LEVEL SECURITY;
ALTER TABLE keystride.export_archive OWNER TO app;
CREATE TABLE keystride.export_piece (
    organization_id uuid NOT NULL,
    archive_id uuid NOT NULL,
    attempt integer NOT NULL,
    n integer NOT NULL,
    sealed bytea NOT NULL
);
ALTER TABLE ONLY keystride.export_piece ALTER COLUMN sealed SET STORAGE EXTERNAL;
ALTER TABLE ONLY keystride.export_piece FORCE ROW LEVEL SECURITY;
ALTER TABLE keystride.export_piece OWNER TO app;
CREATE TABLE keystride.headcount (
    organization_id uuid NOT NULL,
    n_accounts integer DEFAULT 0 NOT NULL,
    n_accounts_generic integer DEFAULT 0 NOT NULL,
    n_users_nominative integer DEFAULT 0 NOT NULL,
    n_users_generic integer DEFAULT 0 NOT NULL,
    last_event bigint DEFAULT 0 NOT NULL,
    last_hash bytea DEFAULT '\x'::bytea NOT NULL
);
ALTER TABLE ONLY keystride.headcount FORCE ROW LEVEL SECURITY;
ALTER TABLE keystride.headcount OWNER TO app;
CREATE TABLE keystride.headcount_change (
    organization_id uuid NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    n_accounts integer DEFAULT 0 NOT NULL,
    n_accounts_generic integer DEFAULT 0 NOT NULL,
    n_users_nominative integer DEFAULT 0 NOT NULL,
    n_users_generic integer DEFAULT 0 NOT NULL
);
ALTER TABLE ONLY keystride.headcount_change FORCE ROW LEVEL SECURITY;
ALTER TABLE keystride.headcount_change OWNER TO app;
CREATE TABLE keystride.lock_tombstone (
    organization_id uuid NOT NULL,
    person bytea NOT NULL,
    attempts jsonb NOT NULL,
    kept_until timestamp with time zone NOT NULL,
    member_id uuid,
    CONSTRAINT lock_tombstone_person_check CHECK ((octet_length(person) = 32))
);
ALTER TABLE ONLY keystride.lock_tombstone FORCE ROW LEVEL SECURITY;
ALTER TABLE keystride.lock_tombstone OWNER TO app;
CREATE TABLE keystride.notification (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    event text NOT NULL,
    kind text NOT NULL,
    at timestamp with time zone NOT NULL,
    account_id uuid,
    member_id uuid,
    authentication_id uuid,
    details jsonb DEFAULT '{}'::jsonb NOT NULL,
    noted_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    read_at timestamp with time zone
);
ALTER TABLE ONLY keystride.notification FORCE ROW LEVEL SECURITY;
ALTER TABLE keystride.notification OWNER TO app;
CREATE TABLE keystride.one_time_password (
    organization_id uuid NOT NULL,
    user_ref text NOT NULL,
    hash bytea,
    tries_left integer NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    sent_at timestamp with time zone[] NOT NULL,
    wrong integer DEFAULT 0 NOT NULL,
    wrong_since timestamp with time zone NOT NULL
);
ALTER TABLE ONLY keystride.one_time_password FORCE ROW LEVEL SECURITY;
ALTER TABLE keystride.one_time_password OWNER TO app;
CREATE TABLE keystride.organization (
    organization_id uuid NOT NULL,
    name text NOT NULL,
    default_language text DEFAULT 'en'::text NOT NULL,
    language_mode text DEFAULT 'auto'::text NOT NULL,
    wrapped_key bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    quota_mode text DEFAULT 'soft'::text NOT NULL,
    quota_accounts integer DEFAULT 0 NOT NULL,
    quota_shared_accounts integer DEFAULT 0 NOT NULL,
    quota_members integer DEFAULT 0 NOT NULL,
    words_version integer DEFAULT 0 NOT NULL,
    key_id text GENERATED ALWAYS AS (encode(SUBSTRING(wrapped_key FROM 1 FOR 8), 'hex'::text)) STORED NOT NULL,
    redirect_origins jsonb DEFAULT '[]'::jsonb NOT NULL,
    key_rate integer,
    key_burst integer,
    CONSTRAINT organization_key_burst_check CHECK (((key_burst >= 1) AND (key_burst <= 1000000))),
    CONSTRAINT organization_key_rate CHECK (((key_rate IS NULL) = (key_burst IS NULL))),
    CONSTRAINT organization_key_rate_check CHECK (((key_rate >= 0) AND (key_rate <= 1000000))),
    CONSTRAINT organization_language_mode_check CHECK ((language_mode = ANY (ARRAY['auto'::text, 'forced'::text]))),
    CONSTRAINT organization_quota_accounts_check CHECK ((quota_accounts >= 0)),
    CONSTRAINT organization_quota_members_check CHECK ((quota_members >= 0)),
    CONSTRAINT organization_quota_mode_check CHECK ((quota_mode = ANY (ARRAY['soft'::text, 'strict'::text]))),
    CONSTRAINT organization_quota_shared_accounts_check CHECK ((quota_shared_accounts >= 0))
);
ALTER TABLE ONLY keystride.organization FORCE ROW LEVEL SECURITY;
ALTER TABLE keystride.organization OWNER TO app;
CREATE TABLE keystride.policy (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    is_default boolean DEFAULT false NOT NULL,
    policy jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    groups jsonb DEFAULT '[]'::jsonb NOT NULL,
    is_shadow boolean DEFAULT false NOT NULL,
    updated_at timestamp with time zone,
    archived_at timestamp with time zone,
    CONSTRAINT policy_default_lives CHECK (((NOT is_default) OR (archived_at IS NULL))),
    CONSTRAINT policy_shadow_lives CHECK (((NOT is_shadow) OR (archived_at IS NULL)))
);
ALTER TABLE ONLY keystride.policy FORCE ROW LEVEL SECURITY;
ALTER TABLE keystride.policy OWNER TO app;
CREATE TABLE keystride.profile_link (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    member_id uuid NOT NULL,
    kind text NOT NULL,
    aim text NOT NULL,
    sha256 bytea NOT NULL,
    redirect_uri text,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT profile_link_aim_check CHECK ((aim = ANY (ARRAY['target'::text, 'full'::text]))),
    CONSTRAINT profile_link_kind_check CHECK ((kind = ANY (ARRAY['create-profile'::text, 'reset-profile'::text, 'complete-profile'::text]))),
    CONSTRAINT profile_link_sha256_check CHECK ((octet_length(sha256) = 32))
);
ALTER TABLE ONLY keystride.profile_link FORCE ROW LEVEL SECURITY;
ALTER TABLE keystride.profile_link OWNER TO app;
CREATE TABLE keystride.reference_pattern (
    organization_id uuid NOT NULL,
    member_id uuid NOT NULL,
    id uuid NOT NULL,
    generation integer NOT NULL,
    mode text NOT NULL,
    sealed bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    kind text DEFAULT 'enrolled'::text NOT NULL,
    CONSTRAINT reference_pattern_kind_check CHECK ((kind = ANY (ARRAY['enrolled'::text, 'adaptive'::text]))),
    CONSTRAINT reference_pattern_mode_check CHECK ((mode = ANY (ARRAY['visible'::text, 'sensitive'::text])))
);
ALTER TABLE ONLY keystride.reference_pattern ALTER COLUMN member_id SET (n_distinct=-0.1);
ALTER TABLE ONLY keystride.reference_pattern ALTER COLUMN sealed SET STORAGE EXTERNAL;
ALTER TABLE ONLY keystride.reference_pattern FORCE ROW LEVEL SECURITY;
ALTER TABLE keystride.reference_pattern OWNER TO app;
CREATE TABLE keystride.refused_pattern (
    organization_id uuid NOT NULL,
    member_id uuid NOT NULL,
    id uuid NOT NULL,
    generation integer NOT NULL,
    sealed bytea NOT NULL,
    seen_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY keystride.refused_pattern ALTER COLUMN member_id SET (n_distinct=-0.1);
ALTER TABLE ONLY keystride.refused_pattern ALTER COLUMN sealed SET STORAGE EXTERNAL;
ALTER TABLE ONLY keystride.refused_pattern FORCE ROW LEVEL SECURITY;
ALTER TABLE keystride.refused_pattern OWNER TO app;
CREATE TABLE keystride.replay_mark (
    organization_id uuid NOT NULL,
    exact bytea NOT NULL,
    bands bigint[] NOT NULL,
    member_id uuid NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    pattern_id uuid NOT NULL,
    generation integer NOT NULL,
    CONSTRAINT replay_mark_exact_check CHECK ((octet_length(exact) = 16))
);
ALTER TABLE ONLY keystride.replay_mark FORCE ROW LEVEL SECURITY;
ALTER TABLE keystride.replay_mark OWNER TO app;
CREATE TABLE keystride.request_log (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    api text NOT NULL,
    method text NOT NULL,
    route text NOT NULL,
    status integer NOT NULL,
    duration_ms double precision NOT NULL
);
ALTER TABLE ONLY keystride.request_log FORCE ROW LEVEL SECURITY;
ALTER TABLE keystride.request_log OWNER TO app;
CREATE TABLE keystride.session (
    organization_id uuid NOT NULL,
    user_ref text NOT NULL,
    sha256 bytea NOT NULL,
    member_ref text,
    used_biometric integer DEFAULT 0 NOT NULL,
    used_security_code integer DEFAULT 0 NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    typing_failed boolean DEFAULT false NOT NULL,
    reported_action uuid,
    implicit boolean DEFAULT false NOT NULL,
    member_version bigint,
    CONSTRAINT session_implicit_member CHECK (((NOT implicit) OR (member_ref IS NOT NULL))),
    CONSTRAINT session_sha256_check CHECK ((octet_length(sha256) = 32))
);
ALTER TABLE ONLY keystride.session FORCE ROW LEVEL SECURITY;
ALTER TABLE keystride.session OWNER TO app;
CREATE TABLE keystride.sso_artifact (
    organization_id uuid NOT NULL,
    kind text NOT NULL,
    sha256 bytea NOT NULL,
    sealed bytea NOT NULL,
    uid_sha256 bytea,
    grant_sha256 bytea,
    user_ref text,
    consumed_at timestamp with time zone,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT sso_artifact_sha256_check CHECK ((octet_length(sha256) = 32))
);
ALTER TABLE ONLY keystride.sso_artifact FORCE ROW LEVEL SECURITY;
ALTER TABLE keystride.sso_artifact OWNER TO app;
CREATE TABLE keystride.sso_key (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    follows uuid NOT NULL,
    sealed bytea NOT NULL,
    signs_from timestamp with time zone NOT NULL
);
ALTER TABLE ONLY keystride.sso_key FORCE ROW LEVEL SECURITY;
ALTER TABLE keystride.sso_key OWNER TO app;
CREATE TABLE keystride.typing_word (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    language text NOT NULL,
    word text NOT NULL,
    core boolean NOT NULL,
    enabled boolean NOT NULL,
    CONSTRAINT typing_word_check CHECK ((NOT (core AND enabled)))
);
ALTER TABLE ONLY keystride.typing_word FORCE ROW LEVEL SECURITY;
ALTER TABLE keystride.typing_word OWNER TO app;
CREATE TABLE keystride.user_total (
    organization_id uuid NOT NULL,
    days integer NOT NULL,
    account_id uuid NOT NULL,
    user_ref text NOT NULL,
    n integer NOT NULL,
    n_authenticated integer NOT NULL,
    n_challenged integer NOT NULL,
    n_blocked integer NOT NULL,
    sum_confidence bigint NOT NULL,
    sum_biometrics bigint NOT NULL,
    n_biometrics integer NOT NULL,
    last_at timestamp with time zone
);
ALTER TABLE ONLY keystride.user_total FORCE ROW LEVEL SECURITY;
ALTER TABLE keystride.user_total OWNER TO app;
CREATE TABLE keystride.user_totaled (
    organization_id uuid NOT NULL,
    days integer NOT NULL,
    until timestamp with time zone NOT NULL
);
ALTER TABLE ONLY keystride.user_totaled FORCE ROW LEVEL SECURITY;
ALTER TABLE keystride.user_totaled OWNER TO app;
ALTER TABLE ONLY keystride.authentication ATTACH PARTITION keystride.authentication_default DEFAULT;
ALTER TABLE ONLY keystride.account
    ADD CONSTRAINT account_organization_id_user_ref_key UNIQUE (organization_id, user_ref);
ALTER TABLE ONLY keystride.account
    ADD CONSTRAINT account_pkey PRIMARY KEY (organization_id, id);
ALTER TABLE ONLY keystride.admin_action
    ADD CONSTRAINT admin_action_pkey PRIMARY KEY (organization_id, id);
ALTER TABLE ONLY keystride.alert_attempt
    ADD CONSTRAINT alert_attempt_pkey PRIMARY KEY (organization_id, delivery_id, at);
ALTER TABLE ONLY keystride.alert_channel
    ADD CONSTRAINT alert_channel_pkey PRIMARY KEY (organization_id, channel);
ALTER TABLE ONLY keystride.alert_delivery
    ADD CONSTRAINT alert_delivery_organization_id_notification_id_channel_key UNIQUE (organization_id, notification_id, channel);
ALTER TABLE ONLY keystride.alert_delivery
    ADD CONSTRAINT alert_delivery_pkey PRIMARY KEY (organization_id, id);
ALTER TABLE ONLY keystride.alerting
    ADD CONSTRAINT alerting_pkey PRIMARY KEY (organization_id);
ALTER TABLE ONLY keystride.api_key
    ADD CONSTRAINT api_key_organization_id_sha256_key UNIQUE (organization_id, sha256);
ALTER TABLE ONLY keystride.api_key
    ADD CONSTRAINT api_key_pkey PRIMARY KEY (organization_id, id);
ALTER TABLE ONLY keystride.api_usage
    ADD CONSTRAINT api_usage_pkey PRIMARY KEY (organization_id, day, class);
ALTER TABLE ONLY keystride.attempt_count
    ADD CONSTRAINT attempt_count_pkey PRIMARY KEY (organization_id, facet, hour, value);
ALTER TABLE ONLY keystride.attempt_counted
    ADD CONSTRAINT attempt_counted_pkey PRIMARY KEY (organization_id);
ALTER TABLE ONLY keystride.attempt_day
    ADD CONSTRAINT attempt_day_pkey PRIMARY KEY (organization_id, facet, day, value);
ALTER TABLE ONLY keystride.attempt_recent
    ADD CONSTRAINT attempt_recent_pkey PRIMARY KEY (organization_id, facet, hour, value);
ALTER TABLE ONLY keystride.authentication
    ADD CONSTRAINT authentication_pkey PRIMARY KEY (organization_id, id);
ALTER TABLE ONLY keystride.authentication_default
    ADD CONSTRAINT authentication_default_pkey PRIMARY KEY (organization_id, id);
ALTER TABLE ONLY keystride.erasure
    ADD CONSTRAINT erasure_pkey PRIMARY KEY (organization_id, id);
ALTER TABLE ONLY keystride.export_archive
    ADD CONSTRAINT export_archive_pkey PRIMARY KEY (organization_id, id);
ALTER TABLE ONLY keystride.export_piece
    ADD CONSTRAINT export_piece_pkey PRIMARY KEY (organization_id, archive_id, attempt, n);
ALTER TABLE ONLY keystride.headcount_change
    ADD CONSTRAINT headcount_change_pkey PRIMARY KEY (organization_id, id);
ALTER TABLE ONLY keystride.headcount
    ADD CONSTRAINT headcount_pkey PRIMARY KEY (organization_id);
ALTER TABLE ONLY keystride.lock_tombstone
    ADD CONSTRAINT lock_tombstone_pkey PRIMARY KEY (organization_id, person);
ALTER TABLE ONLY keystride.member
    ADD CONSTRAINT member_organization_id_account_id_member_ref_key UNIQUE (organization_id, account_id, member_ref);
ALTER TABLE ONLY keystride.member
    ADD CONSTRAINT member_pkey PRIMARY KEY (organization_id, id);
ALTER TABLE ONLY keystride.notification
    ADD CONSTRAINT notification_organization_id_event_key UNIQUE (organization_id, event);
ALTER TABLE ONLY keystride.notification
    ADD CONSTRAINT notification_pkey PRIMARY KEY (organization_id, id);
ALTER TABLE ONLY keystride.one_time_password
    ADD CONSTRAINT one_time_password_pkey PRIMARY KEY (organization_id, user_ref);
ALTER TABLE ONLY keystride.organization
    ADD CONSTRAINT organization_pkey PRIMARY KEY (organization_id);
ALTER TABLE ONLY keystride.policy
    ADD CONSTRAINT policy_pkey PRIMARY KEY (organization_id, id);
ALTER TABLE ONLY keystride.profile_link
    ADD CONSTRAINT profile_link_organization_id_member_id_kind_key UNIQUE (organization_id, member_id, kind);
ALTER TABLE ONLY keystride.profile_link
    ADD CONSTRAINT profile_link_pkey PRIMARY KEY (organization_id, id);
ALTER TABLE ONLY keystride.reference_pattern
    ADD CONSTRAINT reference_pattern_pkey PRIMARY KEY (organization_id, member_id, id);
ALTER TABLE ONLY keystride.refused_pattern
    ADD CONSTRAINT refused_pattern_pkey PRIMARY KEY (organization_id, member_id, id);
ALTER TABLE ONLY keystride.replay_mark
    ADD CONSTRAINT replay_mark_pkey PRIMARY KEY (organization_id, exact);
ALTER TABLE ONLY keystride.request_log
    ADD CONSTRAINT request_log_pkey PRIMARY KEY (organization_id, id);
ALTER TABLE ONLY keystride.session
    ADD CONSTRAINT session_pkey PRIMARY KEY (organization_id, user_ref, sha256);
ALTER TABLE ONLY keystride.sso_artifact
    ADD CONSTRAINT sso_artifact_pkey PRIMARY KEY (organization_id, kind, sha256);
ALTER TABLE ONLY keystride.sso_key
    ADD CONSTRAINT sso_key_organization_id_follows_key UNIQUE (organization_id, follows);
ALTER TABLE ONLY keystride.sso_key
    ADD CONSTRAINT sso_key_pkey PRIMARY KEY (organization_id, id);
ALTER TABLE ONLY keystride.typing_word
    ADD CONSTRAINT typing_word_organization_id_language_core_word_key UNIQUE (organization_id, language, core, word);
ALTER TABLE ONLY keystride.typing_word
    ADD CONSTRAINT typing_word_pkey PRIMARY KEY (organization_id, id);
ALTER TABLE ONLY keystride.usage_event
    ADD CONSTRAINT usage_event_pkey PRIMARY KEY (organization_id, n);
ALTER TABLE ONLY keystride.user_total
    ADD CONSTRAINT user_total_pkey PRIMARY KEY (organization_id, account_id, days);
ALTER TABLE ONLY keystride.user_totaled
    ADD CONSTRAINT user_totaled_pkey PRIMARY KEY (organization_id, days);
CREATE INDEX account_created ON keystride.account USING btree (organization_id, created_at);
CREATE INDEX account_grouped ON keystride.account USING btree (organization_id) WHERE (groups <> '[]'::jsonb);
CREATE INDEX admin_action_account ON keystride.admin_action USING btree (organization_id, account_id);
CREATE INDEX admin_action_done ON keystride.admin_action USING btree (organization_id, done_of) WHERE (done_of IS NOT NULL);
CREATE INDEX admin_action_user ON keystride.admin_action USING btree (organization_id, user_ref, id) WHERE (done_of IS NULL);
CREATE INDEX alert_delivery_waiting ON keystride.alert_delivery USING btree (organization_id, channel, due_at) WHERE (state = 'waiting'::text);
CREATE INDEX api_key_sha256 ON keystride.api_key USING btree (sha256) WHERE (revoked_at IS NULL);
CREATE INDEX authentication_blocked ON ONLY keystride.authentication USING btree (organization_id, id) INCLUDE (account_id, created_at) WHERE (recommended_action = 'block'::text);
CREATE INDEX authentication_default_organization_id_id_account_id_create_idx ON keystride.authentication_default USING btree (organization_id, id) INCLUDE (account_id, created_at) WHERE (recommended_action = 'block'::text);
CREATE INDEX authentication_events ON ONLY keystride.authentication USING btree (organization_id, id) WHERE (events IS NOT NULL);
CREATE INDEX authentication_default_organization_id_id_idx ON keystride.authentication_default USING btree (organization_id, id) WHERE (events IS NOT NULL);
CREATE INDEX authentication_user ON ONLY keystride.authentication USING btree (organization_id, user_ref, id);
CREATE INDEX authentication_default_organization_id_user_ref_id_idx ON keystride.authentication_default USING btree (organization_id, user_ref, id);
CREATE INDEX export_archive_expiry ON keystride.export_archive USING btree (expires_at);
CREATE INDEX member_blocked ON keystride.member USING btree (organization_id, blocked_until DESC, id) WHERE ((blocked_until IS NOT NULL) AND (archived_at IS NULL));
CREATE INDEX member_invalid_patterns ON keystride.member USING btree (id) WHERE (invalid_patterns <> '{}'::timestamp with time zone[]);
CREATE INDEX notification_account ON keystride.notification USING btree (organization_id, account_id) WHERE (account_id IS NOT NULL);
CREATE INDEX notification_unread ON keystride.notification USING btree (organization_id, noted_at) WHERE (read_at IS NULL);
CREATE INDEX notification_whole ON keystride.notification USING btree (organization_id, kind, at) WHERE (account_id IS NULL);
CREATE INDEX one_time_password_expiry ON keystride.one_time_password USING btree (expires_at);
CREATE UNIQUE INDEX policy_default ON keystride.policy USING btree (organization_id) WHERE is_default;
CREATE UNIQUE INDEX policy_shadow ON keystride.policy USING btree (organization_id) WHERE is_shadow;
CREATE INDEX profile_link_expiry ON keystride.profile_link USING btree (organization_id, expires_at);
CREATE INDEX profile_link_sha256 ON keystride.profile_link USING btree (sha256);
CREATE INDEX reference_pattern_created ON keystride.reference_pattern USING btree (organization_id, created_at);
CREATE INDEX reference_pattern_id ON keystride.reference_pattern USING btree (organization_id, id);
CREATE INDEX replay_mark_bands ON keystride.replay_mark USING gin (bands) WITH (fastupdate=off);
CREATE INDEX replay_mark_member ON keystride.replay_mark USING btree (member_id);
CREATE INDEX replay_mark_seen ON keystride.replay_mark USING brin (seen_at);
CREATE INDEX session_expiry ON keystride.session USING btree (expires_at);
CREATE UNIQUE INDEX session_implicit ON keystride.session USING btree (organization_id, user_ref, member_ref) WHERE implicit;
CREATE INDEX sso_artifact_expiry ON keystride.sso_artifact USING btree (expires_at);
CREATE INDEX sso_artifact_grant ON keystride.sso_artifact USING btree (organization_id, grant_sha256) WHERE (grant_sha256 IS NOT NULL);
CREATE INDEX sso_artifact_uid ON keystride.sso_artifact USING btree (organization_id, uid_sha256) WHERE (uid_sha256 IS NOT NULL);
CREATE INDEX sso_artifact_user ON keystride.sso_artifact USING btree (organization_id, user_ref) WHERE (user_ref IS NOT NULL);
CREATE INDEX usage_event_at ON keystride.usage_event USING btree (organization_id, at);
CREATE INDEX user_total_authenticated ON keystride.user_total USING btree (organization_id, days, n_authenticated DESC, user_ref) WHERE (n > 0);
CREATE INDEX user_total_authenticated_up ON keystride.user_total USING btree (organization_id, days, n_authenticated, user_ref) WHERE (n > 0);
CREATE INDEX user_total_blocked ON keystride.user_total USING btree (organization_id, days, n_blocked DESC, user_ref) WHERE (n > 0);
CREATE INDEX user_total_blocked_up ON keystride.user_total USING btree (organization_id, days, n_blocked, user_ref) WHERE (n > 0);
CREATE INDEX user_total_challenged ON keystride.user_total USING btree (organization_id, days, n_challenged DESC, user_ref) WHERE (n > 0);
CREATE INDEX user_total_challenged_up ON keystride.user_total USING btree (organization_id, days, n_challenged, user_ref) WHERE (n > 0);
CREATE INDEX user_total_confidence ON keystride.user_total USING btree (organization_id, days, (((sum_confidence)::double precision / (NULLIF(n, 0))::double precision)) DESC, user_ref) WHERE (n > 0);
CREATE INDEX user_total_last ON keystride.user_total USING btree (organization_id, days, last_at DESC, user_ref) WHERE (n > 0);
CREATE INDEX user_total_n ON keystride.user_total USING btree (organization_id, days, n DESC, user_ref) WHERE (n > 0);
CREATE INDEX user_total_n_up ON keystride.user_total USING btree (organization_id, days, n, user_ref) WHERE (n > 0);
CREATE INDEX user_total_none ON keystride.user_total USING btree (organization_id, days, user_ref) WHERE (n = 0);
ALTER INDEX keystride.authentication_blocked ATTACH PARTITION keystride.authentication_default_organization_id_id_account_id_create_idx;
ALTER INDEX keystride.authentication_events ATTACH PARTITION keystride.authentication_default_organization_id_id_idx;
ALTER INDEX keystride.authentication_user ATTACH PARTITION keystride.authentication_default_organization_id_user_ref_id_idx;
ALTER INDEX keystride.authentication_pkey ATTACH PARTITION keystride.authentication_default_pkey;
CREATE TRIGGER append_only BEFORE UPDATE ON keystride.admin_action FOR EACH ROW EXECUTE FUNCTION keystride.refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE ON keystride.usage_event FOR EACH ROW EXECUTE FUNCTION keystride.refuse_change();
CREATE TRIGGER append_only_in_use BEFORE DELETE ON keystride.usage_event FOR EACH ROW EXECUTE FUNCTION keystride.refuse_deletion();
CREATE TRIGGER append_only_whole BEFORE TRUNCATE ON keystride.admin_action FOR EACH STATEMENT EXECUTE FUNCTION keystride.refuse_change();
CREATE TRIGGER append_only_whole BEFORE TRUNCATE ON keystride.usage_event FOR EACH STATEMENT EXECUTE FUNCTION keystride.refuse_change();
CREATE TRIGGER count_account AFTER INSERT OR DELETE OR UPDATE OF type ON keystride.account FOR EACH ROW EXECUTE FUNCTION keystride.count_account();
CREATE TRIGGER count_member AFTER INSERT OR DELETE OR UPDATE OF archived_at, completed_at ON keystride.member FOR EACH ROW EXECUTE FUNCTION keystride.count_member();
CREATE TRIGGER count_organization AFTER INSERT ON keystride.organization FOR EACH ROW EXECUTE FUNCTION keystride.count_organization();
CREATE TRIGGER keep_locks BEFORE INSERT OR DELETE ON keystride.member FOR EACH ROW EXECUTE FUNCTION keystride.keep_locks();
CREATE TRIGGER keep_locks_of_renamed BEFORE UPDATE OF member_ref ON keystride.member FOR EACH ROW WHEN ((old.member_ref IS DISTINCT FROM new.member_ref)) EXECUTE FUNCTION keystride.keep_locks();
CREATE TRIGGER move_row_version BEFORE UPDATE ON keystride.member FOR EACH ROW WHEN ((NOT (new.row_version IS DISTINCT FROM old.row_version))) EXECUTE FUNCTION keystride.move_row_version();
CREATE TRIGGER move_row_versions AFTER UPDATE ON keystride.account FOR EACH ROW EXECUTE FUNCTION keystride.move_row_versions();
CREATE TRIGGER note_enrollment AFTER UPDATE OF completed_at ON keystride.member FOR EACH ROW WHEN ((new.completed_at IS NOT NULL)) EXECUTE FUNCTION keystride.note_enrollment();
CREATE TRIGGER note_overage AFTER UPDATE ON keystride.headcount FOR EACH ROW WHEN (((new.n_accounts > old.n_accounts) OR (new.n_accounts_generic > old.n_accounts_generic))) EXECUTE FUNCTION keystride.note_overage_of_count();
CREATE TRIGGER note_overage AFTER UPDATE OF quota_accounts, quota_shared_accounts ON keystride.organization FOR EACH ROW EXECUTE FUNCTION keystride.note_overage_of_quota();
CREATE TRIGGER note_reset AFTER UPDATE OF ever_reset, reset_at ON keystride.member FOR EACH ROW WHEN (((new.archived_at IS NULL) AND ((new.reset_at IS DISTINCT FROM old.reset_at) OR (((new.n_visible + new.n_sensitive) = 0) AND ((old.n_visible + old.n_sensitive) > 0))))) EXECUTE FUNCTION keystride.note_reset();
CREATE TRIGGER queue_deliveries AFTER INSERT ON keystride.notification FOR EACH ROW EXECUTE FUNCTION keystride.queue_deliveries();
CREATE TRIGGER total_account AFTER INSERT ON keystride.account FOR EACH ROW EXECUTE FUNCTION keystride.total_account();
ALTER TABLE ONLY keystride.account
    ADD CONSTRAINT account_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES keystride.organization(organization_id);
ALTER TABLE ONLY keystride.admin_action
    ADD CONSTRAINT admin_action_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES keystride.organization(organization_id);
ALTER TABLE ONLY keystride.alert_attempt
    ADD CONSTRAINT alert_attempt_organization_id_delivery_id_fkey FOREIGN KEY (organization_id, delivery_id) REFERENCES keystride.alert_delivery(organization_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY keystride.alert_channel
    ADD CONSTRAINT alert_channel_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES keystride.organization(organization_id);
ALTER TABLE ONLY keystride.alert_delivery
    ADD CONSTRAINT alert_delivery_organization_id_notification_id_fkey FOREIGN KEY (organization_id, notification_id) REFERENCES keystride.notification(organization_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY keystride.alerting
    ADD CONSTRAINT alerting_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES keystride.organization(organization_id);
ALTER TABLE ONLY keystride.api_key
    ADD CONSTRAINT api_key_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES keystride.organization(organization_id);
ALTER TABLE ONLY keystride.api_usage
    ADD CONSTRAINT api_usage_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES keystride.organization(organization_id);
ALTER TABLE ONLY keystride.attempt_count
    ADD CONSTRAINT attempt_count_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES keystride.organization(organization_id);
ALTER TABLE ONLY keystride.attempt_counted
    ADD CONSTRAINT attempt_counted_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES keystride.organization(organization_id);
ALTER TABLE ONLY keystride.attempt_day
    ADD CONSTRAINT attempt_day_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES keystride.organization(organization_id);
ALTER TABLE ONLY keystride.attempt_recent
    ADD CONSTRAINT attempt_recent_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES keystride.organization(organization_id);
ALTER TABLE ONLY keystride.erasure
    ADD CONSTRAINT erasure_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES keystride.organization(organization_id) ON DELETE CASCADE;
ALTER TABLE ONLY keystride.export_archive
    ADD CONSTRAINT export_archive_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES keystride.organization(organization_id);
ALTER TABLE ONLY keystride.headcount_change
    ADD CONSTRAINT headcount_change_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES keystride.organization(organization_id);
ALTER TABLE ONLY keystride.headcount
    ADD CONSTRAINT headcount_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES keystride.organization(organization_id);
ALTER TABLE ONLY keystride.lock_tombstone
    ADD CONSTRAINT lock_tombstone_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES keystride.organization(organization_id);
ALTER TABLE ONLY keystride.member
    ADD CONSTRAINT member_organization_id_account_id_fkey FOREIGN KEY (organization_id, account_id) REFERENCES keystride.account(organization_id, id);
ALTER TABLE ONLY keystride.notification
    ADD CONSTRAINT notification_organization_id_account_id_fkey FOREIGN KEY (organization_id, account_id) REFERENCES keystride.account(organization_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY keystride.notification
    ADD CONSTRAINT notification_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES keystride.organization(organization_id);
ALTER TABLE ONLY keystride.policy
    ADD CONSTRAINT policy_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES keystride.organization(organization_id);
ALTER TABLE ONLY keystride.profile_link
    ADD CONSTRAINT profile_link_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES keystride.organization(organization_id);
ALTER TABLE ONLY keystride.profile_link
    ADD CONSTRAINT profile_link_organization_id_member_id_fkey FOREIGN KEY (organization_id, member_id) REFERENCES keystride.member(organization_id, id);
ALTER TABLE ONLY keystride.reference_pattern
    ADD CONSTRAINT reference_pattern_organization_id_member_id_fkey FOREIGN KEY (organization_id, member_id) REFERENCES keystride.member(organization_id, id);
ALTER TABLE ONLY keystride.request_log
    ADD CONSTRAINT request_log_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES keystride.organization(organization_id);
ALTER TABLE ONLY keystride.typing_word
    ADD CONSTRAINT typing_word_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES keystride.organization(organization_id);
ALTER TABLE ONLY keystride.usage_event
    ADD CONSTRAINT usage_event_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES keystride.organization(organization_id) ON DELETE CASCADE;
ALTER TABLE ONLY keystride.user_total
    ADD CONSTRAINT user_total_organization_id_account_id_fkey FOREIGN KEY (organization_id, account_id) REFERENCES keystride.account(organization_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY keystride.user_totaled
    ADD CONSTRAINT user_totaled_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES keystride.organization(organization_id);
ALTER TABLE keystride.account ENABLE ROW LEVEL SECURITY;
ALTER TABLE keystride.admin_action ENABLE ROW LEVEL SECURITY;
ALTER TABLE keystride.alert_attempt ENABLE ROW LEVEL SECURITY;
ALTER TABLE keystride.alert_channel ENABLE ROW LEVEL SECURITY;
ALTER TABLE keystride.alert_delivery ENABLE ROW LEVEL SECURITY;
ALTER TABLE keystride.alerting ENABLE ROW LEVEL SECURITY;
ALTER TABLE keystride.api_key ENABLE ROW LEVEL SECURITY;
ALTER TABLE keystride.api_usage ENABLE ROW LEVEL SECURITY;
ALTER TABLE keystride.attempt_count ENABLE ROW LEVEL SECURITY;
ALTER TABLE keystride.attempt_counted ENABLE ROW LEVEL SECURITY;
ALTER TABLE keystride.attempt_day ENABLE ROW LEVEL SECURITY;
ALTER TABLE keystride.attempt_recent ENABLE ROW LEVEL SECURITY;
ALTER TABLE keystride.authentication ENABLE ROW LEVEL SECURITY;
ALTER TABLE keystride.authentication_default ENABLE ROW LEVEL SECURITY;
ALTER TABLE keystride.erasure ENABLE ROW LEVEL SECURITY;
CREATE POLICY every_organization ON keystride.account TO keystride_system USING (true) WITH CHECK (true);
CREATE POLICY every_organization ON keystride.admin_action TO keystride_system USING (true) WITH CHECK (true);
CREATE POLICY every_organization ON keystride.alert_attempt TO keystride_system USING (true) WITH CHECK (true);
CREATE POLICY every_organization ON keystride.alert_channel TO keystride_system USING (true) WITH CHECK (true);
CREATE POLICY every_organization ON keystride.alert_delivery TO keystride_system USING (true) WITH CHECK (true);
CREATE POLICY every_organization ON keystride.alerting TO keystride_system USING (true) WITH CHECK (true);
CREATE POLICY every_organization ON keystride.api_key TO keystride_system USING (true) WITH CHECK (true);
CREATE POLICY every_organization ON keystride.api_usage TO keystride_system USING (true) WITH CHECK (true);
CREATE POLICY every_organization ON keystride.attempt_count TO keystride_system USING (true) WITH CHECK (true);
CREATE POLICY every_organization ON keystride.attempt_counted TO keystride_system USING (true) WITH CHECK (true);
CREATE POLICY every_organization ON keystride.attempt_day TO keystride_system USING (true) WITH CHECK (true);
CREATE POLICY every_organization ON keystride.attempt_recent TO keystride_system USING (true) WITH CHECK (true);
CREATE POLICY every_organization ON keystride.authentication TO keystride_system USING (true) WITH CHECK (true);
CREATE POLICY every_organization ON keystride.erasure TO keystride_system USING (true) WITH CHECK (true);
CREATE POLICY every_organization ON keystride.export_archive TO keystride_system USING (true) WITH CHECK (true);
CREATE POLICY every_organization ON keystride.export_piece TO keystride_system USING (true) WITH CHECK (true);
CREATE POLICY every_organization ON keystride.headcount TO keystride_system USING (true) WITH CHECK (true);
CREATE POLICY every_organization ON keystride.headcount_change TO keystride_system USING (true) WITH CHECK (true);
CREATE POLICY every_organization ON keystride.lock_tombstone TO keystride_system USING (true) WITH CHECK (true);
CREATE POLICY every_organization ON keystride.member TO keystride_system USING (true) WITH CHECK (true);
CREATE POLICY every_organization ON keystride.notification TO keystride_system USING (true) WITH CHECK (true);
CREATE POLICY every_organization ON keystride.one_time_password TO keystride_system USING (true) WITH CHECK (true);
CREATE POLICY every_organization ON keystride.organization TO keystride_system USING (true) WITH CHECK (true);
CREATE POLICY every_organization ON keystride.policy TO keystride_system USING (true) WITH CHECK (true);
CREATE POLICY every_organization ON keystride.profile_link TO keystride_system USING (true) WITH CHECK (true);
CREATE POLICY every_organization ON keystride.reference_pattern TO keystride_system USING (true) WITH CHECK (true);
CREATE POLICY every_organization ON keystride.refused_pattern TO keystride_system USING (true) WITH CHECK (true);
CREATE POLICY every_organization ON keystride.replay_mark TO keystride_system USING (true) WITH CHECK (true);
CREATE POLICY every_organization ON keystride.request_log TO keystride_system USING (true) WITH CHECK (true);
CREATE POLICY every_organization ON keystride.session TO keystride_system USING (true) WITH CHECK (true);
CREATE POLICY every_organization ON keystride.sso_artifact TO keystride_system USING (true) WITH CHECK (true);
CREATE POLICY every_organization ON keystride.sso_key TO keystride_system USING (true) WITH CHECK (true);
CREATE POLICY every_organization ON keystride.typing_word TO keystride_system USING (true) WITH CHECK (true);
CREATE POLICY every_organization ON keystride.usage_event TO keystride_system USING (true) WITH CHECK (true);
CREATE POLICY every_organization ON keystride.user_total TO keystride_system USING (true) WITH CHECK (true);
CREATE POLICY every_organization ON keystride.user_totaled TO keystride_system USING (true) WITH CHECK (true);
ALTER TABLE keystride.export_archive ENABLE ROW LEVEL SECURITY;
ALTER TABLE keystride.export_piece ENABLE ROW LEVEL SECURITY;
ALTER TABLE keystride.headcount ENABLE ROW LEVEL SECURITY;
ALTER TABLE keystride.headcount_change ENABLE ROW LEVEL SECURITY;
ALTER TABLE keystride.lock_tombstone ENABLE ROW LEVEL SECURITY;
ALTER TABLE keystride.member ENABLE ROW LEVEL SECURITY;
ALTER TABLE keystride.notification ENABLE ROW LEVEL SECURITY;
ALTER TABLE keystride.one_time_password ENABLE ROW LEVEL SECURITY;
ALTER TABLE keystride.organization ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_organization ON keystride.account TO keystride_app USING ((organization_id = keystride.current_organization())) WITH CHECK ((organization_id = keystride.current_organization()));
CREATE POLICY own_organization ON keystride.admin_action TO keystride_app USING ((organization_id = keystride.current_organization())) WITH CHECK ((organization_id = keystride.current_organization()));
CREATE POLICY own_organization ON keystride.alert_attempt TO keystride_app USING ((organization_id = keystride.current_organization())) WITH CHECK ((organization_id = keystride.current_organization()));
CREATE POLICY own_organization ON keystride.alert_channel TO keystride_app USING ((organization_id = keystride.current_organization())) WITH CHECK ((organization_id = keystride.current_organization()));
CREATE POLICY own_organization ON keystride.alert_delivery TO keystride_app USING ((organization_id = keystride.current_organization())) WITH CHECK ((organization_id = keystride.current_organization()));
CREATE POLICY own_organization ON keystride.alerting TO keystride_app USING ((organization_id = keystride.current_organization())) WITH CHECK ((organization_id = keystride.current_organization()));
CREATE POLICY own_organization ON keystride.api_key TO keystride_app USING ((organization_id = keystride.current_organization())) WITH CHECK ((organization_id = keystride.current_organization()));
CREATE POLICY own_organization ON keystride.api_usage TO keystride_app USING ((organization_id = keystride.current_organization())) WITH CHECK ((organization_id = keystride.current_organization()));
CREATE POLICY own_organization ON keystride.attempt_count TO keystride_app USING ((organization_id = keystride.current_organization())) WITH CHECK ((organization_id = keystride.current_organization()));
CREATE POLICY own_organization ON keystride.attempt_counted TO keystride_app USING ((organization_id = keystride.current_organization())) WITH CHECK ((organization_id = keystride.current_organization()));
CREATE POLICY own_organization ON keystride.attempt_day TO keystride_app USING ((organization_id = keystride.current_organization())) WITH CHECK ((organization_id = keystride.current_organization()));
CREATE POLICY own_organization ON keystride.attempt_recent TO keystride_app USING ((organization_id = keystride.current_organization())) WITH CHECK ((organization_id = keystride.current_organization()));
CREATE POLICY own_organization ON keystride.authentication TO keystride_app USING ((organization_id = keystride.current_organization())) WITH CHECK ((organization_id = keystride.current_organization()));
CREATE POLICY own_organization ON keystride.erasure TO keystride_app USING ((organization_id = keystride.current_organization())) WITH CHECK ((organization_id = keystride.current_organization()));
CREATE POLICY own_organization ON keystride.export_archive TO keystride_app USING ((organization_id = keystride.current_organization())) WITH CHECK ((organization_id = keystride.current_organization()));
CREATE POLICY own_organization ON keystride.export_piece TO keystride_app USING ((organization_id = keystride.current_organization())) WITH CHECK ((organization_id = keystride.current_organization()));
CREATE POLICY own_organization ON keystride.headcount TO keystride_app USING ((organization_id = keystride.current_organization())) WITH CHECK ((organization_id = keystride.current_organization()));
CREATE POLICY own_organization ON keystride.headcount_change TO keystride_app USING ((organization_id = keystride.current_organization())) WITH CHECK ((organization_id = keystride.current_organization()));
CREATE POLICY own_organization ON keystride.lock_tombstone TO keystride_app USING ((organization_id = keystride.current_organization())) WITH CHECK ((organization_id = keystride.current_organization()));
CREATE POLICY own_organization ON keystride.member TO keystride_app USING ((organization_id = keystride.current_organization())) WITH CHECK ((organization_id = keystride.current_organization()));
CREATE POLICY own_organization ON keystride.notification TO keystride_app USING ((organization_id = keystride.current_organization())) WITH CHECK ((organization_id = keystride.current_organization()));
CREATE POLICY own_organization ON keystride.one_time_password TO keystride_app USING ((organization_id = keystride.current_organization())) WITH CHECK ((organization_id = keystride.current_organization()));
CREATE POLICY own_organization ON keystride.organization TO keystride_app USING ((organization_id = keystride.current_organization())) WITH CHECK ((organization_id = keystride.current_organization()));
CREATE POLICY own_organization ON keystride.policy TO keystride_app USING ((organization_id = keystride.current_organization())) WITH CHECK ((organization_id = keystride.current_organization()));
CREATE POLICY own_organization ON keystride.profile_link TO keystride_app USING ((organization_id = keystride.current_organization())) WITH CHECK ((organization_id = keystride.current_organization()));
CREATE POLICY own_organization ON keystride.reference_pattern TO keystride_app USING ((organization_id = keystride.current_organization())) WITH CHECK ((organization_id = keystride.current_organization()));
CREATE POLICY own_organization ON keystride.refused_pattern TO keystride_app USING ((organization_id = keystride.current_organization())) WITH CHECK ((organization_id = keystride.current_organization()));
CREATE POLICY own_organization ON keystride.replay_mark TO keystride_app USING ((organization_id = keystride.current_organization())) WITH CHECK ((organization_id = keystride.current_organization()));
CREATE POLICY own_organization ON keystride.request_log TO keystride_app USING ((organization_id = keystride.current_organization())) WITH CHECK ((organization_id = keystride.current_organization()));
CREATE POLICY own_organization ON keystride.session TO keystride_app USING ((organization_id = keystride.current_organization())) WITH CHECK ((organization_id = keystride.current_organization()));
CREATE POLICY own_organization ON keystride.sso_artifact TO keystride_app USING ((organization_id = keystride.current_organization())) WITH CHECK ((organization_id = keystride.current_organization()));
CREATE POLICY own_organization ON keystride.sso_key TO keystride_app USING ((organization_id = keystride.current_organization())) WITH CHECK ((organization_id = keystride.current_organization()));
CREATE POLICY own_organization ON keystride.typing_word TO keystride_app USING ((organization_id = keystride.current_organization())) WITH CHECK ((organization_id = keystride.current_organization()));
CREATE POLICY own_organization ON keystride.usage_event TO keystride_app USING ((organization_id = keystride.current_organization())) WITH CHECK ((organization_id = keystride.current_organization()));
CREATE POLICY own_organization ON keystride.user_total TO keystride_app USING ((organization_id = keystride.current_organization())) WITH CHECK ((organization_id = keystride.current_organization()));
CREATE POLICY own_organization ON keystride.user_totaled TO keystride_app USING ((organization_id = keystride.current_organization())) WITH CHECK ((organization_id = keystride.current_organization()));
ALTER TABLE keystride.policy ENABLE ROW LEVEL SECURITY;
ALTER TABLE keystride.profile_link ENABLE ROW LEVEL SECURITY;
ALTER TABLE keystride.reference_pattern ENABLE ROW LEVEL SECURITY;
ALTER TABLE keystride.refused_pattern ENABLE ROW LEVEL SECURITY;
ALTER TABLE keystride.replay_mark ENABLE ROW LEVEL SECURITY;
ALTER TABLE keystride.request_log ENABLE ROW LEVEL SECURITY;
ALTER TABLE keystride.session ENABLE ROW LEVEL SECURITY;
ALTER TABLE keystride.sso_artifact ENABLE ROW LEVEL SECURITY;
ALTER TABLE keystride.sso_key ENABLE ROW LEVEL SECURITY;
ALTER TABLE keystride.typing_word ENABLE ROW LEVEL SECURITY;
ALTER TABLE keystride.usage_event ENABLE ROW LEVEL SECURITY;
ALTER TABLE keystride.user_total ENABLE ROW LEVEL SECURITY;
ALTER TABLE keystride.user_totaled ENABLE ROW LEVEL SECURITY;
GRANT USAGE ON SCHEMA keystride TO keystride_app;
GRANT USAGE ON SCHEMA keystride TO keystride_system;
REVOKE ALL ON FUNCTION keystride.abandoned_exports() FROM PUBLIC;
GRANT ALL ON FUNCTION keystride.abandoned_exports() TO app;
REVOKE ALL ON FUNCTION keystride.add_up_headcounts() FROM PUBLIC;
GRANT ALL ON FUNCTION keystride.add_up_headcounts() TO app;
REVOKE ALL ON FUNCTION keystride.add_usage(counted jsonb, logged jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION keystride.add_usage(counted jsonb, logged jsonb) TO app;
REVOKE ALL ON FUNCTION keystride.analyze_grown() FROM PUBLIC;
REVOKE ALL ON FUNCTION keystride.append_checkpoints(today timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION keystride.append_checkpoints(today timestamp with time zone) TO app;
REVOKE ALL ON FUNCTION keystride.append_usage_event(organization uuid, happened text) FROM PUBLIC;
REVOKE ALL ON FUNCTION keystride.await_erasures() FROM PUBLIC;
GRANT ALL ON FUNCTION keystride.await_erasures() TO keystride_app;
REVOKE ALL ON FUNCTION keystride.blocked_until(attempts jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION keystride.blocked_until(attempts jsonb) TO keystride_app;
GRANT ALL ON FUNCTION keystride.blocked_until(attempts jsonb) TO keystride_system;
REVOKE ALL ON FUNCTION keystride.broken_usage_event() FROM PUBLIC;
GRANT ALL ON FUNCTION keystride.broken_usage_event() TO keystride_app;
REVOKE ALL ON FUNCTION keystride.claim_deliveries(most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION keystride.claim_deliveries(most integer) TO app;
REVOKE ALL ON FUNCTION keystride.claim_mark(organization uuid, mark bytea, mark_bands bigint[], owner_id uuid, at timestamp with time zone, reject boolean, memory_days integer, pattern uuid, pattern_generation integer, cleared bytea[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION keystride.claim_own_mark(mark bytea, mark_bands bigint[], owner_id uuid, at timestamp with time zone, reject boolean, memory_days integer, pattern uuid, pattern_generation integer, cleared bytea[]) FROM PUBLIC;
GRANT ALL ON FUNCTION keystride.claim_own_mark(mark bytea, mark_bands bigint[], owner_id uuid, at timestamp with time zone, reject boolean, memory_days integer, pattern uuid, pattern_generation integer, cleared bytea[]) TO keystride_app;
REVOKE ALL ON FUNCTION keystride.confidence_bin(method text, confidence double precision) FROM PUBLIC;
GRANT ALL ON FUNCTION keystride.confidence_bin(method text, confidence double precision) TO keystride_app;
GRANT ALL ON FUNCTION keystride.confidence_bin(method text, confidence double precision) TO keystride_system;
REVOKE ALL ON FUNCTION keystride.count_account() FROM PUBLIC;
REVOKE ALL ON FUNCTION keystride.count_attempts(now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION keystride.count_attempts(now timestamp with time zone) TO app;
REVOKE ALL ON FUNCTION keystride.count_by_facets(organization uuid, since timestamp with time zone, before timestamp with time zone) FROM PUBLIC;
REVOKE ALL ON FUNCTION keystride.count_days() FROM PUBLIC;
GRANT ALL ON FUNCTION keystride.count_days() TO app;
REVOKE ALL ON FUNCTION keystride.count_member() FROM PUBLIC;
REVOKE ALL ON FUNCTION keystride.count_organization() FROM PUBLIC;
REVOKE ALL ON FUNCTION keystride.counts(wanted text, since timestamp with time zone, before timestamp with time zone, bucket text) FROM PUBLIC;
GRANT ALL ON FUNCTION keystride.counts(wanted text, since timestamp with time zone, before timestamp with time zone, bucket text) TO keystride_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.account TO keystride_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.account TO keystride_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.member TO keystride_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.member TO keystride_system;
REVOKE ALL ON FUNCTION keystride.create_accounts(organizations uuid[], ids uuid[], user_refs text[], types text[], names text[], created_ms double precision[], member_ids uuid[], member_refs text[], member_names text[], no_attempts jsonb, waits boolean) FROM PUBLIC;
REVOKE ALL ON FUNCTION keystride.create_accounts(organizations uuid[], ids uuid[], user_refs text[], types text[], names text[], created_ms double precision[], member_ids uuid[], member_refs text[], member_names text[], no_attempts jsonb, waits boolean) FROM keystride_app;
GRANT ALL ON FUNCTION keystride.create_accounts(organizations uuid[], ids uuid[], user_refs text[], types text[], names text[], created_ms double precision[], member_ids uuid[], member_refs text[], member_names text[], no_attempts jsonb, waits boolean) TO app;
REVOKE ALL ON FUNCTION keystride.current_organization() FROM PUBLIC;
GRANT ALL ON FUNCTION keystride.current_organization() TO keystride_app;
GRANT ALL ON FUNCTION keystride.current_organization() TO keystride_system;
REVOKE ALL ON FUNCTION keystride.derive_notifications(since timestamp with time zone, most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION keystride.derive_notifications(since timestamp with time zone, most integer) TO app;
REVOKE ALL ON FUNCTION keystride.drop_partitions(days integer, today timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION keystride.drop_partitions(days integer, today timestamp with time zone) TO keystride_system;
REVOKE ALL ON FUNCTION keystride.ensure_partitions(ahead integer, today timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION keystride.ensure_partitions(ahead integer, today timestamp with time zone) TO keystride_system;
REVOKE ALL ON FUNCTION keystride.enter_headcount_line(organization uuid, waits boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION keystride.enter_headcount_line(organization uuid, waits boolean) TO keystride_app;
REVOKE ALL ON FUNCTION keystride.find_people(organizations uuid[], of_users text[], of_members text[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION keystride.find_people(organizations uuid[], of_users text[], of_members text[]) FROM keystride_app;
GRANT ALL ON FUNCTION keystride.find_people(organizations uuid[], of_users text[], of_members text[]) TO app;
REVOKE ALL ON FUNCTION keystride.find_profile_link(wanted bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION keystride.find_profile_link(wanted bytea) TO app;
REVOKE ALL ON FUNCTION keystride.forget_actions_of(gone uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION keystride.forget_actions_of(gone uuid) TO keystride_app;
REVOKE ALL ON FUNCTION keystride.forget_exports(now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION keystride.forget_exports(now timestamp with time zone) TO app;
REVOKE ALL ON FUNCTION keystride.forget_notifications(before timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION keystride.forget_notifications(before timestamp with time zone) TO app;
REVOKE ALL ON FUNCTION keystride.forget_old(today timestamp with time zone, days integer) FROM PUBLIC;
GRANT ALL ON FUNCTION keystride.forget_old(today timestamp with time zone, days integer) TO app;
REVOKE ALL ON FUNCTION keystride.forget_requests(before timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION keystride.forget_requests(before timestamp with time zone) TO app;
REVOKE ALL ON PROCEDURE keystride.guard(IN guarded regclass) FROM PUBLIC;
REVOKE ALL ON FUNCTION keystride.headcount_line(organization uuid) FROM PUBLIC;
REVOKE ALL ON FUNCTION keystride.headcount_now(organization uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION keystride.headcount_now(organization uuid) TO keystride_app;
GRANT ALL ON FUNCTION keystride.headcount_now(organization uuid) TO keystride_system;
REVOKE ALL ON FUNCTION keystride.keep_locks() FROM PUBLIC;
REVOKE ALL ON FUNCTION keystride.move_row_version() FROM PUBLIC;
REVOKE ALL ON FUNCTION keystride.move_row_versions() FROM PUBLIC;
REVOKE ALL ON FUNCTION keystride.new_id(at timestamp with time zone) FROM PUBLIC;
REVOKE ALL ON FUNCTION keystride.note_enrollment() FROM PUBLIC;
REVOKE ALL ON FUNCTION keystride.note_erasure() FROM PUBLIC;
GRANT ALL ON FUNCTION keystride.note_erasure() TO keystride_app;
REVOKE ALL ON FUNCTION keystride.note_outage(began timestamp with time zone, ended timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION keystride.note_outage(began timestamp with time zone, ended timestamp with time zone) TO app;
REVOKE ALL ON FUNCTION keystride.note_overage(organization uuid, counted text, n_before integer, quota_before integer, n integer, quota integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION keystride.note_overage_of_count() FROM PUBLIC;
REVOKE ALL ON FUNCTION keystride.note_overage_of_quota() FROM PUBLIC;
REVOKE ALL ON FUNCTION keystride.note_reset() FROM PUBLIC;
REVOKE ALL ON FUNCTION keystride.note_spraying(organization uuid, until timestamp with time zone) FROM PUBLIC;
REVOKE ALL ON FUNCTION keystride.organizations_with_ended_links() FROM PUBLIC;
GRANT ALL ON FUNCTION keystride.organizations_with_ended_links() TO app;
REVOKE ALL ON FUNCTION keystride.outbox_state(OUT waiting integer, OUT oldest_waiting_s double precision, OUT channels_paused integer) FROM PUBLIC;
GRANT ALL ON FUNCTION keystride.outbox_state(OUT waiting integer, OUT oldest_waiting_s double precision, OUT channels_paused integer) TO app;
REVOKE ALL ON FUNCTION keystride.own_marks_like(mark bytea, mark_bands bigint[], owner_id uuid, after timestamp with time zone, most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION keystride.own_marks_like(mark bytea, mark_bands bigint[], owner_id uuid, after timestamp with time zone, most integer) TO keystride_app;
REVOKE ALL ON FUNCTION keystride.queue_deliveries() FROM PUBLIC;
REVOKE ALL ON FUNCTION keystride.record_attempts(organization_ids uuid[], account_ids uuid[], member_ids uuid[], attempts_versions bigint[], generations integer[], row_versions bigint[], exacts bytea[], bands bigint[], ids uuid[], created_ms bigint[], user_refs text[], member_refs text[], account_types text[], session_ids text[], methods text[], authenticated boolean[], recommended_actions text[], reasons text[], confidences double precision[], confidences_biometrics double precision[], confidences_context double precision[], policy_ids uuid[], n_patterns_ref integer[], n_patterns_ref_used integer[], pattern_ids uuid[], cleareds text[], sealed text, facts text, tags text, facets text, events text, counters text, habits text, memory_days integer) FROM PUBLIC;
GRANT ALL ON FUNCTION keystride.record_attempts(organization_ids uuid[], account_ids uuid[], member_ids uuid[], attempts_versions bigint[], generations integer[], row_versions bigint[], exacts bytea[], bands bigint[], ids uuid[], created_ms bigint[], user_refs text[], member_refs text[], account_types text[], session_ids text[], methods text[], authenticated boolean[], recommended_actions text[], reasons text[], confidences double precision[], confidences_biometrics double precision[], confidences_context double precision[], policy_ids uuid[], n_patterns_ref integer[], n_patterns_ref_used integer[], pattern_ids uuid[], cleareds text[], sealed text, facts text, tags text, facets text, events text, counters text, habits text, memory_days integer) TO app;
REVOKE ALL ON FUNCTION keystride.refuse_change() FROM PUBLIC;
REVOKE ALL ON FUNCTION keystride.refuse_deletion() FROM PUBLIC;
REVOKE ALL ON FUNCTION keystride.remember_refused(owner_id uuid, mark bytea, mark_bands bigint[], at timestamp with time zone, pattern uuid, pattern_generation integer, sample bytea, most integer, memory_days integer) FROM PUBLIC;
GRANT ALL ON FUNCTION keystride.remember_refused(owner_id uuid, mark bytea, mark_bands bigint[], at timestamp with time zone, pattern uuid, pattern_generation integer, sample bytea, most integer, memory_days integer) TO keystride_app;
REVOKE ALL ON FUNCTION keystride.resembles(known_member uuid, known_bands bigint[], owner_id uuid, mark_bands bigint[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION keystride.resolve_api_key(wanted bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION keystride.resolve_api_key(wanted bytea) TO app;
REVOKE ALL ON FUNCTION keystride.slide_totals(now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION keystride.slide_totals(now timestamp with time zone) TO app;
REVOKE ALL ON FUNCTION keystride.stricter_attempts(one jsonb, other jsonb) FROM PUBLIC;
REVOKE ALL ON FUNCTION keystride.sweep_sessions(most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION keystride.sweep_sessions(most integer) TO app;
REVOKE ALL ON FUNCTION keystride.tested_patterns(organizations uuid[], of_users text[], of_members uuid[], since_ms bigint[], limits integer[], knowns text[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION keystride.tested_patterns(organizations uuid[], of_users text[], of_members uuid[], since_ms bigint[], limits integer[], knowns text[]) FROM keystride_app;
GRANT ALL ON FUNCTION keystride.tested_patterns(organizations uuid[], of_users text[], of_members uuid[], since_ms bigint[], limits integer[], knowns text[]) TO app;
REVOKE ALL ON FUNCTION keystride.time_of(id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION keystride.time_of(id uuid) TO keystride_app;
GRANT ALL ON FUNCTION keystride.time_of(id uuid) TO keystride_system;
REVOKE ALL ON FUNCTION keystride.total_account() FROM PUBLIC;
REVOKE ALL ON FUNCTION keystride.totaled_windows() FROM PUBLIC;
GRANT ALL ON FUNCTION keystride.totaled_windows() TO keystride_system;
REVOKE ALL ON FUNCTION keystride.uncount_attempts(person text) FROM PUBLIC;
GRANT ALL ON FUNCTION keystride.uncount_attempts(person text) TO keystride_app;
GRANT SELECT ON TABLE keystride.usage_event TO keystride_app;
GRANT SELECT,INSERT ON TABLE keystride.usage_event TO keystride_system;
REVOKE ALL ON FUNCTION keystride.usage_hash(e keystride.usage_event, previous bytea) FROM PUBLIC;
REVOKE ALL ON FUNCTION keystride.user_figures(organization uuid, since timestamp with time zone[], before timestamp with time zone[], signs integer[]) FROM PUBLIC;
GRANT ALL ON FUNCTION keystride.user_figures(organization uuid, since timestamp with time zone[], before timestamp with time zone[], signs integer[]) TO keystride_app;
GRANT ALL ON FUNCTION keystride.user_figures(organization uuid, since timestamp with time zone[], before timestamp with time zone[], signs integer[]) TO keystride_system;
REVOKE ALL ON FUNCTION keystride.uuid_from(at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION keystride.uuid_from(at timestamp with time zone) TO keystride_app;
GRANT ALL ON FUNCTION keystride.uuid_from(at timestamp with time zone) TO keystride_system;
GRANT SELECT,INSERT ON TABLE keystride.admin_action TO keystride_app;
GRANT SELECT,INSERT,DELETE ON TABLE keystride.admin_action TO keystride_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.alert_attempt TO keystride_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.alert_attempt TO keystride_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.alert_channel TO keystride_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.alert_channel TO keystride_system;
GRANT SELECT,UPDATE ON TABLE keystride.alert_delivery TO keystride_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.alert_delivery TO keystride_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.alerting TO keystride_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.alerting TO keystride_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.api_key TO keystride_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.api_key TO keystride_system;
GRANT SELECT ON TABLE keystride.api_usage TO keystride_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.api_usage TO keystride_system;
GRANT SELECT ON TABLE keystride.attempt_count TO keystride_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.attempt_count TO keystride_system;
GRANT SELECT ON TABLE keystride.attempt_counted TO keystride_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.attempt_counted TO keystride_system;
GRANT SELECT ON TABLE keystride.attempt_day TO keystride_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.attempt_day TO keystride_system;
GRANT SELECT ON TABLE keystride.attempt_recent TO keystride_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.attempt_recent TO keystride_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.authentication TO keystride_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.authentication TO keystride_system;
GRANT SELECT,INSERT ON TABLE keystride.erasure TO keystride_app;
GRANT SELECT,INSERT ON TABLE keystride.erasure TO keystride_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.export_archive TO keystride_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.export_archive TO keystride_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.export_piece TO keystride_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.export_piece TO keystride_system;
GRANT SELECT ON TABLE keystride.headcount TO keystride_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.headcount TO keystride_system;
GRANT SELECT ON TABLE keystride.headcount_change TO keystride_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.headcount_change TO keystride_system;
GRANT SELECT ON TABLE keystride.lock_tombstone TO keystride_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.lock_tombstone TO keystride_system;
GRANT SELECT,DELETE,UPDATE ON TABLE keystride.notification TO keystride_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.notification TO keystride_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.one_time_password TO keystride_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.one_time_password TO keystride_system;
GRANT SELECT,INSERT,UPDATE ON TABLE keystride.organization TO keystride_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.organization TO keystride_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.policy TO keystride_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.policy TO keystride_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.profile_link TO keystride_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.profile_link TO keystride_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.reference_pattern TO keystride_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.reference_pattern TO keystride_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.refused_pattern TO keystride_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.refused_pattern TO keystride_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.replay_mark TO keystride_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.replay_mark TO keystride_system;
GRANT SELECT ON TABLE keystride.request_log TO keystride_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.request_log TO keystride_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.session TO keystride_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.session TO keystride_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.sso_artifact TO keystride_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.sso_artifact TO keystride_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.sso_key TO keystride_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.sso_key TO keystride_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.typing_word TO keystride_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.typing_word TO keystride_system;
GRANT SELECT ON TABLE keystride.user_total TO keystride_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.user_total TO keystride_system;
GRANT SELECT ON TABLE keystride.user_totaled TO keystride_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE keystride.user_totaled TO keystride_system;
