set local role keystride_app;

-- Creates sessions for concurrent bootstraps in one statement. Element i of each array is one session. Sets the organization before
-- each, so that row level security applies. The commit does not wait for the disk (src/storage/postgres/attempt/session.ts).
create or replace function keystride.mint_sessions(
  organizations uuid[], of_users text[], sha256s bytea[], of_members text[], member_versions bigint[], words_issued text[],
  lifetimes_ms float8[]
) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off
as $$
begin
  perform set_config('synchronous_commit', 'off', true);
  for i in 1 .. cardinality(organizations) loop
    perform set_config('keystride.organization_id', organizations[i]::text, true);
    insert into keystride.session (organization_id, user_ref, sha256, member_ref, member_version, words, expires_at)
      values (organizations[i], of_users[i], sha256s[i], of_members[i], member_versions[i], words_issued[i],
        clock_timestamp() + lifetimes_ms[i] * interval '1 millisecond');
  end loop;
end
$$;
revoke execute on function keystride.mint_sessions from public, keystride_app;
grant execute on function keystride.mint_sessions to session_user;
