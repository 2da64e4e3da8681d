-- Attempts counted by hour and day, and totals of each user, for the dashboard.

-- Attempts of a closed hour by facet: `all`, `method`, `reason`, `confidence`, and the facets of the attempts. For `users`, n is
-- the number of people who signed in. The two tables after this one have the same columns.
create table keystride.attempt_count (
  organization_id uuid not null references keystride.organization,
  facet text not null,
  hour timestamptz not null,
  value text not null,
  n int not null,
  n_authenticated int not null,
  n_challenged int not null,
  n_blocked int not null,
  sum_confidence float8 not null,
  sum_biometrics float8 not null,
  n_biometrics int not null,
  sum_context float8 not null,
  n_context int not null,
  primary key (organization_id, facet, hour, value)
);
call keystride.guard('keystride.attempt_count');
revoke insert, update, delete on keystride.attempt_count from keystride_app;

-- Attempts of open hours, from attempt_counted.until to attempt_counted.recent_until, which is a few seconds before the
-- present. At 250 attempts a second the last hour has 900,000, too many to add up for a page. An attempt that commits late is
-- missing until its hour is closed.
create table keystride.attempt_recent (
  like keystride.attempt_count including indexes,
  foreign key (organization_id) references keystride.organization
) with (fillfactor = 50); -- updated repeatedly for an hour, then deleted
call keystride.guard('keystride.attempt_recent');
revoke insert, update, delete on keystride.attempt_recent from keystride_app;

-- Attempts of a closed day (UTC), as sums of its hours. For `blocked-users`, n is the number of people with a blocked attempt.
create table keystride.attempt_day (
  like keystride.attempt_count including indexes,
  foreign key (organization_id) references keystride.organization
);
alter table keystride.attempt_day rename column hour to day;
call keystride.guard('keystride.attempt_day');
revoke insert, update, delete on keystride.attempt_day from keystride_app;

-- Times up to which attempts are counted.
create table keystride.attempt_counted (
  organization_id uuid primary key references keystride.organization,
  until timestamptz not null, -- by hours
  days_until timestamptz not null default '-infinity', -- by days
  recent_until timestamptz not null default '-infinity' -- in open hours
);
call keystride.guard('keystride.attempt_counted');
revoke insert, update, delete on keystride.attempt_counted from keystride_app;

-- Attempts of each user in the last `days` before user_totaled.until. Every account has a row, so that a page of the table of
-- users comes from one index. Confidences are sums of whole billionths, so that a later subtraction is exact.
create table keystride.user_total (
  organization_id uuid not null,
  days int not null,
  account_id uuid not null,
  user_ref text not null, -- of the account; orders users with equal figures
  n int not null,
  n_authenticated int not null,
  n_challenged int not null,
  n_blocked int not null,
  sum_confidence bigint not null,
  sum_biometrics bigint not null,
  n_biometrics int not null,
  last_at timestamptz,
  primary key (organization_id, account_id, days),
  foreign key (organization_id, account_id) references keystride.account (organization_id, id) on delete cascade
);
-- Each order has an index, with which the first page of 100,000 users takes 35 ms instead of 570. A user without attempts is in one index
-- only. Many users have the same count, and a backward scan would list these in descending order of user_ref, so counts have an
-- index for each direction.
create index user_total_none on keystride.user_total (organization_id, days, user_ref) where n = 0;
create index user_total_n on keystride.user_total (organization_id, days, n desc, user_ref) where n > 0;
create index user_total_n_up on keystride.user_total (organization_id, days, n, user_ref) where n > 0;
create index user_total_authenticated on keystride.user_total (organization_id, days, n_authenticated desc, user_ref) where n > 0;
create index user_total_authenticated_up on keystride.user_total (organization_id, days, n_authenticated, user_ref) where n > 0;
create index user_total_challenged on keystride.user_total (organization_id, days, n_challenged desc, user_ref) where n > 0;
create index user_total_challenged_up on keystride.user_total (organization_id, days, n_challenged, user_ref) where n > 0;
create index user_total_blocked on keystride.user_total (organization_id, days, n_blocked desc, user_ref) where n > 0;
create index user_total_blocked_up on keystride.user_total (organization_id, days, n_blocked, user_ref) where n > 0;
create index user_total_confidence on keystride.user_total
  (organization_id, days, (sum_confidence / nullif(n, 0)::float8) desc, user_ref) where n > 0;
create index user_total_last on keystride.user_total (organization_id, days, last_at desc, user_ref) where n > 0;
call keystride.guard('keystride.user_total');
revoke insert, update, delete on keystride.user_total from keystride_app;

-- Times up to which the windows of user_total reach.
create table keystride.user_totaled (
  organization_id uuid not null references keystride.organization,
  days int not null,
  until timestamptz not null,
  primary key (organization_id, days)
);
call keystride.guard('keystride.user_totaled');
revoke insert, update, delete on keystride.user_totaled from keystride_app;
