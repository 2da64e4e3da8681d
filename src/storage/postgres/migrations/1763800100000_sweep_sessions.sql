-- Expired sessions are deleted by a job, of all organizations, and no longer by each sign-in. The index by expiry does not
-- begin with the organization: a plan made on old statistics took it for a look by user, and read every session there was.
drop index keystride.session_expiry;
create index session_expiry on keystride.session (expires_at);

-- Deletes up to `most` expired sessions; true where more are left. Rows that another transaction holds are left for the
-- next call. By ctid, so that no plan joins the table with itself.
create function keystride.sweep_sessions(most int) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off
  -- Stops at `most` rows of the index, however many have expired.
  set enable_bitmapscan = off set enable_sort = off
as $$
declare
  n int;
begin
  delete from keystride.session where ctid = any (array(
    select ctid from keystride.session where expires_at < statement_timestamp()
    order by expires_at limit most for update skip locked));
  get diagnostics n = row_count;
  return n >= most;
end
$$;
revoke execute on function keystride.sweep_sessions(int) from public;
grant create on schema keystride to keystride_system;
set local role keystride_system;
-- As before, without the sessions.
create or replace function keystride.forget_old(today timestamptz, days int) returns boolean
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
reset role;
alter function keystride.sweep_sessions(int) owner to keystride_system;
revoke create on schema keystride from keystride_system;
do $$
begin
  set local role keystride_system;
  execute format('grant execute on function keystride.sweep_sessions(int) to %I', session_user);
  reset role;
end
$$;
