-- Headcounts with their ledger, and requests to the APIs.

-- Triggers keep the headcount. It does not include the changes in headcount_change yet. A quota is exact under the advisory
-- lock headcount_lock. Transactions lock accounts first, then members, then the headcount.
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
create trigger note_overage after update on keystride.headcount
  for each row when (new.n_accounts > old.n_accounts or new.n_accounts_generic > old.n_accounts_generic)
  execute function keystride.note_overage_of_count();

-- Each change is a row, so that concurrent creations do not wait for each other. The holder of the lock adds the rows up. Only
-- a strict quota and the ledger need the lock.
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

-- The usage ledger. Each event has the totals after it, and is chained by hash to the event before. The table is append-only
-- until its organization is deleted.
create table keystride.usage_event (
  organization_id uuid not null references keystride.organization on delete cascade,
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
create trigger append_only before update on keystride.usage_event
  for each row execute function keystride.refuse_change();
create trigger append_only_in_use before delete on keystride.usage_event
  for each row execute function keystride.refuse_deletion();
create trigger append_only_whole before truncate on keystride.usage_event
  for each statement execute function keystride.refuse_change();

-- Requests by day and class. No request writes here, because processes count in memory and add their counts at intervals.
create table keystride.api_usage (
  organization_id uuid not null references keystride.organization,
  day date not null, -- UTC
  class text not null,
  n bigint not null,
  primary key (organization_id, day, class)
);
call keystride.guard('keystride.api_usage');
revoke insert, update, delete on keystride.api_usage from keystride_app;

create table keystride.request_log (
  organization_id uuid not null references keystride.organization,
  id uuid not null, -- of the request, a UUIDv7
  api text not null,
  method text not null,
  route text not null, -- the template, without the values of a request
  status int not null,
  duration_ms float8 not null,
  primary key (organization_id, id)
);
call keystride.guard('keystride.request_log');
revoke insert, update, delete on keystride.request_log from keystride_app;
