-- Organizations with their policies, API keys and typing words.
-- functions/guard.sql explains the rights of the roles on each table.

create table keystride.organization (
  organization_id uuid primary key,
  name text not null,
  default_language text not null default 'en',
  language_mode text not null default 'auto' check (language_mode in ('auto', 'forced')),
  wrapped_key bytea not null,
  created_at timestamptz not null,
  quota_mode text not null default 'soft' check (quota_mode in ('soft', 'strict')),
  quota_accounts int not null default 0 check (quota_accounts >= 0), -- 0 is unlimited, in each quota
  quota_shared_accounts int not null default 0 check (quota_shared_accounts >= 0),
  quota_members int not null default 0 check (quota_members >= 0), -- members of one shared account
  -- Counts the changes of the organization's words. Processes cache the words and compare this number.
  words_version int not null default 0,
  -- Id of the key-encryption key that wraps the data key: the first 8 bytes of the wrapped key.
  key_id text not null generated always as (encode(substring(wrapped_key from 1 for 8), 'hex')) stored,
  redirect_origins jsonb not null default '[]', -- allowed targets at the end of a profile link; empty allows any
  -- Limits of each API key: requests a second (0 is unlimited) and burst. Null stands for the limits of the deployment.
  key_rate int check (key_rate between 0 and 1000000),
  key_burst int check (key_burst between 1 and 1000000),
  constraint organization_key_rate check ((key_rate is null) = (key_burst is null))
);
call keystride.guard('keystride.organization');
revoke delete on keystride.organization from keystride_app;
create trigger count_organization after insert on keystride.organization
  for each row execute function keystride.count_organization();
create trigger note_overage after update of quota_accounts, quota_shared_accounts on keystride.organization
  for each row execute function keystride.note_overage_of_quota();

create table keystride.policy (
  organization_id uuid not null references keystride.organization,
  id uuid not null,
  is_default boolean not null default false,
  policy jsonb not null,
  created_at timestamptz not null,
  groups jsonb not null default '[]', -- groups of accounts; the oldest policy with a group of the account applies
  is_shadow boolean not null default false, -- judges each attempt too, without effect
  updated_at timestamptz,
  archived_at timestamptz, -- a policy is not deleted: attempts name the policy that judged them
  primary key (organization_id, id),
  constraint policy_default_lives check (not is_default or archived_at is null),
  constraint policy_shadow_lives check (not is_shadow or archived_at is null)
);
create unique index policy_default on keystride.policy (organization_id) where is_default;
create unique index policy_shadow on keystride.policy (organization_id) where is_shadow;
call keystride.guard('keystride.policy');

create table keystride.api_key (
  organization_id uuid not null references keystride.organization,
  id uuid not null,
  label text not null,
  scopes text[] not null,
  sha256 bytea not null check (octet_length(sha256) = 32),
  created_at timestamptz not null,
  revoked_at timestamptz,
  expires_at timestamptz, -- compared with the database's clock; null if the key does not expire
  primary key (organization_id, id),
  unique (organization_id, sha256)
);
-- The index is not unique, because a key is looked up before its organization is known, and 256 random bits do not collide.
create index api_key_sha256 on keystride.api_key (sha256) where revoked_at is null;
call keystride.guard('keystride.api_key');

-- The organization's own words, and the core words that it has disabled.
create table keystride.typing_word (
  organization_id uuid not null references keystride.organization,
  id uuid not null,
  language text not null,
  word text not null,
  core boolean not null,
  enabled boolean not null,
  primary key (organization_id, id),
  unique (organization_id, language, core, word),
  check (not (core and enabled))
);
call keystride.guard('keystride.typing_word');
