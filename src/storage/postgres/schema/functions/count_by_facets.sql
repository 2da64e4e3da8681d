set local role keystride_system;

-- Attempts of a window per facet, in the columns of attempt_count without organization and hour.
create or replace function keystride.count_by_facets(organization uuid, since timestamptz, before timestamptz)
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
revoke execute on function keystride.count_by_facets from public;
