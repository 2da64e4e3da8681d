-- An account and one of its people in one round trip, which every sign-in asks for: a transaction with its role and
-- organization set took four. It runs as keystride_app, so that row level security holds in it as everywhere.
grant create on schema keystride to keystride_app;
set local role keystride_app;
create function keystride.find_person(organization uuid, of_user text, of_member text)
  returns table (found_account keystride.account, found_member keystride.member)
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform set_config('keystride.organization_id', organization::text, true);
  return query
    select a, m from keystride.account a left join keystride.member m
      on m.organization_id = a.organization_id and m.account_id = a.id and m.archived_at is null
        and m.member_ref = coalesce(of_member, case a.type when 'nominative' then a.user_ref end)
    where a.organization_id = organization and a.user_ref = of_user;
end
$$;
revoke execute on function keystride.find_person(uuid, text, text) from public, keystride_app;
do $$ begin
  execute format('grant execute on function keystride.find_person(uuid, text, text) to %I', session_user);
end $$;
reset role;
revoke create on schema keystride from keystride_app;
