set local role keystride_system;

-- Records a batch of attempts, which may be of several organizations. Element i of each array is attempt i. `bands` has the same
-- number of elements for each attempt, and the values of an attempt without a mark do not matter. `cleareds` lists in hex the
-- known marks whose patterns were compared with the attempt's. Each text has one part for each attempt, separated by U+001F and
-- empty for null: `sealed`, `set_entries` and `set_bases` in base64, `facts` and `habits` as stored, the others in JSON. An entry is
-- added to the member's comparison set, a base replaces the set. Returns the outcomes by i, from 1, and
-- none for an attempt whose member does not exist. The batch is one statement, because each statement has a fixed cost, which a
-- batch of five would pay six times. No two attempts of a batch resemble each other, which the caller makes sure of
-- (src/storage/postgres/attempt/group-commit.ts).
create or replace function keystride.record_attempts(
  organization_ids uuid[], account_ids uuid[], member_ids uuid[], attempts_versions bigint[], generations int[],
  row_versions bigint[], exacts bytea[], bands bigint[], ids uuid[], created_ms bigint[],
  user_refs text[], member_refs text[], account_types text[], session_ids text[], methods text[], authenticated boolean[],
  recommended_actions text[], reasons text[], confidences float8[], confidences_biometrics float8[],
  confidences_context float8[], policy_ids uuid[], n_patterns_ref int[], n_patterns_ref_used int[], pattern_ids uuid[],
  cleareds text[], sealed text, facts text, tags text, facets text, events text, counters text, habits text,
  memory_days int,
  -- A process of the version before, which is still running during an upgrade, does not give these.
  sets_adaptive boolean[] default null, sets_oldest_ms bigint[] default null, set_entries text default null,
  set_bases text default null
) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp
  -- The plan is generic, because planning each call costs more than the work. It may be made on empty tables, so it has only
  -- index lookups, which stay fast as tables grow. A plan that still needs a sequential scan counts as expensive, and jit would
  -- compile it for seconds.
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
  bands_each constant int := cardinality(bands) / greatest(cardinality(ids), 1);
  sealed_of constant text[] := string_to_array(sealed, chr(31), '');
  facts_of constant text[] := string_to_array(facts, chr(31), '');
  entry_of constant text[] := string_to_array(set_entries, chr(31), '');
  base_of constant text[] := string_to_array(set_bases, chr(31), '');
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
  -- Members are locked before marks, both in one order, so that batches of several processes cannot deadlock. After a wait for
  -- a row lock the row is the committed one. The join includes the account: without statistics the planner may choose either
  -- index, and with one of them it reads all members of the organization unless the account is given.
  locked_member as materialized (
    select a.*, m.attempts_version, m.generation, m.row_version from attempt a
    join keystride.member m on m.organization_id = a.organization_id and m.account_id = a.account_id and m.id = a.member_id
    order by m.organization_id, m.id for no key update of m),
  -- An attempt is a replay if its mark resembles a known one whose pattern was not compared, as in claim_mark. `offset 0` is an
  -- optimization fence, so that the index on the bands is the only plan.
  checked as materialized (
    select l.*, case
        when l.attempts_version <> attempts_versions[l.i] or l.generation <> generations[l.i]
          or l.row_version <> coalesce(row_versions[l.i], l.row_version)
          -- Only the first of two attempts of one member can be recorded.
          or array_position(member_ids, l.member_id) < l.i then 'conflict'
        when l.exact is not null and exists (
          select from (select * from keystride.replay_mark m
            where m.bands && l.bands offset 0) k
          where k.organization_id = l.organization_id and k.seen_at > l.at - make_interval(hours => 24 * memory_days)
            and keystride.resembles(k.member_id, k.bands, l.member_id, l.bands)
            and (cleareds[l.i] is null or position(encode(k.exact, 'hex') in cleareds[l.i]) = 0))
          then 'replay'
        else 'recorded' end as outcome
    from locked_member l),
  claimed_mark as (
    insert into keystride.replay_mark as m (organization_id, exact, bands, member_id, seen_at, pattern_id, generation)
      select c.organization_id, c.exact, c.bands, c.member_id, c.at, pattern_ids[c.i], generations[c.i] from checked c
      where c.outcome = 'recorded' and c.exact is not null order by c.organization_id, c.exact
      on conflict (organization_id, exact) do update set bands = excluded.bands, member_id = excluded.member_id,
        seen_at = excluded.seen_at, pattern_id = excluded.pattern_id, generation = excluded.generation
        where m.seen_at <= excluded.seen_at - make_interval(hours => 24 * memory_days)
      returning m.organization_id, m.exact),
  -- An attempt is a replay too if another process has claimed the same mark concurrently.
  decided as materialized (
    select c.i, c.organization_id, c.account_id, c.member_id, c.at, case when c.outcome = 'recorded' and c.exact is not null
        and not exists (select from claimed_mark m where m.organization_id = c.organization_id and m.exact = c.exact)
      then 'replay' else c.outcome end as outcome
    from checked c),
  -- The commit of a success uses up a temporary code. If two right attempts are concurrent, the later one conflicts, reads the
  -- member again and finds the code used.
  updated_member as (
    update keystride.member m set attempts = counters_of[d.i]::jsonb, attempts_version = m.attempts_version + 1,
        row_version = m.row_version + 1, habits = coalesce(habits_of[d.i], m.habits),
        last_success_at = case when authenticated[d.i] then d.at else m.last_success_at end,
        typed_at = case when authenticated[d.i] and methods[d.i] = 'biometric' then d.at else m.typed_at end,
        code_used = m.code_used or (authenticated[d.i] and methods[d.i] = 'security_code' and m.code_temporary)
      from decided d where d.outcome = 'recorded'
        and m.organization_id = d.organization_id and m.account_id = d.account_id and m.id = d.member_id),
  -- The set stays up to date, or as it is if it was out of date before. A security code is no pattern, and adds none.
  added_to_set as (
    update keystride.comparison_set s set attempts_version = s.attempts_version + 1,
        tail = s.tail || coalesce(decode(entry_of[d.i], 'base64'), '')
      from decided d where d.outcome = 'recorded' and base_of[d.i] is null
        and (entry_of[d.i] is not null or pattern_ids[d.i] is null)
        and s.organization_id = d.organization_id and s.member_id = d.member_id
        and s.attempts_version = attempts_versions[d.i] and s.generation = generations[d.i]
        and octet_length(s.tail) < 4000),
  written_attempt as (
    insert into keystride.authentication (organization_id, id, created_at, account_id, member_id, user_ref, member_ref,
        account_type, session_id, method, authenticated, recommended_action, reason, confidence, confidence_biometrics,
        confidence_context, policy_id, n_patterns_ref, n_patterns_ref_used, pattern_id, sealed, facts, tags, facets, events)
      select d.organization_id, ids[d.i], d.at, d.account_id, d.member_id, user_refs[d.i], member_refs[d.i],
        account_types[d.i], session_ids[d.i], methods[d.i], authenticated[d.i], recommended_actions[d.i], reasons[d.i],
        confidences[d.i], confidences_biometrics[d.i], confidences_context[d.i], policy_ids[d.i], n_patterns_ref[d.i],
        n_patterns_ref_used[d.i], pattern_ids[d.i], decode(sealed_of[d.i], 'base64'), facts_of[d.i], tags_of[d.i]::jsonb,
        facets_of[d.i]::jsonb, events_of[d.i]::jsonb
      from decided d where d.outcome = 'recorded')
  select jsonb_object_agg(d.i, d.outcome) into outcomes from decided d;
  -- A statement of its own, because most batches replace no set. The members stay locked.
  if cardinality(array_remove(base_of, null)) > 0 then
    insert into keystride.comparison_set as s (organization_id, member_id, generation, profile_version, attempts_version,
        has_adaptive, oldest_at, base)
      select organization_ids[i], m.id, m.generation, m.profile_version, m.attempts_version, sets_adaptive[i],
        to_timestamp(sets_oldest_ms[i] / 1000::float8), decode(base_of[i], 'base64')
      from generate_subscripts(base_of, 1) i join keystride.member m
        on m.organization_id = organization_ids[i] and m.account_id = account_ids[i] and m.id = member_ids[i]
      where base_of[i] is not null and outcomes ->> i::text = 'recorded'
      order by m.organization_id, m.id
      on conflict (organization_id, member_id) do update set generation = excluded.generation,
        profile_version = excluded.profile_version, attempts_version = excluded.attempts_version,
        has_adaptive = excluded.has_adaptive, oldest_at = excluded.oldest_at, base = excluded.base, tail = '';
  end if;
  return coalesce(outcomes, '{}');
end
$$;
revoke execute on function keystride.record_attempts from public;
grant execute on function keystride.record_attempts to session_user;
