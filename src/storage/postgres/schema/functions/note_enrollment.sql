set local role keystride_system;

-- Notifies an organization with a rule for it that a profile became complete, in the transaction that completed it. The
-- notification counts as read from the start, so that enrollments do not hide the unread ones.
create or replace function keystride.note_enrollment() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  insert into keystride.notification (organization_id, id, event, kind, at, account_id, member_id, details, read_at)
    select new.organization_id, keystride.new_id(clock_timestamp()),
      'enrolled ' || new.id || ' ' || new.generation || ' ' || new.profile_version, 'enrollment-completed', new.completed_at,
      new.account_id, new.id, jsonb_build_object('accountType', c.type, 'nPatternsRef', new.n_visible + new.n_sensitive),
      clock_timestamp()
    from keystride.account c join keystride.alerting a using (organization_id)
    where c.organization_id = new.organization_id and c.id = new.account_id
      and exists (select 1 from jsonb_each_text(a.rules -> 'enrollment-completed') r where r.value::boolean)
    on conflict do nothing;
  return null;
end
$$;
revoke execute on function keystride.note_enrollment from public;
