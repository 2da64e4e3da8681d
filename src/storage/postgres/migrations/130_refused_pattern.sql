-- Typing patterns of calls that neither recorded an attempt with them nor stored them as references. Each has a replay mark.

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
  alter column member_id set (n_distinct = -0.1); -- as of reference_pattern
call keystride.guard('keystride.refused_pattern');
