-- Policies that are assigned, judge in the shadow of the active one, and are archived in place of being deleted: records
-- name the policy that judged them.

alter table keystride.policy
  add column groups jsonb not null default '[]', -- of accounts; the oldest policy with a group of the account judges
  add column is_shadow boolean not null default false,
  add column updated_at timestamptz,
  add column archived_at timestamptz,
  add constraint policy_default_lives check (not is_default or archived_at is null),
  add constraint policy_shadow_lives check (not is_shadow or archived_at is null);
create unique index policy_shadow on keystride.policy (organization_id) where is_shadow;
