set local role keystride_system;

-- Writes a batch of attempts of any organizations. Element i of each array is attempt i. `bands` has the same number of
-- elements for each attempt; their values do not matter if it has no mark. `cleareds` lists in hex the known marks whose patterns
-- were compared with the attempt's. Texts hold one part for each attempt, separated by U+001F, empty for null: `sealed` in
-- base64, `facts` and `habits` as stored, the others JSON. Returns the outcomes by i, from 1; none if the member does not exist.
-- One statement, because each statement has a fixed cost that a batch of five would pay six times. Attempts of one batch that
-- resemble each other are kept apart by the caller (src/storage/postgres/attempt/group-commit.ts).
create or replace function keystride.record_attempts(
  organization_ids uuid[], account_ids uuid[], member_ids uuid[], attempts_versions bigint[], generations int[],
  row_versions bigint[], exacts bytea[], bands bigint[], ids uuid[], created_ms bigint[],
  user_refs text[], member_refs text[], account_types text[], session_ids text[], methods text[], authenticated boolean[],
  recommended_actions text[], reasons text[], confidences float8[], confidences_biometrics float8[],
  confidences_context float8[], policy_ids uuid[], n_patterns_ref int[], n_patterns_ref_used int[], pattern_ids uuid[],
  cleareds text[], sealed text, facts text, tags text, facets text, events text, counters text, habits text,
  memory_days int
) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp
  -- A generic plan, perhaps made on empty tables: planning each call costs more than the work, and only index lookups stay
  -- right as tables grow. Without jit: a plan that still needs a sequential scan counts as expensive and would be compiled
  -- for seconds.
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
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
  -- Members before marks, each in one order, so that batches of several processes cannot deadlock. After a wait for a row
  -- lock the row is the committed one. The join includes the account: without statistics the planner may take either index,
  -- and one of them by organization alone reads all its members.
  held as materialized (
    select a.*, m.attempts_version, m.generation, m.row_version from attempt a
    join keystride.member m on m.organization_id = a.organization_id and m.account_id = a.account_id and m.id = a.member_id
    order by m.organization_id, m.id for no key update of m),
  -- A mark that resembles a known one is a replay, as in claim_mark, unless the patterns were compared. `offset 0` is
  -- an optimization fence: the index on the bands is the only plan.
  judged as materialized (
    select h.*, case
        when h.attempts_version <> attempts_versions[h.i] or h.generation <> generations[h.i]
          or h.row_version <> coalesce(row_versions[h.i], h.row_version)
          -- A second attempt of one member conflicts with the first.
          or array_position(member_ids, h.member_id) < h.i then 'conflict'
        when h.exact is not null and exists (
          select from (select * from keystride.replay_mark m
            where m.bands && h.bands offset 0) k
          where k.organization_id = h.organization_id and k.seen_at > h.at - make_interval(hours => 24 * memory_days)
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
        seen_at = excluded.seen_at, pattern_id = excluded.pattern_id, generation = excluded.generation where m.seen_at <= excluded.seen_at - make_interval(hours => 24 * memory_days)
      returning m.organization_id, m.exact),
  -- The same mark, claimed concurrently by another process, is a replay as well.
  told as materialized (
    select j.i, j.organization_id, j.account_id, j.member_id, j.at, case when j.so_far = 'recorded' and j.exact is not null
        and not exists (select from claimed c where c.organization_id = j.organization_id and c.exact = j.exact)
      then 'replay' else j.so_far end as outcome
    from judged j),
  -- The commit of a success uses a temporary code up: of two concurrent right attempts the later conflicts, reads again and
  -- finds the code used.
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
revoke execute on function keystride.record_attempts from public;
grant execute on function keystride.record_attempts to session_user;
