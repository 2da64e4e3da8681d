-- Alert rules and channels, notifications, and the outbox of their deliveries.

create table keystride.alerting (
  organization_id uuid primary key references keystride.organization,
  rules jsonb not null default '{}', -- true by kind and channel; an absent one is off
  read_all_at timestamptz not null default '-infinity', -- notifications up to this time are read
  derived_until timestamptz not null -- attempts before this time have their notifications
);
call keystride.guard('keystride.alerting');

create table keystride.alert_channel (
  organization_id uuid not null references keystride.organization,
  channel text not null check (channel in ('email', 'sms', 'syslog', 'webhook')),
  settings jsonb not null, -- ChannelSettings of src/domain/alert-channels.ts
  secret bytea, -- sealed
  tested_at timestamptz,
  failures int not null default 0, -- consecutive failures; 0 after a delivery
  closed_until timestamptz, -- no delivery is tried before this time
  primary key (organization_id, channel)
);
call keystride.guard('keystride.alert_channel');

create table keystride.notification (
  organization_id uuid not null references keystride.organization,
  id uuid not null, -- UUIDv7 of the time of the event
  event text not null, -- identifies the event
  kind text not null,
  at timestamptz not null,
  account_id uuid, -- null if the event concerns the whole organization
  member_id uuid,
  authentication_id uuid,
  details jsonb not null default '{}', -- EventDetails of src/domain/alert.ts; names no person
  noted_at timestamptz not null default clock_timestamp(),
  read_at timestamptz,
  primary key (organization_id, id),
  unique (organization_id, event),
  -- A notification is deleted with its account, even if it is written concurrently.
  foreign key (organization_id, account_id) references keystride.account (organization_id, id) on delete cascade
);
create index notification_unread on keystride.notification (organization_id, noted_at) where read_at is null;
create index notification_account on keystride.notification (organization_id, account_id) where account_id is not null;
create index notification_whole on keystride.notification (organization_id, kind, at) where account_id is null;
call keystride.guard('keystride.notification');
revoke insert on keystride.notification from keystride_app;
create trigger queue_deliveries after insert on keystride.notification
  for each row execute function keystride.queue_deliveries();

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
