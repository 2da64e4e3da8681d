-- Marks of typing patterns that were seen, which find replays, and the refused patterns that have no other place.

create table keystride.replay_mark (
  organization_id uuid not null,
  exact bytea not null check (octet_length(exact) = 16),
  bands bigint[] not null,
  member_id uuid not null, -- the mark is erased with the member
  seen_at timestamptz not null,
  -- The pattern of the mark. A similar pattern is compared with it, because people who type the same words every day come
  -- near an earlier pattern of their own by chance, in 8 of 10,000 pairs of a passphrase.
  pattern_id uuid not null,
  generation int not null,
  primary key (organization_id, exact)
);
-- The index lacks the organization, which GIN supports only by an extension. Bands are keyed by organization, so two organizations
-- have equal bands only by chance. The index has no pending list, because every lookup would scan the list.
create index replay_mark_bands on keystride.replay_mark using gin (bands) with (fastupdate = off);
create index replay_mark_seen on keystride.replay_mark using brin (seen_at);
-- The index lacks the organization, because with old statistics the planner used it, by the organization alone, to look up a mark
-- by its key, and read every mark of the organization. Ids of members are unique across organizations.
create index replay_mark_member on keystride.replay_mark (member_id);
call keystride.guard('keystride.replay_mark');

-- Patterns of calls that neither recorded an attempt with them nor stored them as references. Each has a replay mark.
create table keystride.refused_pattern (
  organization_id uuid not null,
  member_id uuid not null,
  id uuid not null,
  generation int not null,
  sealed bytea not null,
  seen_at timestamptz not null,
  primary key (organization_id, member_id, id)
);
alter table keystride.refused_pattern
  alter column sealed set storage external, -- encrypted bytes do not compress
  alter column member_id set (n_distinct = -0.1); -- as for reference_pattern
call keystride.guard('keystride.refused_pattern');
