set local role keystride_system;

-- Appends one checkpoint for each organization and day, and returns the number of new ones. Idempotent. An organization whose
-- lock is held is skipped, and the next call writes its checkpoint. Every transaction takes the advisory lock before the row
-- lock, because the reverse order could deadlock.
create or replace function keystride.append_checkpoints(today timestamptz default now()) returns int
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  org record;
  made int := 0;
begin
  for org in
    select h.organization_id from keystride.headcount h
    where not exists (select 1 from keystride.usage_event e where e.organization_id = h.organization_id
      and e.kind = 'checkpoint' and e.at >= date_trunc('day', today, 'UTC'))
    order by h.organization_id
  loop
    continue when not pg_try_advisory_xact_lock(keystride.headcount_lock(org.organization_id));
    continue when exists (select 1 from keystride.usage_event e where e.organization_id = org.organization_id
      and e.kind = 'checkpoint' and e.at >= date_trunc('day', today, 'UTC'));
    perform keystride.append_usage_event(org.organization_id, 'checkpoint');
    made := made + 1;
  end loop;
  return made;
end
$$;
revoke execute on function keystride.append_checkpoints from public;
grant execute on function keystride.append_checkpoints to session_user;
