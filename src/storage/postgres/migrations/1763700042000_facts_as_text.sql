-- What PostgreSQL does to write an attempt down, less. Its facts are text: nobody but the service looks into them, a list of
-- tags apart, which stand by themselves now. The attempts
-- themselves come as json for the same reason: each field is then read once.
alter table keystride.authentication add column tags jsonb; -- k and v each; null where there is none
update keystride.authentication set tags = facts -> 'tags'
  where jsonb_typeof(facts -> 'tags') = 'array' and facts -> 'tags' <> '[]';
alter table keystride.authentication alter column facts type text using facts::text;

-- A row is a little over what PostgreSQL leaves alone, and paid for it by a try to compress each of its parts
-- and a second table. Two rows a page and more go without.
create or replace function keystride.ensure_partitions(ahead int, today timestamptz default now()) returns int
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
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
do $$
declare
  name text;
begin
  for name in select inhrelid::regclass::text from pg_inherits where inhparent = 'keystride.authentication'::regclass loop
    execute format('alter table %s set (toast_tuple_target = 4080)', name);
  end loop;
end
$$;

-- As before, of json.
grant create on schema keystride to keystride_system;
set local role keystride_system;
drop function keystride.record_attempts(jsonb, int, int);
alter type keystride.attempt_to_record alter attribute facts type text, add attribute tags jsonb;
create function keystride.record_attempts(attempts json, bands_shared int, memory_days int) returns jsonb
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
    select * from json_populate_recordset(null::keystride.attempt_to_record, attempts)),
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
          or h.row_version <> coalesce(a.row_version, h.row_version)
          -- The second of one member finds the row moved by the first.
          or exists (select 1 from attempt b where b.member_id = a.member_id and b.ordinal < a.ordinal) then 'conflict'
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
        tags, facets, events)
      select a.organization_id, a.id, a.created_at, a.account_id, a.member_id, a.user_ref, a.member_ref, a.account_type,
        a.session_id, a.method, a.authenticated, a.recommended_action, a.reason, a.confidence, a.confidence_biometrics,
        a.confidence_context, a.policy_id, a.n_patterns_ref, a.n_patterns_ref_used, a.pattern_id, decode(a.sealed, 'base64'),
        a.facts, a.tags, a.facets, a.events
      from told a where a.outcome = 'recorded')
  select jsonb_agg(a.outcome order by a.ordinal) into outcomes from told a;
  return outcomes;
end
$$;
revoke execute on function keystride.record_attempts(json, int, int) from public;
do $$ begin
  execute format('grant execute on function keystride.record_attempts(json, int, int) to %I', session_user);
end $$;
reset role;
revoke create on schema keystride from keystride_system;
