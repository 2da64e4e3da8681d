-- record_attempts as before, with what an attempt means to an operator.
grant create on schema keystride to keystride_system;
set local role keystride_system;
alter type keystride.attempt_to_record add attribute events jsonb;
create or replace function keystride.record_attempts(attempts jsonb, bands_shared int, memory_days int) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp
  -- Planned once: each plan anew costs more than the work.
  set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
  batch constant keystride.attempt_to_record[] := array(
    select x from jsonb_populate_recordset(null::keystride.attempt_to_record, attempts) x);
  outcomes text[];
  refused int[];
begin
  -- Members before marks, each in one order for everybody: batches of several processes cannot deadlock.
  perform 1 from keystride.member m
    where (m.organization_id, m.id) in (
      select a.organization_id, a.member_id from unnest(batch) a)
    order by m.organization_id, m.id for no key update;

  select array_agg(case
      when m.id is null then 'absent'
      when m.attempts_version <> a.attempts_version or m.generation <> a.generation
        or m.row_version <> coalesce(a.row_version, m.row_version) or a.turn > 1 then 'conflict'
      else 'recorded' end order by a.ordinal)
    into outcomes
    from (select *, row_number() over (partition by organization_id, member_id order by ordinal) as turn
      from unnest(batch)) a
    left join keystride.member m on m.organization_id = a.organization_id and m.id = a.member_id;

  -- Resembles a mark that is known, as claim_mark looks it up.
  select array_agg(a.ordinal) into refused from unnest(batch) a
    where outcomes[a.ordinal] = 'recorded' and a.exact is not null and exists (
      select 1 from (select * from keystride.replay_mark where bands && a.bands offset 0) m
      where m.organization_id = a.organization_id and m.seen_at > a.created_at - make_interval(days => memory_days)
        and (select count(distinct band) from unnest(m.bands) band where band = any (a.bands)) >= bands_shared);
  for i in 1 .. coalesce(array_length(refused, 1), 0) loop outcomes[refused[i]] := 'replay'; end loop;

  -- Resembles a mark of this batch.
  select array_agg(distinct alike.ordinal) into refused from (
    with band as (
      select distinct a.organization_id, a.ordinal, b from unnest(batch) a, unnest(a.bands) b
      where outcomes[a.ordinal] = 'recorded')
    select later.ordinal from band later
      join band earlier using (organization_id, b)
      where earlier.ordinal < later.ordinal
      group by later.ordinal, earlier.ordinal having count(*) >= bands_shared) alike;
  for i in 1 .. coalesce(array_length(refused, 1), 0) loop outcomes[refused[i]] := 'replay'; end loop;

  -- Another process may have claimed the very mark since: then it is a replay, too.
  with claimed as (
    insert into keystride.replay_mark as m (organization_id, exact, bands, member_id, seen_at)
      select a.organization_id, a.exact, a.bands, a.member_id, a.created_at from unnest(batch) a
      where outcomes[a.ordinal] = 'recorded' and a.exact is not null order by a.organization_id, a.exact
      on conflict (organization_id, exact) do update set bands = excluded.bands, member_id = excluded.member_id,
        seen_at = excluded.seen_at where m.seen_at <= excluded.seen_at - make_interval(days => memory_days)
      returning m.organization_id, m.exact)
  select array_agg(a.ordinal) into refused from unnest(batch) a
    where outcomes[a.ordinal] = 'recorded' and a.exact is not null
      and not exists (select 1 from claimed c where c.organization_id = a.organization_id and c.exact = a.exact);
  for i in 1 .. coalesce(array_length(refused, 1), 0) loop outcomes[refused[i]] := 'replay'; end loop;

  -- A temporary code is used up by the commit that records its success: of two right attempts at once the later finds its
  -- counters moved, reads again and sees it used.
  update keystride.member m set attempts = a.counters, attempts_version = m.attempts_version + 1,
      habits = coalesce(a.habits, m.habits),
      last_success_at = case when a.authenticated then a.created_at else m.last_success_at end,
      typed_at = case when a.authenticated and a.method = 'biometric' then a.created_at else m.typed_at end,
      code_used = m.code_used or (a.authenticated and a.method = 'security_code' and m.code_temporary)
    from unnest(batch) a
    where outcomes[a.ordinal] = 'recorded' and m.organization_id = a.organization_id and m.id = a.member_id;

  insert into keystride.authentication (organization_id, id, created_at, account_id, member_id, user_ref, member_ref,
      account_type, session_id, method, authenticated, recommended_action, reason, confidence, confidence_biometrics,
      confidence_context, policy_id, n_patterns_ref, n_patterns_ref_used, pattern_id, sealed, facts,
      facets, events)
    select a.organization_id, a.id, a.created_at, a.account_id, a.member_id, a.user_ref, a.member_ref, a.account_type,
      a.session_id, a.method, a.authenticated, a.recommended_action, a.reason, a.confidence, a.confidence_biometrics,
      a.confidence_context, a.policy_id, a.n_patterns_ref, a.n_patterns_ref_used, a.pattern_id, decode(a.sealed, 'base64'),
      a.facts, a.facets, a.events
    from unnest(batch) a where outcomes[a.ordinal] = 'recorded' order by a.ordinal;
  return to_jsonb(outcomes);
end
$$;
reset role;
revoke create on schema keystride from keystride_system;
