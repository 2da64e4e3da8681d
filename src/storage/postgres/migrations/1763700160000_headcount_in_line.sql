-- Whoever waits for a headcount is served in the order in which they came. A row's lock has no such order: who waits for a
-- version of the row that is not the last any more begins again behind whoever came later, and creations waited for more
-- than a second while there was always another before them. An advisory lock's line has one; it comes before the row. Nobody
-- stands in it for longer than a second: of a process that is frozen, each that is let in there holds up all others.

grant create on schema keystride to keystride_system;
set local role keystride_system;

create function keystride.headcount_line(organization uuid) returns bigint
language sql immutable set search_path = pg_catalog, pg_temp
as $$ select hashtextextended(organization::text, 7241865325823967) $$;
revoke execute on function keystride.headcount_line(uuid) from public;

create or replace function keystride.append_usage_event(organization uuid, happened text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '1s'
as $$
declare
  held keystride.headcount;
  event keystride.usage_event;
begin
  perform pg_advisory_xact_lock(keystride.headcount_line(organization));
  select * into held from keystride.headcount h where h.organization_id = organization for update;
  event.organization_id := organization;
  event.n := held.last_event + 1;
  event.at := clock_timestamp();
  event.kind := happened;
  event.n_accounts := held.n_accounts;
  event.n_accounts_generic := held.n_accounts_generic;
  event.n_users_nominative := held.n_users_nominative;
  event.n_users_generic := held.n_users_generic;
  select (o.quota_accounts > 0 and held.n_accounts > o.quota_accounts)
      or (o.quota_shared_accounts > 0 and held.n_accounts_generic > o.quota_shared_accounts)
    into event.over_quota from keystride.organization o where o.organization_id = organization;
  event.hash := keystride.usage_hash(event, held.last_hash);
  insert into keystride.usage_event select event.*;
  update keystride.headcount set last_event = event.n, last_hash = event.hash where organization_id = organization;
end
$$;

create or replace function keystride.count_account() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '1s'
as $$
declare
  organization constant uuid := coalesce(new.organization_id, old.organization_id);
  people int;
begin
  if tg_op = 'UPDATE' and new.type = old.type then return null; end if;
  perform pg_advisory_xact_lock(keystride.headcount_line(organization));
  if tg_op = 'INSERT' then
    update keystride.headcount set n_accounts = n_accounts + 1,
        n_accounts_generic = n_accounts_generic + (new.type = 'generic')::int
      where organization_id = organization;
  elsif tg_op = 'DELETE' then
    update keystride.headcount set n_accounts = n_accounts - 1,
        n_accounts_generic = n_accounts_generic - (old.type = 'generic')::int
      where organization_id = organization;
    perform keystride.append_usage_event(organization, 'delete');
  else
    select count(*) into people from keystride.member m
      where m.organization_id = organization and m.account_id = new.id and m.archived_at is null;
    if new.type = 'nominative' then people := -people; end if;
    update keystride.headcount set n_accounts_generic = n_accounts_generic + case new.type when 'generic' then 1 else -1 end,
        n_users_generic = n_users_generic + people, n_users_nominative = n_users_nominative - people
      where organization_id = organization;
    perform keystride.append_usage_event(organization, 'type-change');
  end if;
  return null;
end
$$;

create or replace function keystride.count_member() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '1s'
as $$
declare
  of_member keystride.member;
  was boolean := tg_op <> 'INSERT' and old.archived_at is null;
  stays boolean := tg_op <> 'DELETE' and new.archived_at is null;
  change int := stays::int - was::int;
begin
  if tg_op = 'DELETE' then of_member := old; else of_member := new; end if;
  if change <> 0 then
    perform pg_advisory_xact_lock(keystride.headcount_line(of_member.organization_id));
    update keystride.headcount h set n_users_generic = h.n_users_generic + case a.type when 'generic' then change else 0 end,
        n_users_nominative = h.n_users_nominative + case a.type when 'nominative' then change else 0 end
      from keystride.account a
      where h.organization_id = of_member.organization_id
        and a.organization_id = of_member.organization_id and a.id = of_member.account_id;
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

-- The line before the row, as everybody takes them: the other way round two could wait for each other. An organization
-- that has a line now is passed by; the next call comes to it again.
create or replace function keystride.append_checkpoints(today timestamptz default now()) returns int
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  org record;
  made int := 0;
begin
  for org in
    select h.organization_id from keystride.headcount h
    where not exists (select 1 from keystride.usage_event e where e.organization_id = h.organization_id
      and e.kind = 'checkpoint' and e.at >= date_trunc('day', today, 'UTC'))
    order by h.organization_id
  loop
    continue when not pg_try_advisory_xact_lock(keystride.headcount_line(org.organization_id));
    continue when exists (select 1 from keystride.usage_event e where e.organization_id = org.organization_id
      and e.kind = 'checkpoint' and e.at >= date_trunc('day', today, 'UTC'));
    perform keystride.append_usage_event(org.organization_id, 'checkpoint');
    made := made + 1;
  end loop;
  return made;
end
$$;

reset role;
revoke create on schema keystride from keystride_system;
