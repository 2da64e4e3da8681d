set local role keystride_system;

-- Counts members by type of account. The end of a member and a completed profile are events of the ledger.
create or replace function keystride.count_member() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  of_member keystride.member;
  was boolean := tg_op <> 'INSERT' and old.archived_at is null;
  stays boolean := tg_op <> 'DELETE' and new.archived_at is null;
  change int := stays::int - was::int;
begin
  if tg_op = 'DELETE' then of_member := old; else of_member := new; end if;
  if change <> 0 then
    insert into keystride.headcount_change (organization_id, n_users_generic, n_users_nominative)
      select a.organization_id, case a.type when 'generic' then change else 0 end,
        case a.type when 'nominative' then change else 0 end
      from keystride.account a
      where a.organization_id = of_member.organization_id and a.id = of_member.account_id;
  end if;
  if tg_op = 'UPDATE' then
    if was and not stays then perform keystride.append_usage_event(new.organization_id, 'delete'); end if;
    if new.completed_at is not null and old.completed_at is distinct from new.completed_at then
      perform keystride.append_usage_event(new.organization_id, 'enroll');
    end if;
  end if;
  return null;
end
$$;
revoke execute on function keystride.count_member from public;
