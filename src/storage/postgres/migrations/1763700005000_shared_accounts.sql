-- Shared accounts: members that come and go, quotas, the headcount, and a ledger of it that nobody can rewrite.

alter table keystride.organization
  add column quota_mode text not null default 'soft' check (quota_mode in ('soft', 'strict')),
  add column quota_accounts int not null default 0 check (quota_accounts >= 0), -- 0 is unlimited, here and below
  add column quota_shared_accounts int not null default 0 check (quota_shared_accounts >= 0),
  add column quota_members int not null default 0 check (quota_members >= 0); -- of one shared account

alter table keystride.account
  add column groups jsonb not null default '[]',
  add column tag jsonb not null default '{}';

alter table keystride.member
  add column display_name text,
  add column archived_at timestamptz; -- an archived member answers to nobody; its row keeps its reference and its locks

-- How many there are of what, kept by triggers. Its row's lock puts creations of one organization in a line, which is
-- what makes a quota exact; locks are taken account, members, headcount.
create table keystride.headcount (
  organization_id uuid primary key references keystride.organization,
  n_accounts int not null default 0,
  n_accounts_generic int not null default 0,
  n_users_nominative int not null default 0,
  n_users_generic int not null default 0,
  last_event bigint not null default 0,
  last_hash bytea not null default ''
);
call keystride.guard('keystride.headcount');
revoke insert, update, delete on keystride.headcount from keystride_app;

-- Each event has the totals after it and the hash of the event before it.
create table keystride.usage_event (
  organization_id uuid not null references keystride.organization,
  n bigint not null,
  at timestamptz not null,
  kind text not null check (kind in ('enroll', 'delete', 'type-change', 'checkpoint')),
  n_accounts int not null,
  n_accounts_generic int not null,
  n_users_nominative int not null,
  n_users_generic int not null,
  over_quota boolean not null,
  hash bytea not null,
  primary key (organization_id, n)
);
create index usage_event_at on keystride.usage_event (organization_id, at);
call keystride.guard('keystride.usage_event');
revoke insert, update, delete on keystride.usage_event from keystride_app;
revoke update, delete on keystride.usage_event from keystride_system;

create function keystride.refuse_change() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception 'keystride: % is append-only', tg_table_name using errcode = 'insufficient_privilege';
end
$$;
revoke execute on function keystride.refuse_change() from public;
create trigger append_only before update or delete on keystride.usage_event
  for each row execute function keystride.refuse_change();
create trigger append_only_whole before truncate on keystride.usage_event
  for each statement execute function keystride.refuse_change();

create function keystride.usage_hash(e keystride.usage_event, previous bytea) returns bytea
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select sha256(previous || convert_to(concat_ws('|', e.organization_id, e.n, extract(epoch from e.at), e.kind, e.n_accounts,
    e.n_accounts_generic, e.n_users_nominative, e.n_users_generic, e.over_quota), 'UTF8'))
$$;

create function keystride.append_usage_event(organization uuid, happened text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  held keystride.headcount;
  event keystride.usage_event;
begin
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

-- The first event that is not what was written, or is missing; null where the ledger is whole.
create function keystride.broken_usage_event() returns bigint
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  with told as (
    select e.n, e.hash, row_number() over (order by e.n) as place,
      keystride.usage_hash(e, lag(e.hash, 1, '') over (order by e.n)) as should
    from keystride.usage_event e where e.organization_id = keystride.current_organization()
  ), held as (
    select h.last_event, h.last_hash from keystride.headcount h where h.organization_id = keystride.current_organization()
  )
  select min(n) from (
    select place as n from told where n <> place or hash <> should
    union all
    select last_event from held where last_event > 0
      and not exists (select 1 from told where told.n = last_event and told.hash = last_hash)
  ) broken
$$;

create function keystride.count_organization() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  insert into keystride.headcount (organization_id) values (new.organization_id);
  return null;
end
$$;
create trigger count_organization after insert on keystride.organization
  for each row execute function keystride.count_organization();

create function keystride.count_account() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  people int;
begin
  if tg_op = 'INSERT' then
    update keystride.headcount set n_accounts = n_accounts + 1,
        n_accounts_generic = n_accounts_generic + (new.type = 'generic')::int
      where organization_id = new.organization_id;
  elsif tg_op = 'DELETE' then
    update keystride.headcount set n_accounts = n_accounts - 1,
        n_accounts_generic = n_accounts_generic - (old.type = 'generic')::int
      where organization_id = old.organization_id;
    perform keystride.append_usage_event(old.organization_id, 'delete');
  elsif new.type <> old.type then
    select count(*) into people from keystride.member m
      where m.organization_id = new.organization_id and m.account_id = new.id and m.archived_at is null;
    if new.type = 'nominative' then people := -people; end if;
    update keystride.headcount set n_accounts_generic = n_accounts_generic + case new.type when 'generic' then 1 else -1 end,
        n_users_generic = n_users_generic + people, n_users_nominative = n_users_nominative - people
      where organization_id = new.organization_id;
    perform keystride.append_usage_event(new.organization_id, 'type-change');
  end if;
  return null;
end
$$;
create trigger count_account after insert or delete or update of type on keystride.account
  for each row execute function keystride.count_account();

create function keystride.count_member() returns trigger
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
create trigger count_member after insert or delete or update of archived_at, completed_at on keystride.member
  for each row execute function keystride.count_member();

-- What a person's attempts have cost outlives the account by a day, so that deleting and creating frees nobody. The row
-- holds a hash in place of the references.
create table keystride.lock_tombstone (
  organization_id uuid not null references keystride.organization,
  person bytea not null check (octet_length(person) = 32),
  attempts jsonb not null,
  kept_until timestamptz not null,
  primary key (organization_id, person)
);
call keystride.guard('keystride.lock_tombstone');
revoke insert, update, delete on keystride.lock_tombstone from keystride_app;

create function keystride.keep_locks() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  of_member keystride.member;
  mark bytea;
  kept jsonb;
begin
  if tg_op = 'DELETE' then of_member := old; else of_member := new; end if;
  select sha256(convert_to(concat_ws('|', a.organization_id, a.user_ref, of_member.member_ref), 'UTF8')) into mark
    from keystride.account a where a.organization_id = of_member.organization_id and a.id = of_member.account_id;
  if tg_op = 'INSERT' then
    delete from keystride.lock_tombstone t
      where t.organization_id = new.organization_id and t.person = mark and t.kept_until > now()
      returning t.attempts into kept;
    new.attempts := coalesce(kept, new.attempts);
    return new;
  end if;
  delete from keystride.lock_tombstone t where t.organization_id = old.organization_id and t.kept_until <= now();
  if exists (select 1 from jsonb_each(old.attempts) kind where (kind.value ->> 'off')::boolean
    or (kind.value ->> 'streak')::int > 0 or jsonb_array_length(kind.value -> 'recentFailures') > 0) then
    insert into keystride.lock_tombstone as t (organization_id, person, attempts, kept_until)
      values (old.organization_id, mark, old.attempts, now() + interval '24 hours')
      on conflict (organization_id, person) do update set attempts = excluded.attempts, kept_until = excluded.kept_until;
  end if;
  return old;
end
$$;
create trigger keep_locks before insert or delete on keystride.member
  for each row execute function keystride.keep_locks();

revoke execute on function keystride.usage_hash(keystride.usage_event, bytea) from public;
revoke execute on function keystride.append_usage_event(uuid, text) from public;
revoke execute on function keystride.broken_usage_event() from public;
revoke execute on function keystride.count_organization() from public;
revoke execute on function keystride.count_account() from public;
revoke execute on function keystride.count_member() from public;
revoke execute on function keystride.keep_locks() from public;
grant execute on function keystride.broken_usage_event() to keystride_app;
grant create on schema keystride to keystride_system;
alter function keystride.usage_hash(keystride.usage_event, bytea) owner to keystride_system;
alter function keystride.append_usage_event(uuid, text) owner to keystride_system;
alter function keystride.broken_usage_event() owner to keystride_system;
alter function keystride.count_organization() owner to keystride_system;
alter function keystride.count_account() owner to keystride_system;
alter function keystride.count_member() owner to keystride_system;
alter function keystride.keep_locks() owner to keystride_system;
revoke create on schema keystride from keystride_system;

set local role keystride_system;
insert into keystride.headcount (organization_id, n_accounts, n_accounts_generic, n_users_nominative, n_users_generic)
select o.organization_id,
  (select count(*) from keystride.account a where a.organization_id = o.organization_id),
  (select count(*) from keystride.account a where a.organization_id = o.organization_id and a.type = 'generic'),
  (select count(*) from keystride.member m join keystride.account a
    on a.organization_id = m.organization_id and a.id = m.account_id
    where m.organization_id = o.organization_id and a.type = 'nominative'),
  (select count(*) from keystride.member m join keystride.account a
    on a.organization_id = m.organization_id and a.id = m.account_id
    where m.organization_id = o.organization_id and a.type = 'generic')
from keystride.organization o;
reset role;
