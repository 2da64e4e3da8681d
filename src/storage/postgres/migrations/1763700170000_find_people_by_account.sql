-- As before, but the member by the account that was found: joined freely, a plan made while the tables were empty, and kept,
-- read every member of the organization for each look until the tables were analyzed.
grant create on schema keystride to keystride_app;
set local role keystride_app;
drop function keystride.find_people(uuid[], text[], text[]);
create function keystride.find_people(organizations uuid[], of_users text[], of_members text[])
  returns table (nth int, found_account keystride.account, found_member keystride.member)
language plpgsql security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set jit = off
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
revoke execute on function keystride.find_people(uuid[], text[], text[]) from public, keystride_app;
do $$ begin
  execute format('grant execute on function keystride.find_people(uuid[], text[], text[]) to %I', session_user);
end $$;
reset role;
revoke create on schema keystride from keystride_app;
