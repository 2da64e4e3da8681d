set local role keystride_app;

-- Finds accounts and members for concurrent lookups in one statement, because separate statements cost server and client more
-- than the rows do. Element i of each array is one lookup, and `nth` counts from 1. Runs as keystride_app, and sets the
-- organization before each lookup, so that row level security applies. The member is found by its account, and `offset 0` is an
-- optimization fence: a plan from the time when the tables were empty joined freely, and read every member of the organization.
-- Only processes of the version before call it, during an upgrade; this version calls find_people_and_sets.
create or replace function keystride.find_people(organizations uuid[], of_users text[], of_members text[])
returns table (nth int, found_account keystride.account, found_member keystride.member)
language plpgsql security definer set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off
as $$
begin
  for i in 1 .. cardinality(organizations) loop
    perform set_config('keystride.organization_id', organizations[i]::text, true);
    return query
      select i, a, of_account.m from keystride.account a
        left join lateral (
          select m from keystride.member m
          where m.organization_id = a.organization_id and m.account_id = a.id and m.archived_at is null
            and m.member_ref = coalesce(of_members[i], case a.type when 'nominative' then a.user_ref end)
          offset 0) of_account on true
      where a.organization_id = organizations[i] and a.user_ref = of_users[i];
  end loop;
end
$$;
revoke execute on function keystride.find_people from public, keystride_app;
grant execute on function keystride.find_people to session_user;
