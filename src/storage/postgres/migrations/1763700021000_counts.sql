-- What the dashboard reads fast: attempts counted by hour, who is blocked, and the indexes of its lists.

grant execute on function keystride.uuid_from(timestamptz) to keystride_app;

-- Attempts of a closed hour by what they are counted by: `all`, `method`, `reason`, and the facets of the attempts. Under
-- `users`, n is how many people signed in.
create table keystride.attempt_count (
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
);
call keystride.guard('keystride.attempt_count');
revoke insert, update, delete on keystride.attempt_count from keystride_app;

-- Hours before this are counted.
create table keystride.attempt_counted (
  organization_id uuid primary key references keystride.organization,
  until timestamptz not null
);
call keystride.guard('keystride.attempt_counted');
revoke insert, update, delete on keystride.attempt_counted from keystride_app;

-- When a UUIDv7 was made: its first 48 bits.
create function keystride.time_of(id uuid) returns timestamptz
language sql immutable parallel safe
as $$ select to_timestamp(('x' || replace(left(id::text, 13), '-', ''))::bit(48)::bigint / 1000.0) $$;
revoke execute on function keystride.time_of(uuid) from public;
grant execute on function keystride.time_of(uuid) to keystride_app, keystride_system;

-- Counts the oldest closed hours of any organizations that are not counted yet, for half a second at the most; true where
-- more are left. An hour is closed ten minutes after its end: by then every attempt of it has committed. Several processes
-- may call it: an organization that one is at is left out by the others.
create function keystride.count_attempts(now timestamptz default clock_timestamp()) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  closed timestamptz := date_trunc('hour', now - interval '10 minutes', 'UTC');
  give_up timestamptz := clock_timestamp() + interval '500 milliseconds';
  org record;
  next_id uuid;
  hour timestamptz;
begin
  insert into keystride.attempt_counted (organization_id, until)
    select o.organization_id, '-infinity' from keystride.organization o on conflict do nothing;
  for org in
    select c.organization_id, c.until from keystride.attempt_counted c where c.until < closed
      order by c.organization_id for update skip locked
  loop
    hour := org.until;
    loop
      if clock_timestamp() > give_up then return true; end if;
      select a.id into next_id from keystride.authentication a
        where a.organization_id = org.organization_id
          and a.id >= case when hour = '-infinity' then '00000000-0000-0000-0000-000000000000' else keystride.uuid_from(hour) end
          and a.id < keystride.uuid_from(closed)
        order by a.id limit 1;
      hour := coalesce(date_trunc('hour', keystride.time_of(next_id), 'UTC'), closed);
      exit when hour >= closed;
      insert into keystride.attempt_count
        select a.organization_id, f.facet, hour, f.value, count(*), count(*) filter (where a.authenticated),
          count(*) filter (where a.recommended_action = 'challenge'), count(*) filter (where a.recommended_action = 'block'),
          sum(a.confidence), coalesce(sum(a.confidence_biometrics) filter (where a.method = 'biometric'), 0),
          count(*) filter (where a.method = 'biometric'), coalesce(sum(a.confidence_context), 0), count(a.confidence_context)
        from keystride.authentication a, jsonb_each_text(coalesce(a.facets, '{}')
          || jsonb_build_object('all', '', 'method', a.method, 'reason', a.reason)) f (facet, value)
        where a.organization_id = org.organization_id
          and a.id >= keystride.uuid_from(hour) and a.id < keystride.uuid_from(hour + interval '1 hour')
        group by 1, 2, 4;
      insert into keystride.attempt_count
        select a.organization_id, 'users', hour, '', count(distinct a.member_id), 0, 0, 0, 0, 0, 0, 0, 0
        from keystride.authentication a
        where a.organization_id = org.organization_id and a.authenticated
          and a.id >= keystride.uuid_from(hour) and a.id < keystride.uuid_from(hour + interval '1 hour')
        group by 1;
      hour := hour + interval '1 hour';
      update keystride.attempt_counted c set until = hour where c.organization_id = org.organization_id;
    end loop;
    update keystride.attempt_counted c set until = closed where c.organization_id = org.organization_id;
  end loop;
  return false;
end
$$;

-- Attempts of the organization in whose name the caller acts, by one facet: whole counted hours from their counts, the
-- rest (the edges, and what is not counted yet) from the attempts themselves. So a window is exact to the millisecond. A
-- bucket comes once from either; null is one bucket of the whole window.
create function keystride.counts(wanted text, since timestamptz, before timestamptz, bucket text)
returns table (at timestamptz, value text, n bigint, n_authenticated bigint, n_challenged bigint, n_blocked bigint,
  sum_confidence float8, sum_biometrics float8, n_biometrics bigint, sum_context float8, n_context bigint)
language plpgsql stable
as $$
declare
  organization uuid := keystride.current_organization();
  first_whole timestamptz := date_trunc('hour', since + interval '1 hour' - interval '1 microsecond', 'UTC');
  last_whole timestamptz;
begin
  select least(date_trunc('hour', before, 'UTC'), c.until) into last_whole
    from keystride.attempt_counted c where c.organization_id = organization;
  if last_whole is null or last_whole < first_whole then
    first_whole := least(first_whole, before);
    last_whole := first_whole;
  end if;
  return query
    select case when bucket is null then since else date_trunc(bucket, c.hour, 'UTC') end, c.value, sum(c.n),
      sum(c.n_authenticated), sum(c.n_challenged), sum(c.n_blocked), sum(c.sum_confidence), sum(c.sum_biometrics),
      sum(c.n_biometrics), sum(c.sum_context), sum(c.n_context)
    from keystride.attempt_count c
    where c.organization_id = organization and c.facet = wanted and c.hour >= first_whole and c.hour < last_whole
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

-- Who is blocked, and how long: the later of the two locks; infinity where only a reset or a new code opens. A stored
-- column, because an index on an expression over the counters would make every attempt rewrite every index of the row.
create function keystride.blocked_until(attempts jsonb) returns timestamptz
language sql immutable parallel safe
as $$
  select case
    when (attempts #>> '{biometric,off}')::boolean or (attempts #>> '{security_code,off}')::boolean then 'infinity'::timestamptz
    when greatest((attempts #>> '{biometric,closedUntil}')::float8, (attempts #>> '{security_code,closedUntil}')::float8) > 0
      then to_timestamp(greatest((attempts #>> '{biometric,closedUntil}')::float8,
        (attempts #>> '{security_code,closedUntil}')::float8) / 1000)
  end
$$;
alter table keystride.member add column blocked_until timestamptz
  generated always as (keystride.blocked_until(attempts)) stored;
create index member_blocked on keystride.member (organization_id, blocked_until desc, id)
  where blocked_until is not null and archived_at is null;

create index authentication_blocked on keystride.authentication (organization_id, id) include (account_id)
  where recommended_action = 'block';
-- The table of users reads every attempt of its window: from here, without the rows.
create index authentication_figures on keystride.authentication (organization_id, id)
  include (account_id, created_at, method, authenticated, recommended_action, confidence, confidence_biometrics);
create index account_created on keystride.account (organization_id, created_at);
create index account_grouped on keystride.account (organization_id) where groups <> '[]';
create index reference_pattern_created on keystride.reference_pattern (organization_id, created_at);
create index reference_pattern_id on keystride.reference_pattern (organization_id, id);

revoke execute on function keystride.count_attempts(timestamptz) from public;
revoke execute on function keystride.counts(text, timestamptz, timestamptz, text) from public;
revoke execute on function keystride.blocked_until(jsonb) from public;
grant execute on function keystride.counts(text, timestamptz, timestamptz, text) to keystride_app;
grant execute on function keystride.blocked_until(jsonb) to keystride_app, keystride_system;
grant execute on function keystride.uuid_from(timestamptz) to keystride_system;
grant create on schema keystride to keystride_system;
alter function keystride.count_attempts(timestamptz) owner to keystride_system;
revoke create on schema keystride from keystride_system;
do $$
begin
  set local role keystride_system;
  execute format('grant execute on function keystride.count_attempts(timestamptz) to %I', session_user);
  reset role;
end
$$;
