set local role keystride_system;

-- Attempts of a window per facet, in the columns of attempt_count without organization and hour. Thousands of attempts have the
-- same facets, which are therefore read once for all of them, at a fifth of the cost. The same pass counts confidences of
-- typing by twentieth.
create or replace function keystride.count_by_facets(organization uuid, since timestamptz, before timestamptz)
returns table (facet text, value text, n bigint, n_authenticated bigint, n_challenged bigint, n_blocked bigint,
  sum_confidence float8, sum_biometrics float8, n_biometrics bigint, sum_context float8, n_context bigint)
language sql stable
as $$
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
revoke execute on function keystride.count_by_facets from public;
