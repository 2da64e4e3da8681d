set local role keystride_system;

-- Subtracts a person's attempts from the counts that may name a person, before the attempts are deleted: the client names the
-- application, and a place or a network may belong to one person alone. Counts of attempts, outcomes, countries, browsers and
-- systems identify nobody and stay.
create or replace function keystride.uncount_attempts(person text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  organization uuid := keystride.current_organization();
  naming constant text[] := array['application', 'place', 'asn'];
  counted record;
  gone keystride.attempt_count[];
begin
  -- The lock makes counting skip the organization until the commit. Concurrent deletions do not wait for each other here.
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
  -- Deletions are serialized from here on, because two with counts in common could deadlock.
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
revoke execute on function keystride.uncount_attempts from public;
grant execute on function keystride.uncount_attempts to keystride_app;
