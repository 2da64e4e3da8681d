set local role keystride_system;

-- Notifies that a profile became empty, or was replaced by a reset.
create or replace function keystride.note_reset() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  insert into keystride.notification (organization_id, id, event, kind, at, account_id, member_id)
    values (new.organization_id, keystride.new_id(clock_timestamp()),
      'reset ' || new.id || ' ' || new.generation || ' ' || new.profile_version, 'profile-reset', clock_timestamp(),
      new.account_id, new.id)
    on conflict do nothing;
  return null;
end
$$;
revoke execute on function keystride.note_reset from public;
