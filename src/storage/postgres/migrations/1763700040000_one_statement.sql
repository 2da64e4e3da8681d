-- record_attempts in one statement: each one costs its start, of which a batch of five attempts felt six. Two attempts of
-- one batch that resemble each other are kept apart by the caller (src/storage/postgres/group-commit.ts).
grant create on schema keystride to keystride_system;
set local role keystride_system;
create or replace function keystride.record_attempts(attempts jsonb, bands_shared int, memory_days int) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp
  -- Planned once, maybe on empty tables: each plan anew costs more than the work, and none but look-ups in an index stays
  -- right as tables grow.
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
  outcomes jsonb;
begin
  with attempt as materialized (
    select *, row_number() over (partition by organization_id, member_id order by ordinal) as turn
    from jsonb_populate_recordset(null::keystride.attempt_to_record, attempts)),
  -- Members before marks, each in one order for everybody: batches of several processes cannot deadlock. A row that another
  -- transaction held is as that one left it. The account is asked for as well, so that both indexes that a planner without
  -- figures may take lead to a few rows: by the organization alone one of them leads to all its members.
  held as materialized (
    select m.organization_id, m.id, m.attempts_version, m.generation, m.row_version from keystride.member m
    where (m.organization_id, m.account_id, m.id) in (select a.organization_id, a.account_id, a.member_id from attempt a)
    order by m.organization_id, m.id for no key update),
  -- A mark that resembles a known one is a replay, as claim_mark has it.
  judged as materialized (
    select a.*, case
        when h.id is null then 'absent'
        when h.attempts_version <> a.attempts_version or h.generation <> a.generation
          or h.row_version <> coalesce(a.row_version, h.row_version) or a.turn > 1 then 'conflict'
        when a.exact is not null and exists (
          select 1 from (select * from keystride.replay_mark where bands && a.bands offset 0) m
          where m.organization_id = a.organization_id and m.seen_at > a.created_at - make_interval(days => memory_days)
            and (select count(distinct band) from unnest(m.bands) band where band = any (a.bands)) >= bands_shared)
          then 'replay'
        else 'recorded' end as so_far
    from attempt a left join held h on h.organization_id = a.organization_id and h.id = a.member_id),
  claimed as (
    insert into keystride.replay_mark as m (organization_id, exact, bands, member_id, seen_at)
      select a.organization_id, a.exact, a.bands, a.member_id, a.created_at from judged a
      where a.so_far = 'recorded' and a.exact is not null order by a.organization_id, a.exact
      on conflict (organization_id, exact) do update set bands = excluded.bands, member_id = excluded.member_id,
        seen_at = excluded.seen_at where m.seen_at <= excluded.seen_at - make_interval(days => memory_days)
      returning m.organization_id, m.exact),
  -- Another process may have claimed the very mark since: then it is a replay, too.
  told as materialized (
    select a.*, case when a.so_far = 'recorded' and a.exact is not null
        and not exists (select 1 from claimed c where c.organization_id = a.organization_id and c.exact = a.exact)
      then 'replay' else a.so_far end as outcome
    from judged a),
  -- A temporary code is used up by the commit that records its success: of two right attempts at once the later finds its
  -- counters moved, reads again and sees it used.
  moved as (
    update keystride.member m set attempts = a.counters, attempts_version = m.attempts_version + 1,
        row_version = m.row_version + 1, habits = coalesce(a.habits, m.habits),
        last_success_at = case when a.authenticated then a.created_at else m.last_success_at end,
        typed_at = case when a.authenticated and a.method = 'biometric' then a.created_at else m.typed_at end,
        code_used = m.code_used or (a.authenticated and a.method = 'security_code' and m.code_temporary)
      from told a where a.outcome = 'recorded'
        and m.organization_id = a.organization_id and m.account_id = a.account_id and m.id = a.member_id),
  written as (
    insert into keystride.authentication (organization_id, id, created_at, account_id, member_id, user_ref, member_ref,
        account_type, session_id, method, authenticated, recommended_action, reason, confidence, confidence_biometrics,
        confidence_context, policy_id, n_patterns_ref, n_patterns_ref_used, pattern_id, sealed, facts,
        facets, events)
      select a.organization_id, a.id, a.created_at, a.account_id, a.member_id, a.user_ref, a.member_ref, a.account_type,
        a.session_id, a.method, a.authenticated, a.recommended_action, a.reason, a.confidence, a.confidence_biometrics,
        a.confidence_context, a.policy_id, a.n_patterns_ref, a.n_patterns_ref_used, a.pattern_id, decode(a.sealed, 'base64'),
        a.facts, a.facets, a.events
      from told a where a.outcome = 'recorded' order by a.ordinal)
  select jsonb_agg(a.outcome order by a.ordinal) into outcomes from told a;
  return outcomes;
end
$$;
reset role;
revoke create on schema keystride from keystride_system;

-- An update that moves the version itself needs no trigger to do so.
drop trigger move_row_version on keystride.member;
create trigger move_row_version before update on keystride.member
  for each row when (new.row_version = old.row_version) execute function keystride.move_row_version();

-- As before, but not in SQL, whose text was parsed again with every update of a member.
create or replace function keystride.blocked_until(attempts jsonb) returns timestamptz
language plpgsql immutable parallel safe
as $$
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
