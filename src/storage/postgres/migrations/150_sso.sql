-- Single sign-on: what its OpenID provider keeps, one-time passwords, and the keys that sign.

create table keystride.sso_artifact (
  organization_id uuid not null,
  kind text not null,
  sha256 bytea not null check (octet_length(sha256) = 32), -- of the id, which may be a bearer value
  sealed bytea not null,
  uid_sha256 bytea, -- a second key of sessions
  grant_sha256 bytea, -- the grant that it ends with
  user_ref text, -- the person whom it names, once that is known
  consumed_at timestamptz,
  expires_at timestamptz not null,
  primary key (organization_id, kind, sha256)
);
create index sso_artifact_uid on keystride.sso_artifact (organization_id, uid_sha256) where uid_sha256 is not null;
create index sso_artifact_grant on keystride.sso_artifact (organization_id, grant_sha256) where grant_sha256 is not null;
create index sso_artifact_user on keystride.sso_artifact (organization_id, user_ref) where user_ref is not null;
create index sso_artifact_expiry on keystride.sso_artifact (expires_at);
call keystride.guard('keystride.sso_artifact');

-- One row a person, so that at most one password is live. The counts outlive the password.
create table keystride.one_time_password (
  organization_id uuid not null,
  user_ref text not null,
  hash bytea, -- null: none is live
  tries_left int not null,
  expires_at timestamptz not null,
  sent_at timestamptz[] not null, -- within the last hour
  wrong int not null default 0, -- tries since wrong_since, less those of a password that was right
  wrong_since timestamptz not null,
  primary key (organization_id, user_ref)
);
create index one_time_password_expiry on keystride.one_time_password (expires_at);
call keystride.guard('keystride.one_time_password');

-- A key refers to the one it follows: of two processes that make the next key, one does.
create table keystride.sso_key (
  organization_id uuid not null,
  id uuid not null,
  follows uuid not null, -- of the first key: nil
  sealed bytea not null,
  signs_from timestamptz not null,
  primary key (organization_id, id),
  unique (organization_id, follows)
);
call keystride.guard('keystride.sso_key');
