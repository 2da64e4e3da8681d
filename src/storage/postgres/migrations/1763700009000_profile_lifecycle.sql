-- The life of a profile: successor generations, adaptive references, queued actions.

alter table keystride.member
  -- Success by typing; last_success_at counts codes too.
  add column typed_at timestamptz,
  -- Moves with every change of the references that count.
  add column profile_version bigint not null default 0,
  -- Of the current generation's samples: see src/domain/sample-format.ts.
  add column sample_format smallint not null default 1,
  -- The next generation while it is collected: its patterns carry generation + 1 and count nowhere else.
  add column successor_owner text,
  add column successor_format smallint,
  add column successor_visible int not null default 0,
  add column successor_sensitive int not null default 0,
  add column pending_id uuid,
  add column pending_action text check (pending_action in ('RESET_BIOMETRIC_PROFILE', 'UPDATE_BIOMETRIC_PROFILE')),
  add column pending_queued_at timestamptz,
  add column pending_replaced int not null default 0,
  add column adapted_at timestamptz,
  add constraint member_successor check (
    successor_visible >= 0 and successor_sensitive >= 0
    and (successor_owner is null) = (successor_visible + successor_sensitive = 0)
    and (successor_owner is null) = (successor_format is null)),
  add constraint member_pending check (
    (pending_id is null) = (pending_action is null) and (pending_id is null) = (pending_queued_at is null));

-- Nobody's typing is known apart from codes before this.
do $$
begin
  set local role keystride_system;
  update keystride.member set typed_at = last_success_at;
  reset role;
end
$$;

-- `adaptive`: learned from a sign-in. Not among n_visible and n_sensitive, and gone with any enrolled reference that is
-- taken away, since it was compared with that.
alter table keystride.reference_pattern
  add column kind text not null default 'enrolled' check (kind in ('enrolled', 'adaptive'));

-- The pending action that the session's bootstrap has reported.
alter table keystride.session add column reported_action uuid;

create function keystride.note_typing_success() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  update keystride.member m set typed_at = new.created_at
    where m.organization_id = new.organization_id and m.id = new.member_id;
  return null;
end
$$;
revoke execute on function keystride.note_typing_success() from public;
create trigger note_typing_success after insert on keystride.authentication
  for each row when (new.method = 'biometric' and new.authenticated) execute function keystride.note_typing_success();
