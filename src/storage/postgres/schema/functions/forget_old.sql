set local role keystride_system;

-- Deletes rows of all organizations past their retention, up to 2,000 of each kind. True if more may be left. Sessions are
-- deleted by sweep_sessions.
create or replace function keystride.forget_old(today timestamptz, days int) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  most constant int := 2000;
  kept timestamptz := today - make_interval(hours => 24 * days);
  n int;
  more boolean := false;
begin
  -- The default partition has the months without a partition of their own.
  delete from keystride.authentication where tableoid = 'keystride.authentication_default'::regclass
    and (organization_id, id) in (
      select a.organization_id, a.id from keystride.authentication a
      where a.tableoid = 'keystride.authentication_default'::regclass and a.id < keystride.uuid_from(kept) limit most);
  get diagnostics n = row_count; more := more or n = most;
  delete from keystride.replay_mark where ctid = any (array(
    select ctid from keystride.replay_mark where seen_at < kept limit most));
  get diagnostics n = row_count; more := more or n = most;
  delete from keystride.refused_pattern where ctid = any (array(
    select ctid from keystride.refused_pattern where seen_at < kept limit most));
  get diagnostics n = row_count; more := more or n = most;
  -- Attempts stay until their month has ended, and so do their patterns in a comparison set, which the next sign-in builds again.
  delete from keystride.comparison_set where ctid = any (array(
    select ctid from keystride.comparison_set where oldest_at < kept - make_interval(hours => 24 * 31) limit most));
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
  -- Refused patterns count for 15 minutes, so a list of a day ago is obsolete.
  update keystride.member set invalid_patterns = '{}' where ctid = any (array(
    select ctid from keystride.member where invalid_patterns <> '{}'
      and invalid_patterns[array_upper(invalid_patterns, 1)] < today - interval '24 hours'
      and not exists (select from keystride.placement p where p.organization_id = member.organization_id) limit most));
  get diagnostics n = row_count; more := more or n = most;
  return more;
end
$$;
revoke execute on function keystride.forget_old from public;
grant execute on function keystride.forget_old to session_user;
