-- What happened and who is to be told: rules, channels, notifications, and the outbox of their deliveries.

-- What an attempt means to an operator: AttemptEvents of src/domain/attempt-events.ts, null for most.
alter table keystride.authentication add column events jsonb;
create index authentication_events on keystride.authentication (organization_id, id) where events is not null;

create table keystride.alerting (
  organization_id uuid primary key references keystride.organization,
  rules jsonb not null default '{}', -- kind, channel, true; what is left out is off
  read_all_at timestamptz not null default '-infinity', -- what was noted before counts as read
  -- Attempts from before this have their notifications.
  derived_until timestamptz not null
);
call keystride.guard('keystride.alerting');

create table keystride.alert_channel (
  organization_id uuid not null references keystride.organization,
  channel text not null check (channel in ('email', 'sms', 'syslog')),
  settings jsonb not null, -- ChannelSettings of src/domain/alert-channels.ts
  secret bytea, -- sealed
  tested_at timestamptz,
  -- Failures in a row, and until when none is tried again.
  failures int not null default 0,
  closed_until timestamptz,
  primary key (organization_id, channel)
);
call keystride.guard('keystride.alert_channel');

create table keystride.notification (
  organization_id uuid not null references keystride.organization,
  id uuid not null, -- UUIDv7 of when it happened
  event text not null, -- what happened, named once and for all
  kind text not null,
  at timestamptz not null,
  account_id uuid, -- null: of the organization as a whole
  member_id uuid,
  authentication_id uuid,
  details jsonb not null default '{}', -- EventDetails of src/domain/alert.ts: names nobody
  noted_at timestamptz not null default clock_timestamp(),
  read_at timestamptz,
  primary key (organization_id, id),
  unique (organization_id, event),
  -- Whatever erases the account erases this too, even where it is being written at the same moment.
  foreign key (organization_id, account_id) references keystride.account (organization_id, id) on delete cascade
);
create index notification_unread on keystride.notification (organization_id, noted_at) where read_at is null;
create index notification_account on keystride.notification (organization_id, account_id) where account_id is not null;
create index notification_whole on keystride.notification (organization_id, kind, at) where account_id is null;
call keystride.guard('keystride.notification');
revoke insert on keystride.notification from keystride_app;

create table keystride.alert_delivery (
  organization_id uuid not null,
  id uuid not null,
  notification_id uuid not null,
  channel text not null,
  state text not null default 'waiting' check (state in ('waiting', 'delivered', 'failed', 'dropped')),
  refusals int not null default 0,
  due_at timestamptz not null default clock_timestamp(),
  primary key (organization_id, id),
  unique (organization_id, notification_id, channel),
  foreign key (organization_id, notification_id) references keystride.notification (organization_id, id) on delete cascade
);
create index alert_delivery_waiting on keystride.alert_delivery (organization_id, channel, due_at) where state = 'waiting';
call keystride.guard('keystride.alert_delivery');
revoke insert, delete on keystride.alert_delivery from keystride_app;

create table keystride.alert_attempt (
  organization_id uuid not null,
  delivery_id uuid not null,
  at timestamptz not null,
  outcome text not null,
  duration_ms float8 not null,
  primary key (organization_id, delivery_id, at),
  foreign key (organization_id, delivery_id) references keystride.alert_delivery (organization_id, id) on delete cascade
);
call keystride.guard('keystride.alert_attempt');

create function keystride.new_id(at timestamptz) returns uuid
language sql volatile
as $$
  select overlay(replace(gen_random_uuid()::text, '-', '')
    placing lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0') || '7' from 1 for 13)::uuid
$$;

-- A notification and its place in the outbox are one commit. Of a channel that is dead for long no more than 1,000 wait:
-- what comes beyond stays a notification, and is not sent.
create function keystride.queue_deliveries() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  insert into keystride.alert_delivery (organization_id, id, notification_id, channel, state)
    select new.organization_id, keystride.new_id(clock_timestamp()), new.id, c.channel,
      case when exists (select 1 from keystride.alert_delivery d where d.organization_id = new.organization_id
        and d.channel = c.channel and d.state = 'waiting' offset 999) then 'dropped' else 'waiting' end
    from keystride.alerting a join keystride.alert_channel c using (organization_id)
    where a.organization_id = new.organization_id and (a.rules -> new.kind ->> c.channel)::boolean;
  return null;
end
$$;
create trigger queue_deliveries after insert on keystride.notification
  for each row execute function keystride.queue_deliveries();

-- Codes of many members fail within ten minutes: more than 5 % of the members, or 50, and never fewer than three. Told once
-- in ten minutes.
create function keystride.note_spraying(organization uuid, until timestamptz) returns void
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
  select h.n_users_nominative + h.n_users_generic into n_members from keystride.headcount h
    where h.organization_id = organization;
  if n_failed < 3 or n_failed <= least(50, n_members * 0.05) then return; end if;
  insert into keystride.notification (organization_id, id, event, kind, at, details)
    values (organization, keystride.new_id(until), 'spraying ' || extract(epoch from until), 'security-code-locked', until,
      jsonb_build_object('nFailed', n_failed, 'nMembers', n_members))
    on conflict do nothing;
end
$$;

-- Notifications of attempts, from their records; true where more are left. An attempt is committed a while after its id was
-- made: the cursor stays a minute behind, a run may begin further back (`since`), and what is known is not written twice.
-- `most` attempts in one run: of each organization in turn, so that a flood of one delays no other's.
-- What is known is looked up event by event in the index: as a join it was read whole for each, plans being kept from
-- when the table was empty.
create function keystride.derive_notifications(since timestamptz, most int default 500) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off
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
    where not exists (select 1 from keystride.alerting a where a.organization_id = o.organization_id) on conflict do nothing;
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
    ), noted as (
      insert into keystride.notification (organization_id, id, event, kind, at, account_id, member_id, authentication_id, details)
        select f.organization_id, keystride.new_id(keystride.time_of(f.id)), 'attempt ' || f.id || ' ' || (e ->> 'kind'),
          e ->> 'kind', keystride.time_of(f.id), f.account_id, f.member_id, f.id, e - 'kind'
        from found f cross join jsonb_array_elements(f.events) e
          join keystride.account a on a.organization_id = f.organization_id and a.id = f.account_id
        order by f.organization_id, f.id
        on conflict do nothing returning organization_id)
    select c.organization_id, f.sprayed, (select count(*) from found) = most as full_run
    from keystride.alerting c left join (
      select m.organization_id, array_agg(m.last_code order by m.last_code) filter (where m.last_code is not null) as sprayed
      from (select organization_id, max(keystride.time_of(id)) filter (where method = 'security_code') as last_code
        from found group by organization_id, date_trunc('minute', keystride.time_of(id))) m
      group by 1) f using (organization_id)
    where f.organization_id is not null or c.derived_until < settled - interval '1 minute'
  loop
    foreach until in array coalesce(of_organization.sprayed, '{}') loop
      perform keystride.note_spraying(of_organization.organization_id, until);
    end loop;
    more := of_organization.full_run;
    -- With more left, nobody's cursor moves: what is written is not found again.
    continue when more;
    update keystride.alerting c set derived_until = greatest(c.derived_until, settled)
      where c.organization_id = of_organization.organization_id;
  end loop;
  return more;
end
$$;

-- A profile that is empty now and was not, or was replaced as a reset. Columns that no sign-in writes: it costs none.
create function keystride.note_reset() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  insert into keystride.notification (organization_id, id, event, kind, at, account_id, member_id)
    values (new.organization_id, keystride.new_id(clock_timestamp()),
      'reset ' || new.id || ' ' || new.generation || ' ' || new.profile_version, 'profile-reset', clock_timestamp(),
      new.account_id, new.id)
    on conflict do nothing;
  return null;
end
$$;
create trigger note_reset after update of ever_reset, reset_at on keystride.member
  for each row when (new.archived_at is null and (new.reset_at is distinct from old.reset_at
    or (new.n_visible + new.n_sensitive = 0 and old.n_visible + old.n_sensitive > 0)))
  execute function keystride.note_reset();

-- More accounts than licensed, of either kind, where there were not: by a creation, a change of type, a lower quota.
create function keystride.note_overage(
  organization uuid, counted text, n_before int, quota_before int, n int, quota int
) returns void
language sql security definer set search_path = pg_catalog, pg_temp
as $$
  insert into keystride.notification (organization_id, id, event, kind, at, details)
    select organization, keystride.new_id(clock_timestamp()), 'quota ' || counted || ' ' || gen_random_uuid(), 'quota-overage',
      clock_timestamp(), jsonb_build_object('of', counted, 'n', n, 'licensed', quota)
    where quota > 0 and n > quota and not (quota_before > 0 and n_before > quota_before)
$$;
create function keystride.note_overage_of_count() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  o keystride.organization;
begin
  select * into o from keystride.organization where organization_id = new.organization_id;
  perform keystride.note_overage(new.organization_id, 'accounts', old.n_accounts, o.quota_accounts, new.n_accounts,
    o.quota_accounts);
  perform keystride.note_overage(new.organization_id, 'shared accounts', old.n_accounts_generic, o.quota_shared_accounts,
    new.n_accounts_generic, o.quota_shared_accounts);
  return null;
end
$$;
create trigger note_overage after update on keystride.headcount
  for each row when (new.n_accounts > old.n_accounts or new.n_accounts_generic > old.n_accounts_generic)
  execute function keystride.note_overage_of_count();
create function keystride.note_overage_of_quota() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  h keystride.headcount;
begin
  select * into h from keystride.headcount where organization_id = new.organization_id;
  perform keystride.note_overage(new.organization_id, 'accounts', h.n_accounts, old.quota_accounts, h.n_accounts,
    new.quota_accounts);
  perform keystride.note_overage(new.organization_id, 'shared accounts', h.n_accounts_generic, old.quota_shared_accounts,
    h.n_accounts_generic, new.quota_shared_accounts);
  return null;
end
$$;
create trigger note_overage after update of quota_accounts, quota_shared_accounts on keystride.organization
  for each row execute function keystride.note_overage_of_quota();

-- An outage that is over, for each organization that has a rule for it. Several processes tell of the same one: what
-- overlaps, give or take five seconds, is one.
create function keystride.note_outage(began timestamptz, ended timestamptz) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform pg_advisory_xact_lock(7241865325823977);
  insert into keystride.notification (organization_id, id, event, kind, at, details)
    select a.organization_id, keystride.new_id(ended), 'degraded ' || extract(epoch from began), 'degraded', ended,
      jsonb_build_object('beganAt', floor(extract(epoch from began) * 1000), 'endedAt', floor(extract(epoch from ended) * 1000))
    from keystride.alerting a
    where exists (select 1 from jsonb_each_text(a.rules -> 'degraded') r where r.value::boolean)
      and not exists (select 1 from keystride.notification n where n.organization_id = a.organization_id
        and n.account_id is null and n.kind = 'degraded' and n.at >= began - interval '5 seconds'
        and (n.details ->> 'beganAt')::float8 / 1000 <= extract(epoch from ended) + 5)
    on conflict do nothing;
end
$$;

-- Takes deliveries that are due, the oldest of each channel that is not closed: one where the last try failed, else ten.
-- Nobody else gets them for a minute: whoever dies with one leaves it to be delivered again.
create function keystride.claim_deliveries(most int) returns table (organization_id uuid, id uuid)
language sql security definer set search_path = pg_catalog, pg_temp
as $$
  with due as (
    select d.organization_id, d.id from keystride.alert_channel c cross join lateral (
      select w.organization_id, w.id from keystride.alert_delivery w
      where w.organization_id = c.organization_id and w.channel = c.channel and w.state = 'waiting'
        and w.due_at <= clock_timestamp()
      order by w.due_at, w.id limit case when c.failures > 0 then 1 else 10 end for update skip locked) d
    where coalesce(c.closed_until <= clock_timestamp(), true)
    limit most)
  update keystride.alert_delivery d set due_at = clock_timestamp() + interval '1 minute' from due
    where d.organization_id = due.organization_id and d.id = due.id
  returning d.organization_id, d.id
$$;

-- Forgets notifications of before, with their deliveries, some at a time; true where more are left.
create function keystride.forget_notifications(before timestamptz) returns boolean
language sql security definer set search_path = pg_catalog, pg_temp
as $$
  with gone as (
    delete from keystride.notification where (organization_id, id) in (
      select organization_id, id from keystride.notification where id < keystride.uuid_from(before) limit 2000)
    returning 1)
  select count(*) = 2000 from gone
$$;

do $$
declare
  made text;
begin
  foreach made in array array['new_id(timestamptz)', 'queue_deliveries()', 'note_spraying(uuid, timestamptz)',
    'derive_notifications(timestamptz, int)', 'note_reset()', 'note_overage(uuid, text, int, int, int, int)',
    'note_overage_of_count()', 'note_overage_of_quota()', 'note_outage(timestamptz, timestamptz)',
    'claim_deliveries(int)', 'forget_notifications(timestamptz)']
  loop
    execute format('revoke execute on function keystride.%s from public', made);
  end loop;
end
$$;
grant execute on function keystride.time_of(uuid) to keystride_system;
grant create on schema keystride to keystride_system;
alter function keystride.new_id(timestamptz) owner to keystride_system;
alter function keystride.queue_deliveries() owner to keystride_system;
alter function keystride.note_spraying(uuid, timestamptz) owner to keystride_system;
alter function keystride.derive_notifications(timestamptz, int) owner to keystride_system;
alter function keystride.note_reset() owner to keystride_system;
alter function keystride.note_overage(uuid, text, int, int, int, int) owner to keystride_system;
alter function keystride.note_overage_of_count() owner to keystride_system;
alter function keystride.note_overage_of_quota() owner to keystride_system;
alter function keystride.note_outage(timestamptz, timestamptz) owner to keystride_system;
alter function keystride.claim_deliveries(int) owner to keystride_system;
alter function keystride.forget_notifications(timestamptz) owner to keystride_system;
revoke create on schema keystride from keystride_system;
do $$
begin
  set local role keystride_system;
  execute format('grant execute on function keystride.derive_notifications(timestamptz, int) to %I', session_user);
  execute format('grant execute on function keystride.note_outage(timestamptz, timestamptz) to %I', session_user);
  execute format('grant execute on function keystride.claim_deliveries(int) to %I', session_user);
  execute format('grant execute on function keystride.forget_notifications(timestamptz) to %I', session_user);
  -- What was before this tells nobody.
  insert into keystride.alerting (organization_id, derived_until)
    select organization_id, clock_timestamp() from keystride.organization;
  reset role;
end
$$;
