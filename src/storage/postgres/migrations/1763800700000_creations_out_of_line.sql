-- Creations of one organization no longer wait for one another. A change of the headcount is a row of its own. The holder
-- of the headcount's line adds the rows up. Only a strict quota with a limit and the events of the ledger take the line.
create table keystride.headcount_change (
  organization_id uuid not null references keystride.organization,
  id uuid not null default gen_random_uuid(),
  n_accounts int not null default 0,
  n_accounts_generic int not null default 0,
  n_users_nominative int not null default 0,
  n_users_generic int not null default 0,
  primary key (organization_id, id)
);
call keystride.guard('keystride.headcount_change');
revoke insert, update, delete on keystride.headcount_change from keystride_app;

-- The headcount with the changes that are not added up yet: one row where there is such an organization.
create function keystride.headcount_now(organization uuid)
  returns table (n_accounts int, n_accounts_generic int, n_users_nominative int, n_users_generic int)
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select (h.n_accounts + c.n_accounts)::int, (h.n_accounts_generic + c.n_accounts_generic)::int,
    (h.n_users_nominative + c.n_users_nominative)::int, (h.n_users_generic + c.n_users_generic)::int
  from keystride.headcount h, (
    select coalesce(sum(n_accounts), 0) as n_accounts, coalesce(sum(n_accounts_generic), 0) as n_accounts_generic,
      coalesce(sum(n_users_nominative), 0) as n_users_nominative, coalesce(sum(n_users_generic), 0) as n_users_generic
    from keystride.headcount_change where organization_id = organization) c
  where h.organization_id = organization
$$;
revoke execute on function keystride.headcount_now(uuid) from public;
grant execute on function keystride.headcount_now(uuid) to keystride_app, keystride_system;

grant create on schema keystride to keystride_system;
set local role keystride_system;

-- Takes the line and adds up what was committed by then; it stays taken until the transaction ends. False where the line
-- is taken and the caller does not wait.
create function keystride.enter_headcount_line(organization uuid, waits boolean) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '1s'
as $$
declare
  added keystride.headcount_change;
begin
  if waits then
    perform pg_advisory_xact_lock(keystride.headcount_line(organization));
  elsif not pg_try_advisory_xact_lock(keystride.headcount_line(organization)) then
    return false;
  end if;
  with gone as (delete from keystride.headcount_change c where c.organization_id = organization returning *)
    select organization, null, sum(n_accounts), sum(n_accounts_generic), sum(n_users_nominative), sum(n_users_generic)
    into added from gone having count(*) > 0;
  if found then
    update keystride.headcount h set n_accounts = h.n_accounts + added.n_accounts,
        n_accounts_generic = h.n_accounts_generic + added.n_accounts_generic,
        n_users_nominative = h.n_users_nominative + added.n_users_nominative,
        n_users_generic = h.n_users_generic + added.n_users_generic
      where h.organization_id = organization;
  end if;
  return true;
end
$$;
revoke execute on function keystride.enter_headcount_line(uuid, boolean) from public;
grant execute on function keystride.enter_headcount_line(uuid, boolean) to keystride_app;

-- A job's: adds up the changes of a hundred organizations whose line is free; true where there may be more.
create function keystride.add_up_headcounts() returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  org record;
  n_added int := 0;
begin
  for org in
    select h.organization_id from keystride.headcount h
    where exists (select from keystride.headcount_change c where c.organization_id = h.organization_id)
  loop
    n_added := n_added + keystride.enter_headcount_line(org.organization_id, false)::int;
    exit when n_added = 100;
  end loop;
  return n_added = 100;
end
$$;
revoke execute on function keystride.add_up_headcounts() from public;

create or replace function keystride.append_usage_event(organization uuid, happened text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '1s'
as $$
declare
  held keystride.headcount;
  event keystride.usage_event;
begin
  perform keystride.enter_headcount_line(organization, true);
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
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  people int;
begin
  if tg_op = 'INSERT' then
    insert into keystride.headcount_change (organization_id, n_accounts, n_accounts_generic)
      values (new.organization_id, 1, (new.type = 'generic')::int);
  elsif tg_op = 'DELETE' then
    insert into keystride.headcount_change (organization_id, n_accounts, n_accounts_generic)
      values (old.organization_id, -1, -(old.type = 'generic')::int);
    perform keystride.append_usage_event(old.organization_id, 'delete');
  elsif new.type <> old.type then
    select count(*) into people from keystride.member m
      where m.organization_id = new.organization_id and m.account_id = new.id and m.archived_at is null;
    if new.type = 'nominative' then people := -people; end if;
    insert into keystride.headcount_change (organization_id, n_accounts_generic, n_users_generic, n_users_nominative)
      values (new.organization_id, case new.type when 'generic' then 1 else -1 end, people, -people);
    perform keystride.append_usage_event(new.organization_id, 'type-change');
  end if;
  return null;
end
$$;

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
-- As before, but of the members of this moment.
create or replace function keystride.note_spraying(organization uuid, until timestamptz) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  window_length constant interval := '10 minutes';
  n_failed int;
  n_members int;
begin
  if exists (select 1 from keystride.notification n where n.organization_id = organization and n.account_id is null
    and n.kind = 'security-code-locked' and n.at > until - window_length and n.at < until + window_length) then return; end if;
  select count(distinct a.member_id) into n_failed from keystride.authentication a
    where a.organization_id = organization and a.events is not null and a.method = 'security_code' and not a.authenticated
      and a.id >= keystride.uuid_from(until - window_length) and a.id < keystride.uuid_from(until + interval '1 millisecond');
  select h.n_users_nominative + h.n_users_generic into n_members from keystride.headcount_now(organization) h;
  if n_failed < 3 or n_failed <= least(50, n_members * 0.05) then return; end if;
  insert into keystride.notification (organization_id, id, event, kind, at, details)
    values (organization, keystride.new_id(until), 'spraying ' || extract(epoch from until), 'security-code-locked', until,
      jsonb_build_object('nFailed', n_failed, 'nMembers', n_members))
    on conflict do nothing;
end
$$;

do $$ begin
  execute format('grant execute on function keystride.add_up_headcounts() to %I', session_user);
end $$;
reset role;
revoke create on schema keystride from keystride_system;

grant create on schema keystride to keystride_app;
set local role keystride_app;

-- Accounts and their first people, for all who are created in the same moment; no reference twice in one call. Element i
-- of each array is the i-th. Tells of each `created`, `found` (the reference was taken), the quota that is used up with
-- its limit, or `line`: a strict quota has to be looked at in line, which is taken and is not waited for here.
-- Organizations and references come in one order for everybody, so that two calls cannot wait for each other. An account
-- that is being deleted is found, never waited for: who deletes may wait for the line.
create function keystride.create_accounts(
  organizations uuid[], ids uuid[], user_refs text[], types text[], names text[], created_ms float8[], member_ids uuid[],
  member_refs text[], member_names text[], no_attempts jsonb, waits boolean
) returns table (nth int, outcome text, licensed int, found_account keystride.account, found_member keystride.member)
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '1s'
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
  set jit = off
as $$
declare
  o keystride.organization;
  org uuid;
  asked int[];
  coming int[];
  others int[];
  outcomes text[] := array_fill(null::text, array[cardinality(ids)]);
  held record;
  is_limited boolean;
begin
  for org, asked in
    select organizations[i], array_agg(i order by user_refs[i]) from generate_subscripts(organizations, 1) i group by 1 order by 1
  loop
    perform set_config('keystride.organization_id', org::text, true);
    select * into o from keystride.organization where organization_id = org;
    coming := array(select i from unnest(asked) with ordinality u (i, place)
      where not exists (select from keystride.account a where a.organization_id = org and a.user_ref = user_refs[i])
      order by place);
    is_limited := o.quota_mode = 'strict' and (o.quota_accounts > 0
      or o.quota_shared_accounts > 0 and exists (select from unnest(coming) i where types[i] = 'generic'));
    if is_limited and coming <> '{}' then
      select * into held from keystride.headcount_now(org);
      -- Where all is in use already, nobody has to wait in line to hear so.
      if (o.quota_accounts = 0 or held.n_accounts < o.quota_accounts) then
        if keystride.enter_headcount_line(org, waits) then
          select * into held from keystride.headcount_now(org);
          coming := array(select i from unnest(coming) with ordinality u (i, place)
            where not exists (select from keystride.account a where a.organization_id = org and a.user_ref = user_refs[i])
            order by place);
        else
          foreach nth in array coming loop outcomes[nth] := 'line'; end loop;
          coming := '{}';
        end if;
      end if;
      others := coming;
      coming := '{}';
      foreach nth in array others loop
        if o.quota_accounts > 0 and held.n_accounts >= o.quota_accounts then
          outcomes[nth] := 'accounts-quota';
        elsif types[nth] = 'generic' and o.quota_shared_accounts > 0 and held.n_accounts_generic >= o.quota_shared_accounts then
          outcomes[nth] := 'shared-accounts-quota';
        else
          coming := coming || nth;
          held.n_accounts := held.n_accounts + 1;
          held.n_accounts_generic := held.n_accounts_generic + (types[nth] = 'generic')::int;
        end if;
      end loop;
    end if;
    if coming <> '{}' then
      insert into keystride.account (organization_id, id, user_ref, type, display_name, created_at)
        select org, ids[i], user_refs[i], types[i], names[i], to_timestamp(created_ms[i] / 1000)
        from unnest(coming) with ordinality a (i, place) order by place
        on conflict (organization_id, user_ref) do nothing;
      insert into keystride.member (organization_id, id, account_id, member_ref, display_name, attempts, created_at)
        select org, member_ids[i], ids[i], member_refs[i], member_names[i], no_attempts, to_timestamp(created_ms[i] / 1000)
        from unnest(coming) i
        where member_ids[i] is not null
          and exists (select from keystride.account a where a.organization_id = org and a.id = ids[i])
        on conflict (organization_id, account_id, member_ref) do nothing;
    end if;
    return query
      select i, case when a.id is null then outcomes[i] when a.id = ids[i] then 'created' else 'found' end,
        case outcomes[i] when 'accounts-quota' then o.quota_accounts when 'shared-accounts-quota' then o.quota_shared_accounts end,
        a, of_account.m
      from unnest(asked) i
        left join keystride.account a on a.organization_id = org and a.user_ref = user_refs[i]
        left join lateral (
          select m from keystride.member m
          where m.organization_id = a.organization_id and m.account_id = a.id and m.archived_at is null
            and m.member_ref = coalesce(member_refs[i], case a.type when 'nominative' then a.user_ref end)
          offset 0) of_account on true;
  end loop;
end
$$;
revoke execute on function keystride.create_accounts(uuid[], uuid[], text[], text[], text[], float8[], uuid[], text[], text[],
  jsonb, boolean) from public, keystride_app;
do $$ begin
  execute format('grant execute on function keystride.create_accounts(uuid[], uuid[], text[], text[], text[], float8[],
    uuid[], text[], text[], jsonb, boolean) to %I', session_user);
end $$;
reset role;
revoke create on schema keystride from keystride_app;
