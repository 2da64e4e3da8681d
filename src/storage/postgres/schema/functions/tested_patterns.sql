set local role keystride_app;

-- Patterns of members' attempts and of their refused calls, for concurrent lookups in one statement. Element i of each array is
-- one lookup, and `nth` counts from 1. A lookup returns the newest patterns of each kind: at most limits[i] successes, at most
-- failed_limits[i] failures and as many patterns of refused calls. It leaves out those from before since_ms[i], and the ids in
-- knowns[i], which are separated by commas. Each lookup sets its organization, as in find_people.
create or replace function keystride.tested_patterns(
  organizations uuid[], of_users text[], of_members uuid[], since_ms bigint[], limits int[], knowns text[],
  failed_limits int[]
)
returns table (nth int, pattern_id uuid, tested_at timestamptz, succeeded boolean, sample bytea, refused_generation int)
language plpgsql security definer set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off
as $$
declare
  since uuid;
  known uuid[];
begin
  for i in 1 .. cardinality(organizations) loop
    perform set_config('keystride.organization_id', organizations[i]::text, true);
    since := keystride.uuid_from(to_timestamp(since_ms[i] / 1000::float8));
    known := string_to_array(knowns[i], ',')::uuid[];
    return query
      (select i, a.pattern_id, a.created_at, true, a.sealed, null::int from keystride.authentication a
        where a.organization_id = organizations[i] and a.user_ref = of_users[i] and a.id >= since
          and a.member_id = of_members[i] and a.pattern_id is not null and a.sealed is not null
          and a.authenticated and a.pattern_id <> all (known)
        order by a.id desc limit limits[i])
      union all
      (select i, a.pattern_id, a.created_at, false, a.sealed, null::int from keystride.authentication a
        where a.organization_id = organizations[i] and a.user_ref = of_users[i] and a.id >= since
          and a.member_id = of_members[i] and a.pattern_id is not null and a.sealed is not null
          and not a.authenticated and a.pattern_id <> all (known)
        order by a.id desc limit failed_limits[i])
      union all
      (select i, r.id, r.seen_at, false, r.sealed, r.generation from keystride.refused_pattern r
        where r.organization_id = organizations[i] and r.member_id = of_members[i] and r.id >= since and r.id <> all (known)
        order by r.id desc limit failed_limits[i]);
  end loop;
end
$$;
revoke execute on function keystride.tested_patterns from public, keystride_app;
grant execute on function keystride.tested_patterns to session_user;
