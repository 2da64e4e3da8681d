-- Accounts, their members, the members' reference patterns, and sessions where no Redis is given.

create table keystride.account (
  organization_id uuid not null references keystride.organization,
  id uuid not null,
  user_ref text not null,
  type text not null check (type in ('nominative', 'generic')),
  display_name text,
  member_selection text not null default 'ask' check (member_selection in ('ask', 'list')),
  created_at timestamptz not null,
  primary key (organization_id, id),
  unique (organization_id, user_ref)
);

create table keystride.member (
  organization_id uuid not null,
  id uuid not null,
  account_id uuid not null,
  member_ref text not null,
  generation int not null default 0,
  n_visible int not null default 0 check (n_visible >= 0),
  n_sensitive int not null default 0 check (n_sensitive >= 0),
  ever_reset boolean not null default false,
  reset_at timestamptz,
  completed_at timestamptz,
  last_success_at timestamptz,
  preferred_language text,
  -- AttemptCounters of src/domain/attempts.ts, swapped as a whole on top of attempts_version.
  attempts jsonb not null,
  attempts_version bigint not null default 0,
  created_at timestamptz not null,
  primary key (organization_id, id),
  unique (organization_id, account_id, member_ref),
  foreign key (organization_id, account_id) references keystride.account (organization_id, id)
) with (fillfactor = 80); -- room for heap-only updates: every attempt rewrites the counters

create table keystride.reference_pattern (
  organization_id uuid not null,
  member_id uuid not null,
  id uuid not null,
  generation int not null,
  mode text not null check (mode in ('visible', 'sensitive')),
  sealed bytea not null,
  created_at timestamptz not null,
  primary key (organization_id, member_id, id),
  foreign key (organization_id, member_id) references keystride.member (organization_id, id)
);
-- Encrypted bytes do not compress: do not try.
alter table keystride.reference_pattern alter column sealed set storage external;

create table keystride.session (
  organization_id uuid not null,
  user_ref text not null,
  sha256 bytea not null check (octet_length(sha256) = 32),
  member_ref text,
  used_biometric int not null default 0,
  used_security_code int not null default 0,
  authenticated_at timestamptz,
  expires_at timestamptz not null,
  primary key (organization_id, user_ref, sha256)
);
create index session_expiry on keystride.session (organization_id, expires_at);

call keystride.guard('keystride.account');
call keystride.guard('keystride.member');
call keystride.guard('keystride.reference_pattern');
call keystride.guard('keystride.session');
