set local role keystride_system;

-- Deletes up to `most` expired sessions, and as many artifacts of single sign-on and counts of one-time passwords. True if more
-- may be left. Rows locked by another transaction are skipped. Rows are deleted by ctid, so that no plan joins the table with
-- itself.
create or replace function keystride.sweep_sessions(most int) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp
  -- Without bitmap scans and sorts, the scan of the index stops after `most` rows.
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off
as $$
declare
  n int;
  more boolean := false;
begin
  delete from keystride.session where ctid = any (array(
    select ctid from keystride.session where expires_at < statement_timestamp() and session.organization_id <> all (array(
      select p.organization_id from keystride.placement p where p.state = 'arriving'))
    order by expires_at limit most for update skip locked));
  get diagnostics n = row_count;
  more := n >= most;
  delete from keystride.sso_artifact where ctid = any (array(
    select ctid from keystride.sso_artifact where expires_at < statement_timestamp() and sso_artifact.organization_id <> all (array(
      select p.organization_id from keystride.placement p where p.state = 'arriving'))
    order by expires_at limit most for update skip locked));
  get diagnostics n = row_count;
  more := more or n >= most;
  -- A day after the last password its counts have no effect.
  delete from keystride.one_time_password where ctid = any (array(
    select ctid from keystride.one_time_password where expires_at < statement_timestamp() - interval '24 hours'
      and one_time_password.organization_id <> all (array(
      select p.organization_id from keystride.placement p where p.state = 'arriving'))
    order by expires_at limit most for update skip locked));
  get diagnostics n = row_count;
  return more or n >= most;
end
$$;
revoke execute on function keystride.sweep_sessions from public;
grant execute on function keystride.sweep_sessions to session_user;
