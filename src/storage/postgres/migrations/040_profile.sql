-- Reference patterns of members, and links to the page on which a person types them.

create table keystride.reference_pattern (
  organization_id uuid not null,
  member_id uuid not null,
  id uuid not null,
  generation int not null,
  mode text not null check (mode in ('visible', 'sensitive')),
  sealed bytea not null,
  created_at timestamptz not null,
  -- An adaptive pattern was learned from a sign-in. It is deleted with any enrolled reference, because it was compared with all of them.
  kind text not null default 'enrolled' check (kind in ('enrolled', 'adaptive')),
  primary key (organization_id, member_id, id),
  foreign key (organization_id, member_id) references keystride.member (organization_id, id)
);
alter table keystride.reference_pattern
  alter column sealed set storage external, -- encrypted bytes do not compress
  -- The planner assumes ten patterns a member. Statistics of a table with a single member made it expect the whole
  -- organization's patterns for each member, and it read all of them by another index.
  alter column member_id set (n_distinct = -0.1);
create index reference_pattern_created on keystride.reference_pattern (organization_id, created_at);
create index reference_pattern_id on keystride.reference_pattern (organization_id, id);
call keystride.guard('keystride.reference_pattern');

-- A profile link that ends is deleted.
create table keystride.profile_link (
  organization_id uuid not null references keystride.organization,
  id uuid not null,
  member_id uuid not null,
  kind text not null check (kind in ('create-profile', 'reset-profile', 'complete-profile')),
  aim text not null check (aim in ('target', 'full')),
  sha256 bytea not null check (octet_length(sha256) = 32),
  redirect_uri text,
  expires_at timestamptz not null,
  primary key (organization_id, id),
  unique (organization_id, member_id, kind), -- a new link replaces the older one
  foreign key (organization_id, member_id) references keystride.member (organization_id, id)
);
-- The index is not unique, because a link is looked up before its organization is known, and 256 random bits do not collide.
create index profile_link_sha256 on keystride.profile_link (sha256);
create index profile_link_expiry on keystride.profile_link (organization_id, expires_at);
call keystride.guard('keystride.profile_link');
