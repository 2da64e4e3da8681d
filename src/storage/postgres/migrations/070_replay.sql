-- Marks of typing patterns that were seen, to find replays.

create table keystride.replay_mark (
  organization_id uuid not null,
  exact bytea not null check (octet_length(exact) = 16),
  bands bigint[] not null,
  member_id uuid not null, -- the mark is erased with the member
  seen_at timestamptz not null,
  -- The pattern of the mark, to compare a similar one with: people who type the same words every day come near an earlier
  -- typing of theirs by chance, in 8 of 10,000 pairs of a passphrase.
  pattern_id uuid not null,
  generation int not null,
  primary key (organization_id, exact)
);
-- Without the organization, which GIN cannot hold without an extension: bands are keyed by organization, so equal bands of
-- two organizations are chance. Without a pending list, which every lookup would scan.
create index replay_mark_bands on keystride.replay_mark using gin (bands) with (fastupdate = off);
create index replay_mark_seen on keystride.replay_mark using brin (seen_at);
-- Without the organization: on old statistics the planner used this index, by organization alone, for the lookup of a mark
-- by its key, and read every mark of the organization. Ids of members are unique across organizations.
create index replay_mark_member on keystride.replay_mark (member_id);
call keystride.guard('keystride.replay_mark');
