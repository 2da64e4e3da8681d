-- Judged attempts, in monthly partitions that keystride.ensure_partitions creates.

create table keystride.authentication (
  organization_id uuid not null,
  id uuid not null, -- UUIDv7: its first 48 bits are the time, so partitions are months
  created_at timestamptz not null,
  account_id uuid not null,
  member_id uuid not null, -- without a foreign key: record_attempts locks the member, and a deletion deletes both
  user_ref text not null,
  member_ref text not null,
  account_type text not null,
  session_id text not null,
  method text not null,
  authenticated boolean not null,
  recommended_action text not null,
  reason text not null,
  confidence float8 not null,
  confidence_biometrics float8 not null,
  confidence_context float8,
  policy_id uuid not null,
  n_patterns_ref int not null,
  n_patterns_ref_used int not null,
  pattern_id uuid,
  sealed bytea,
  facts text, -- AttemptFacts of src/domain/attempt-facts.ts as JSON text, which PostgreSQL need not parse
  facets jsonb, -- the counted facets of the facts; nothing that names a person
  events jsonb, -- AttemptEvents of src/domain/attempt-events.ts; null for most
  tags jsonb, -- objects of k and v; null if there are none
  primary key (organization_id, id)
) partition by range (id);
alter table keystride.authentication alter column sealed set storage external; -- encrypted bytes do not compress
create index authentication_user on keystride.authentication (organization_id, user_ref, id);
create index authentication_events on keystride.authentication (organization_id, id) where events is not null;
create index authentication_blocked on keystride.authentication (organization_id, id) include (account_id, created_at)
  where recommended_action = 'block';
call keystride.guard('keystride.authentication');

-- A query that names a partition is under the policies of the partition. It has none, so it shows no row.
create table keystride.authentication_default partition of keystride.authentication default
  with (toast_tuple_target = 4080); -- as in ensure_partitions
alter table keystride.authentication_default enable row level security, force row level security;
