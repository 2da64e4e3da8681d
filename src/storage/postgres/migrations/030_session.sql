-- Sessions of a service without Redis.

create table keystride.session (
  organization_id uuid not null,
  user_ref text not null,
  sha256 bytea not null check (octet_length(sha256) = 32),
  member_ref text,
  used_biometric int not null default 0,
  used_security_code int not null default 0,
  expires_at timestamptz not null,
  typing_failed boolean not null default false,
  reported_action uuid, -- the pending action that the session's bootstrap has reported
  implicit boolean not null default false, -- the only such session of a member whose calls name no session
  member_version bigint, -- row_version of the member at the start; a process with an older cached member reads the member again
  words text, -- the issued suggestions in the order of use, and their language
  words_used int not null default 0,
  primary key (organization_id, user_ref, sha256),
  constraint session_implicit_member check (not implicit or member_ref is not null)
);
create unique index session_implicit on keystride.session (organization_id, user_ref, member_ref) where implicit;
-- The index lacks the organization, because with old statistics the planner used it for a lookup by user and read every session.
create index session_expiry on keystride.session (expires_at);
call keystride.guard('keystride.session');
