-- Accounts and their members, and the records that outlive them.

create table keystride.account (
  organization_id uuid not null references keystride.organization,
  id uuid not null,
  user_ref text not null,
  type text not null check (type in ('nominative', 'generic')),
  display_name text,
  member_selection text not null default 'ask' check (member_selection in ('ask', 'list')),
  created_at timestamptz not null,
  groups jsonb not null default '[]',
  tag jsonb not null default '{}',
  primary key (organization_id, id),
  unique (organization_id, user_ref)
);
create index account_created on keystride.account (organization_id, created_at);
create index account_grouped on keystride.account (organization_id) where groups <> '[]';
call keystride.guard('keystride.account');
create trigger count_account after insert or delete or update of type on keystride.account
  for each row execute function keystride.count_account();
create trigger total_account after insert on keystride.account
  for each row execute function keystride.total_account();
create trigger move_row_versions after update on keystride.account
  for each row execute function keystride.move_row_versions();

create table keystride.member (
  organization_id uuid not null,
  id uuid not null,
  account_id uuid not null,
  member_ref text not null,
  -- Profile. The counts by mode include the enrolled reference patterns of the current generation, and no adaptive ones.
  generation int not null default 0,
  n_visible int not null default 0 check (n_visible >= 0),
  n_sensitive int not null default 0 check (n_sensitive >= 0),
  ever_reset boolean not null default false,
  reset_at timestamptz,
  completed_at timestamptz,
  last_success_at timestamptz, -- by typing or by code
  preferred_language text,
  -- AttemptCounters of src/domain/attempts.ts. An update replaces them as a whole, if attempts_version is unchanged.
  attempts jsonb not null,
  attempts_version bigint not null default 0,
  created_at timestamptz not null,
  -- Security code. It is on this row because its attempts are counted here, under the same lock.
  code_hash text, -- null if the member has no code
  code_previous_hash text, -- the member may not choose this code again
  code_temporary boolean not null default false,
  code_used boolean not null default false,
  code_set_at timestamptz,
  code_expires_at timestamptz, -- only of a temporary code
  code_issued jsonb not null default '[]', -- times of the latest temporary codes, epoch ms
  code_version bigint not null default 0,
  display_name text,
  archived_at timestamptz, -- time of the removal from a shared account; the reference no longer finds the row, which keeps its locks
  -- Refused typing patterns, by the server's clock. They are on this row because every call with a pattern reads it.
  invalid_patterns timestamptz[] not null default '{}', -- times of the latest ones, oldest first
  patterns_closed_until timestamptz, -- null if typing was never closed
  typed_at timestamptz, -- last success by typing
  profile_version bigint not null default 0, -- increases with every change of the references that count
  sample_format smallint not null default 1, -- of the current generation (src/domain/sample-format.ts)
  -- The next generation while it is collected. Its patterns have generation + 1, and no other count includes them.
  successor_owner text,
  successor_format smallint,
  successor_visible int not null default 0,
  successor_sensitive int not null default 0,
  pending_id uuid,
  pending_action text check (pending_action in ('RESET_BIOMETRIC_PROFILE', 'UPDATE_BIOMETRIC_PROFILE')),
  pending_queued_at timestamptz,
  pending_replaced int not null default 0,
  adapted_at timestamptz,
  -- Version of everything on which a verdict depends. A process may judge with a cached member, and its commit compares versions.
  row_version bigint not null default 0,
  -- Habits of src/domain/context/circumstances.ts as JSON text, which PostgreSQL need not parse.
  habits text not null default '{}',
  blocked_until timestamptz generated always as (keystride.blocked_until(attempts)) stored,
  primary key (organization_id, id),
  unique (organization_id, account_id, member_ref),
  foreign key (organization_id, account_id) references keystride.account (organization_id, id),
  constraint member_code check (code_temporary = (code_expires_at is not null) and (code_temporary or not code_used)),
  constraint member_successor check (
    successor_visible >= 0 and successor_sensitive >= 0
    and (successor_owner is null) = (successor_visible + successor_sensitive = 0)
    and (successor_owner is null) = (successor_format is null)),
  constraint member_pending check (
    (pending_id is null) = (pending_action is null) and (pending_id is null) = (pending_queued_at is null))
) with (fillfactor = 80); -- room for heap-only updates: every attempt rewrites the counters
create index member_blocked on keystride.member (organization_id, blocked_until desc, id)
  where blocked_until is not null and archived_at is null;
create index member_invalid_patterns on keystride.member (id) where invalid_patterns <> '{}';
call keystride.guard('keystride.member');
create trigger count_member after insert or delete or update of archived_at, completed_at on keystride.member
  for each row execute function keystride.count_member();
create trigger keep_locks before insert or delete on keystride.member
  for each row execute function keystride.keep_locks();
create trigger keep_locks_of_renamed before update of member_ref on keystride.member
  for each row when (old.member_ref is distinct from new.member_ref) execute function keystride.keep_locks();
-- The condition saves the call in an update that increases the version itself, as each recorded attempt does.
create trigger move_row_version before update on keystride.member
  for each row when (new.row_version is not distinct from old.row_version)
  execute function keystride.move_row_version();
-- The last two triggers are on columns that no attempt writes, so that they cost an attempt nothing.
create trigger note_enrollment after update of completed_at on keystride.member
  for each row when (new.completed_at is not null) execute function keystride.note_enrollment();
create trigger note_reset after update of ever_reset, reset_at on keystride.member
  for each row when (new.archived_at is null and (new.reset_at is distinct from old.reset_at
    or (new.n_visible + new.n_sensitive = 0 and old.n_visible + old.n_sensitive > 0)))
  execute function keystride.note_reset();

-- The attempt counters of a person outlive the account by a day, so that its deletion and new creation lift no lock.
create table keystride.lock_tombstone (
  organization_id uuid not null references keystride.organization,
  person bytea not null check (octet_length(person) = 32), -- SHA-256 of organization, user and member reference
  attempts jsonb not null,
  kept_until timestamptz not null,
  member_id uuid, -- of a renamed member; null if the member was deleted
  primary key (organization_id, person)
);
call keystride.guard('keystride.lock_tombstone');
revoke insert, update, delete on keystride.lock_tombstone from keystride_app;

-- Administrators' actions on a person. Functions delete the rows with the account or at the end of their retention.
create table keystride.admin_action (
  organization_id uuid not null references keystride.organization,
  id uuid not null, -- UUIDv7
  at timestamptz not null,
  account_id uuid not null,
  user_ref text not null,
  member_ref text not null,
  action text not null,
  api_key_id uuid not null,
  request_id uuid not null,
  done_of uuid, -- id of the action that this row records as carried out
  primary key (organization_id, id)
);
create index admin_action_user on keystride.admin_action (organization_id, user_ref, id) where done_of is null;
create index admin_action_done on keystride.admin_action (organization_id, done_of) where done_of is not null;
create index admin_action_account on keystride.admin_action (organization_id, account_id);
call keystride.guard('keystride.admin_action');
revoke update, delete on keystride.admin_action from keystride_app;
revoke update on keystride.admin_action from keystride_system;
create trigger append_only before update on keystride.admin_action
  for each row execute function keystride.refuse_change();
create trigger append_only_whole before truncate on keystride.admin_action
  for each statement execute function keystride.refuse_change();

-- Erased people, by the hash of a deleted id, so that they can be erased again after the restore of a backup. The table is
-- append-only until its organization is deleted.
create table keystride.erasure (
  organization_id uuid not null references keystride.organization on delete cascade,
  id uuid not null,
  at timestamptz not null,
  of text not null check (of in ('account', 'member')), -- `member` is one removed from a shared account
  person bytea not null, -- SHA-256 of the account's or the member's id
  primary key (organization_id, id)
);
create index erasure_at on keystride.erasure (at); -- for the job that vacuums, which looks up the newest erasure
call keystride.guard('keystride.erasure');
revoke update, delete on keystride.erasure from keystride_app, keystride_system;
