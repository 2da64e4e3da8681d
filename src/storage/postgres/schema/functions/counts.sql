-- Attempts of the caller's organization by one facet. Whole days and hours are read from their counts, where the buckets allow
-- it. The rest, which is the edges and everything that is not counted yet, is read from the attempts themselves, so a window is
-- exact to the millisecond. Counts of open hours are included. A bucket may be in several rows, which the caller adds up. A
-- null `bucket` makes the whole window one bucket.
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
  -- Open hours are not used if none of this window is counted, or for `users`, which cannot be added up.
  if last_open is null or last_open <= first_open or wanted = 'users' then
    first_open := last_whole;
    last_open := last_whole;
  end if;
  first_day := date_trunc('day', first_whole + interval '24 hours' - interval '1 microsecond', 'UTC');
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
revoke execute on function keystride.counts from public;
grant execute on function keystride.counts to keystride_app;
