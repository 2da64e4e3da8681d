-- Single sign-on: artifacts of the OpenID provider, one-time passwords, signing keys, upstream accounts, and strangers' tries.

create table keystride.sso_artifact (
  organization_id uuid not null,
  kind text not null,
  sha256 bytea not null check (octet_length(sha256) = 32), -- hash of the id, which may be a bearer value
  sealed bytea not null,
  uid_sha256 bytea, -- a second key, of sessions only
  grant_sha256 bytea, -- the artifact ends with this grant
  user_ref text, -- null until the person is known
  consumed_at timestamptz,
  expires_at timestamptz not null,
  primary key (organization_id, kind, sha256)
);
create index sso_artifact_uid on keystride.sso_artifact (organization_id, uid_sha256) where uid_sha256 is not null;
create index sso_artifact_grant on keystride.sso_artifact (organization_id, grant_sha256) where grant_sha256 is not null;
create index sso_artifact_user on keystride.sso_artifact (organization_id, user_ref) where user_ref is not null;
create index sso_artifact_expiry on keystride.sso_artifact (expires_at);
call keystride.guard('keystride.sso_artifact');

-- A person has one row, so at most one password is live. The counts outlive the password.
create table keystride.one_time_password (
  organization_id uuid not null,
  user_ref text not null,
  hash bytea, -- null if no password is live
  tries_left int not null,
  expires_at timestamptz not null,
  sent_at timestamptz[] not null, -- times within the last hour
  wrong int not null default 0, -- wrong tries since the last right password
  wrong_since timestamptz not null, -- time of the latest try; after a day without one the wrong tries no longer count
  primary key (organization_id, user_ref)
);
create index one_time_password_expiry on keystride.one_time_password (expires_at);
call keystride.guard('keystride.one_time_password');

-- A key refers to the key before it, so that only one of two concurrent processes creates the next key.
create table keystride.sso_key (
  organization_id uuid not null,
  id uuid not null,
  follows uuid not null, -- nil for the first key
  sealed bytea not null,
  signs_from timestamptz not null,
  primary key (organization_id, id),
  unique (organization_id, follows)
);
call keystride.guard('keystride.sso_key');

-- Accounts of an upstream provider, each bound to the reference of a person.
create table keystride.sso_account (
  organization_id uuid not null,
  issuer text not null,
  sha256 bytea not null check (octet_length(sha256) = 32), -- hash of the sub
  user_ref text not null,
  primary key (organization_id, issuer, sha256),
  unique (organization_id, user_ref, issuer)
);
call keystride.guard('keystride.sso_account');

-- Tries in browsers that have not signed in as the person (src/storage/stranger-tries.ts).
create table keystride.sso_stranger (
  organization_id uuid not null,
  member_id uuid not null,
  -- Times of tries. An undecided try is in the first or the second list, and an undecided pattern also in the third.
  typing timestamptz[] not null default '{}',
  code timestamptz[] not null default '{}',
  invalid timestamptz[] not null default '{}',
  owners_from timestamptz not null default '-infinity', -- an earlier sign-in makes no browser the person's own
  primary key (organization_id, member_id),
  foreign key (organization_id, member_id) references keystride.member (organization_id, id) on delete cascade
);
call keystride.guard('keystride.sso_stranger');
