-- Accounts and their people, for all who are asked for in the same moment: a statement each cost the server and the caller
-- more than the rows do. Element i of each array is what is asked for i-th, from 1. It runs as
-- keystride_app, the organization set before each look, so that row level security holds in it as everywhere.
grant create on schema keystride to keystride_app;
set local role keystride_app;
drop function keystride.find_person(uuid, text, text);
create function keystride.find_people(organizations uuid[], of_users text[], of_members text[])
  returns table (nth int, found_account keystride.account, found_member keystride.member)
language plpgsql security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
as $$
begin
  for i in 1 .. cardinality(organizations) loop
    perform set_config('keystride.organization_id', organizations[i]::text, true);
    return query
      select i, a, m from keystride.account a left join keystride.member m
        on m.organization_id = a.organization_id and m.account_id = a.id and m.archived_at is null
          and m.member_ref = coalesce(of_members[i], case a.type when 'nominative' then a.user_ref end)
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
