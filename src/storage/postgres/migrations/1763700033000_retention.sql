-- What administrators did to people, how long everything is kept, and counts without those who were deleted.

create table keystride.admin_action (
  organization_id uuid not null references keystride.organization,
  id uuid not null, -- UUIDv7
  at timestamptz not null,
  account_id uuid not null,
  user_ref text not null,
  member_ref text not null,
  action text not null,
  api_key_id uuid not null,
  request_id uuid not null,
  done_of uuid, -- this row says that the action of that id was carried out
  primary key (organization_id, id)
);
create index admin_action_user on keystride.admin_action (organization_id, user_ref, id) where done_of is null;
create index admin_action_done on keystride.admin_action (organization_id, done_of) where done_of is not null;
create index admin_action_account on keystride.admin_action (organization_id, account_id);
call keystride.guard('keystride.admin_action');
-- Nobody changes what was recorded. It goes with the account, and when its time is over, by the functions below alone.
revoke update, delete on keystride.admin_action from keystride_app;
revoke update on keystride.admin_action from keystride_system;
create trigger append_only before update on keystride.admin_action
  for each row execute function keystride.refuse_change();
create trigger append_only_whole before truncate on keystride.admin_action
  for each statement execute function keystride.refuse_change();

-- In the transaction that deletes an account, behind it: while there is the account, nothing goes.
create function keystride.forget_actions_of(gone uuid) returns void
language sql security definer set search_path = pg_catalog, pg_temp
as $$
  delete from keystride.admin_action where organization_id = keystride.current_organization() and account_id = gone
    and not exists (select 1 from keystride.account a
      where a.organization_id = keystride.current_organization() and a.id = gone)
$$;

-- What the deletion of a person takes off the counts, before their attempts go: an application is named by the client, and
-- a place or a network may be one person's alone. How many attempts there were, how they ended, by which country, browser
-- and system, names nobody and stays.
create function keystride.uncount_attempts(person text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  organization uuid := keystride.current_organization();
  naming constant text[] := array['application', 'place', 'asn'];
  counted record;
  gone keystride.attempt_count[];
begin
  -- The job that counts passes the organization by meanwhile; other deletions need not wait for this one to end.
  select c.until, c.days_until into counted from keystride.attempt_counted c
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
  -- One deletion after the other, or two that share some of the counts could wait for each other.
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

-- Drops the months of authentications that ended `days` ago or earlier, whole; returns how many. Owned by the owner of the
-- tables, like ensure_partitions. It gives up soon where somebody reads them: everybody behind it would wait.
create function keystride.drop_partitions(days int, today timestamptz default now()) returns int
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '150ms'
as $$
declare
  gone int := 0;
  name text;
begin
  perform pg_advisory_xact_lock(7241865325823965);
  for name in
    select c.relname from pg_catalog.pg_inherits i join pg_catalog.pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'keystride.authentication'::regclass and c.relname ~ '^authentication_\d{4}_\d{2}$'
      and (to_date(substr(c.relname, 16), 'YYYY_MM') + interval '1 month') at time zone 'utc'
        <= today - make_interval(days => days)
    order by 1
  loop
    execute format('drop table keystride.%I', name);
    gone := gone + 1;
  end loop;
  return gone;
end
$$;

create index member_invalid_patterns on keystride.member (id) where invalid_patterns <> '{}';

-- Forgets what its stated life is over of, of all organizations, some of each kind at a time; true where more is left.
create function keystride.forget_old(today timestamptz, days int) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  most constant int := 2000;
  kept timestamptz := today - make_interval(days => days);
  n int;
  more boolean := false;
begin
  -- Months that have no partition of their own.
  delete from keystride.authentication where tableoid = 'keystride.authentication_default'::regclass
    and (organization_id, id) in (
      select a.organization_id, a.id from keystride.authentication a
      where a.tableoid = 'keystride.authentication_default'::regclass and a.id < keystride.uuid_from(kept) limit most);
  get diagnostics n = row_count; more := more or n = most;
  delete from keystride.replay_mark where ctid = any (array(
    select ctid from keystride.replay_mark where seen_at < kept limit most));
  get diagnostics n = row_count; more := more or n = most;
  delete from keystride.admin_action where ctid = any (array(
    select ctid from keystride.admin_action where at < kept limit most));
  get diagnostics n = row_count; more := more or n = most;
  delete from keystride.attempt_count where ctid = any (array(
    select ctid from keystride.attempt_count where hour < kept limit most));
  get diagnostics n = row_count; more := more or n = most;
  delete from keystride.attempt_day where ctid = any (array(
    select ctid from keystride.attempt_day where day < kept limit most));
  get diagnostics n = row_count; more := more or n = most;
  delete from keystride.session where ctid = any (array(
    select s.ctid from keystride.organization o, lateral (
      select ctid from keystride.session s where s.organization_id = o.organization_id and s.expires_at < today limit most) s
    limit most));
  get diagnostics n = row_count; more := more or n = most;
  delete from keystride.lock_tombstone where ctid = any (array(
    select ctid from keystride.lock_tombstone where kept_until <= today limit most));
  get diagnostics n = row_count; more := more or n = most;
  -- The newest of a day ago is long past the quarter of an hour that it counts for.
  update keystride.member set invalid_patterns = '{}' where ctid = any (array(
    select ctid from keystride.member where invalid_patterns <> '{}'
      and invalid_patterns[array_upper(invalid_patterns, 1)] < today - interval '1 day' limit most));
  get diagnostics n = row_count; more := more or n = most;
  return more;
end
$$;

-- Organizations with a profile link whose time is over: what a link has collected goes with it, see the store.
create function keystride.organizations_with_ended_links()
returns table (organization_id uuid)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select o.organization_id from keystride.organization o where exists (
    select 1 from keystride.profile_link l where l.organization_id = o.organization_id and l.expires_at < clock_timestamp())
  limit 100
$$;

revoke execute on function keystride.forget_actions_of(uuid) from public;
revoke execute on function keystride.uncount_attempts(text) from public;
revoke execute on function keystride.drop_partitions(int, timestamptz) from public;
revoke execute on function keystride.forget_old(timestamptz, int) from public;
revoke execute on function keystride.organizations_with_ended_links() from public;
grant execute on function keystride.forget_actions_of(uuid) to keystride_app;
grant execute on function keystride.uncount_attempts(text) to keystride_app;
grant execute on function keystride.drop_partitions(int, timestamptz) to keystride_system;
grant create on schema keystride to keystride_system;
alter function keystride.forget_actions_of(uuid) owner to keystride_system;
alter function keystride.uncount_attempts(text) owner to keystride_system;
alter function keystride.forget_old(timestamptz, int) owner to keystride_system;
alter function keystride.organizations_with_ended_links() owner to keystride_system;
revoke create on schema keystride from keystride_system;
do $$
begin
  set local role keystride_system;
  execute format('grant execute on function keystride.forget_old(timestamptz, int) to %I', session_user);
  execute format('grant execute on function keystride.organizations_with_ended_links() to %I', session_user);
  reset role;
end
$$;
