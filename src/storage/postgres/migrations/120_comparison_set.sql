-- Everything that the next typing pattern of a member is compared with, in one row, so that a sign-in reads one row in place of 53:
-- references and known patterns, sealed (src/flows/attempt/comparison-set.ts). A row is derived from reference_pattern,
-- authentication and refused_pattern. It is out of date, and unused, unless its generation and profile_version are those of the
-- member. Patterns since its attempts_version are read from their rows.

create table keystride.comparison_set (
  organization_id uuid not null,
  member_id uuid not null,
  generation int not null,
  profile_version bigint not null,
  attempts_version bigint not null,
  has_adaptive boolean not null,
  oldest_at timestamptz not null, -- time of the oldest attempt or refused pattern in it, for retention
  base bytea not null,
  tail bytea not null default '', -- patterns since the base, so that an attempt writes 190 bytes in place of 9 kB
  primary key (organization_id, member_id),
  foreign key (organization_id, member_id) references keystride.member (organization_id, id) on delete cascade
) with (fillfactor = 50); -- room for heap-only updates: every attempt adds to the tail
alter table keystride.comparison_set
  alter column base set storage external, -- encrypted bytes do not compress
  alter column tail set storage plain; -- it stays in the row, which is read and written as a whole
create index comparison_set_oldest on keystride.comparison_set (oldest_at);
call keystride.guard('keystride.comparison_set');
create trigger forget_comparison_set after update of generation, profile_version on keystride.member
  for each row execute function keystride.forget_comparison_set();
