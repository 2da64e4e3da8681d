set local role keystride_system;

-- Derives notifications from the events of attempts, and returns true if more are left. An attempt commits some time after its
-- id was made. Therefore the cursor stays one minute behind, a run may begin further back (`since`), and known events are not
-- written again. One run takes at most `most` attempts, from each organization in turn, so that a burst in one organization
-- does not delay the others. Known events are looked up one by one in the index: a join read the whole table for each attempt,
-- because plans are kept from the time when it was empty.
create or replace function keystride.derive_notifications(since timestamptz, most int default 500) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp
  set enable_seqscan = off set jit = off
as $$
declare
  settled constant timestamptz := clock_timestamp() - interval '1 minute';
  of_organization record;
  until timestamptz;
  more boolean := false;
begin
  if not pg_try_advisory_xact_lock(7241865325823976) then return false; end if;
  insert into keystride.alerting (organization_id, derived_until)
    select o.organization_id, o.created_at from keystride.organization o
    where o.organization_id <> all (array(
      select p.organization_id from keystride.placement p where p.state = 'arriving'))
      and not exists (select 1 from keystride.alerting a where a.organization_id = o.organization_id) on conflict do nothing;
  for of_organization in
    with found as (
      select f.* from keystride.alerting c cross join lateral (
        select a.organization_id, a.id, a.account_id, a.member_id, a.method, a.events,
          row_number() over (order by a.id) as turn
        from keystride.authentication a
        where a.organization_id = c.organization_id and a.events is not null
          and a.id >= keystride.uuid_from(least(c.derived_until, since))
          and (select true from keystride.notification n where n.organization_id = a.organization_id
            and n.event = 'attempt ' || a.id || ' ' || (a.events -> 0 ->> 'kind')) is null
        order by a.id limit most) f
      order by f.turn limit most
    ), theirs as (
      -- The foreign key needs these locks until the commit. An account that is being deleted or changed is left to the next run.
      select a.* from (select distinct organization_id, account_id from found) f cross join lateral (
        select a.organization_id, a.id from keystride.account a
        where a.organization_id = f.organization_id and a.id = f.account_id for key share skip locked) a
    ), noted as (
      insert into keystride.notification (organization_id, id, event, kind, at, account_id, member_id, authentication_id, details)
        select f.organization_id, keystride.new_id(keystride.time_of(f.id)), 'attempt ' || f.id || ' ' || (e ->> 'kind'),
          e ->> 'kind', keystride.time_of(f.id), f.account_id, f.member_id, f.id, e - 'kind'
        from found f cross join jsonb_array_elements(f.events) e
          join theirs a on a.organization_id = f.organization_id and a.id = f.account_id
        order by f.organization_id, f.id
        on conflict do nothing returning organization_id)
    select c.organization_id, f.sprayed, coalesce(f.passed_by, false) as passed_by, (select count(*) from found) = most as full_run,
      exists (select from noted) as some_noted
    from keystride.alerting c left join (
      select m.organization_id, array_agg(m.last_code order by m.last_code) filter (where m.last_code is not null) as sprayed,
        bool_or(m.passed_by) as passed_by
      from (select f.organization_id, max(keystride.time_of(f.id)) filter (where method = 'security_code') as last_code,
          bool_or(a.id is null and exists (select from keystride.account there
            where there.organization_id = f.organization_id and there.id = f.account_id)) as passed_by
        from found f left join theirs a on a.organization_id = f.organization_id and a.id = f.account_id
        group by f.organization_id, date_trunc('minute', keystride.time_of(f.id))) m
      group by 1) f using (organization_id)
    where f.organization_id is not null or c.derived_until < settled - interval '1 minute'
  loop
    foreach until in array coalesce(of_organization.sprayed, '{}') loop
      perform keystride.note_spraying(of_organization.organization_id, until);
    end loop;
    more := of_organization.full_run and of_organization.some_noted;
    -- Written events are not found again, so a cursor need not advance while more are left, or if an account was skipped.
    continue when of_organization.full_run or of_organization.passed_by;
    update keystride.alerting c set derived_until = greatest(c.derived_until, settled)
      where c.organization_id = of_organization.organization_id;
  end loop;
  return more;
end
$$;
revoke execute on function keystride.derive_notifications from public;
grant execute on function keystride.derive_notifications to session_user;
