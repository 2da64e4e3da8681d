-- Tries at single sign-on in browsers that have not signed in as the person: see StrangerTryStore.

create table keystride.sso_stranger (
  organization_id uuid not null,
  member_id uuid not null,
  -- Times of tries; a try that is not decided yet is in one of the first two, a pattern also in the third.
  typing timestamptz[] not null default '{}',
  code timestamptz[] not null default '{}',
  invalid timestamptz[] not null default '{}',
  owners_from timestamptz not null default '-infinity', -- an earlier sign-in makes no browser the person's own
  primary key (organization_id, member_id),
  foreign key (organization_id, member_id) references keystride.member (organization_id, id) on delete cascade
);
call keystride.guard('keystride.sso_stranger');
