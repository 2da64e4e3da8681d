-- Judged attempts in monthly partitions, the replay index, and the group commit that writes both.

create table keystride.authentication (
  organization_id uuid not null,
  id uuid not null, -- UUIDv7: its first 48 bits are the time, so the partitions are months
  created_at timestamptz not null,
  account_id uuid not null,
  member_id uuid not null,
  user_ref text not null,
  member_ref text not null,
  account_type text not null,
  session_id text not null,
  method text not null,
  authenticated boolean not null,
  recommended_action text not null,
  reason text not null,
  confidence float8 not null,
  confidence_biometrics float8 not null,
  confidence_context float8,
  policy_id uuid not null,
  n_patterns_ref int not null,
  n_patterns_ref_used int not null,
  pattern_id uuid,
  sealed bytea,
  primary key (organization_id, id)
) partition by range (id);
alter table keystride.authentication alter column sealed set storage external;
-- No foreign key to member: record_attempts holds the member's lock, and account removal deletes both.
create index authentication_user on keystride.authentication (organization_id, user_ref, id);
create table keystride.authentication_default partition of keystride.authentication default;
call keystride.guard('keystride.authentication');
-- A partition asked by its own name follows its own policies: it has none, so it shows nothing.
alter table keystride.authentication_default enable row level security;
alter table keystride.authentication_default force row level security;

create function keystride.uuid_from(at timestamptz) returns uuid
language sql immutable parallel safe
as $$
  select (lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

-- Makes the partitions of this month and the `ahead` next; returns how many were new. A month whose rows already fell
-- into the default partition stays there.
create function keystride.ensure_partitions(ahead int, today timestamptz default now()) returns int
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
      made := made + 1;
    exception when check_violation then
      raise warning 'keystride: rows of % stay in the default partition', name;
    end;
  end loop;
  return made;
end
$$;
revoke execute on function keystride.uuid_from(timestamptz) from public;
revoke execute on function keystride.ensure_partitions(int, timestamptz) from public;
grant execute on function keystride.ensure_partitions(int, timestamptz) to keystride_system;

create table keystride.replay_mark (
  organization_id uuid not null,
  exact bytea not null check (octet_length(exact) = 16),
  bands bigint[] not null,
  member_id uuid not null, -- whose typing it was: erased with the member
  seen_at timestamptz not null,
  primary key (organization_id, exact)
);
-- Without the organization, which GIN cannot hold without an extension: bands are keyed per organization, so equal
-- bands of two organizations are chance. No pending list: each lookup would read it from end to end.
create index replay_mark_bands on keystride.replay_mark using gin (bands) with (fastupdate = off);
create index replay_mark_member on keystride.replay_mark (organization_id, member_id);
create index replay_mark_seen on keystride.replay_mark using brin (seen_at);
call keystride.guard('keystride.replay_mark');

-- True where the mark was new and is now stored. Of parallel equal marks one is told true: the others wait for its commit.
-- The lookup must go through the index on the bands, and plans are kept from when the table was empty: so the inner query
-- has no other condition (offset 0 is a fence), and no other plan. Without this the organization's marks are read one by
-- one: 9,000 of them cost 4 ms an attempt.
create function keystride.claim_mark(
  organization uuid, mark bytea, mark_bands bigint[], owner_id uuid, at timestamptz,
  reject boolean, bands_shared int, memory_days int
) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off
as $$
declare
  oldest timestamptz := at - make_interval(days => memory_days);
begin
  if reject then
    perform 1 from (select * from keystride.replay_mark where bands && mark_bands offset 0) m
      where m.organization_id = organization and m.seen_at > oldest
        and (select count(distinct band) from unnest(m.bands) band where band = any (mark_bands)) >= bands_shared
      limit 1;
    if found then return false; end if;
  end if;
  insert into keystride.replay_mark as m (organization_id, exact, bands, member_id, seen_at)
    values (organization, mark, mark_bands, owner_id, at)
    on conflict (organization_id, exact) do update set bands = excluded.bands, member_id = excluded.member_id,
      seen_at = excluded.seen_at where m.seen_at <= oldest;
  return found or not reject;
end
$$;

-- The same for the organization in whose name the caller acts.
create function keystride.claim_own_mark(
  mark bytea, mark_bands bigint[], owner_id uuid, at timestamptz, reject boolean, bands_shared int, memory_days int
) returns boolean
language sql security definer set search_path = pg_catalog, pg_temp
as $$
  select keystride.claim_mark(keystride.current_organization(), mark, mark_bands, owner_id, at, reject, bands_shared,
    memory_days)
$$;

-- Forgets marks past the memory, of all organizations; returns how many.
create function keystride.forget_marks(before timestamptz) returns bigint
language sql security definer set search_path = pg_catalog, pg_temp
as $$
  with gone as (delete from keystride.replay_mark where seen_at < before returning 1) select count(*) from gone
$$;

-- Writes a batch of attempts of any organizations and tells what became of each, in the order given. Locks are taken in
-- one order by everybody, members before marks, so batches of several processes cannot deadlock.
create function keystride.record_attempts(attempts jsonb, bands_shared int, memory_days int) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  outcomes text[] := array_fill('absent'::text, array[jsonb_array_length(attempts)]);
  lock record;
  a record;
  held record;
begin
  for lock in
    select distinct (x ->> 'organization_id')::uuid as organization_id, (x ->> 'member_id')::uuid as member_id
    from jsonb_array_elements(attempts) x order by 1, 2
  loop
    perform 1 from keystride.member m
      where m.organization_id = lock.organization_id and m.id = lock.member_id for no key update;
  end loop;
  for a in
    select * from jsonb_to_recordset(attempts) as x (
      ordinal int, organization_id uuid, id uuid, created_at timestamptz, account_id uuid, member_id uuid,
      user_ref text, member_ref text, account_type text, session_id text, method text, authenticated boolean,
      recommended_action text, reason text, confidence float8, confidence_biometrics float8,
      confidence_context float8, policy_id uuid, n_patterns_ref int, n_patterns_ref_used int, pattern_id uuid,
      sealed text, counters jsonb, attempts_version bigint, generation int, exact bytea, bands bigint[])
    order by exact nulls first, ordinal
  loop
    select m.attempts_version, m.generation into held from keystride.member m
      where m.organization_id = a.organization_id and m.id = a.member_id;
    continue when not found;
    if held.attempts_version <> a.attempts_version or held.generation <> a.generation then
      outcomes[a.ordinal] := 'conflict';
      continue;
    end if;
    if a.exact is not null and not keystride.claim_mark(a.organization_id, a.exact, a.bands, a.member_id,
      a.created_at, true, bands_shared, memory_days) then
      outcomes[a.ordinal] := 'replay';
      continue;
    end if;
    update keystride.member m set attempts = a.counters, attempts_version = m.attempts_version + 1,
        last_success_at = case when a.authenticated then a.created_at else m.last_success_at end
      where m.organization_id = a.organization_id and m.id = a.member_id;
    insert into keystride.authentication (organization_id, id, created_at, account_id, member_id, user_ref, member_ref,
        account_type, session_id, method, authenticated, recommended_action, reason, confidence,
        confidence_biometrics, confidence_context, policy_id, n_patterns_ref, n_patterns_ref_used, pattern_id, sealed)
      values (a.organization_id, a.id, a.created_at, a.account_id, a.member_id, a.user_ref, a.member_ref,
        a.account_type, a.session_id, a.method, a.authenticated, a.recommended_action, a.reason, a.confidence,
        a.confidence_biometrics, a.confidence_context, a.policy_id, a.n_patterns_ref, a.n_patterns_ref_used,
        a.pattern_id, decode(a.sealed, 'base64'));
    outcomes[a.ordinal] := 'recorded';
  end loop;
  return to_jsonb(outcomes);
end
$$;

revoke execute on function keystride.claim_mark(uuid, bytea, bigint[], uuid, timestamptz, boolean, int, int) from public;
revoke execute on function keystride.claim_own_mark(bytea, bigint[], uuid, timestamptz, boolean, int, int) from public;
revoke execute on function keystride.forget_marks(timestamptz) from public;
revoke execute on function keystride.record_attempts(jsonb, int, int) from public;
grant execute on function keystride.claim_own_mark(bytea, bigint[], uuid, timestamptz, boolean, int, int) to keystride_app;
grant create on schema keystride to keystride_system;
alter function keystride.claim_mark(uuid, bytea, bigint[], uuid, timestamptz, boolean, int, int) owner to keystride_system;
alter function keystride.claim_own_mark(bytea, bigint[], uuid, timestamptz, boolean, int, int) owner to keystride_system;
alter function keystride.forget_marks(timestamptz) owner to keystride_system;
alter function keystride.record_attempts(jsonb, int, int) owner to keystride_system;
revoke create on schema keystride from keystride_system;
do $$
begin
  set local role keystride_system;
  execute format('grant execute on function keystride.record_attempts(jsonb, int, int) to %I', session_user);
  reset role;
end
$$;
