set local role keystride_system;

-- Notifies when a count first exceeds its quota, by a creation, a change of type or a lower quota. A quota of 0 is unlimited.
create or replace function keystride.note_overage(
  organization uuid, counted text, n_before int, quota_before int, n int, quota int
) returns void
language sql security definer set search_path = pg_catalog, pg_temp
as $$
  insert into keystride.notification (organization_id, id, event, kind, at, details)
    select organization, keystride.new_id(clock_timestamp()), 'quota ' || counted || ' ' || gen_random_uuid(), 'quota-overage',
      clock_timestamp(), jsonb_build_object('of', counted, 'n', n, 'licensed', quota)
    where quota > 0 and n > quota and not (quota_before > 0 and n_before > quota_before)
$$;
revoke execute on function keystride.note_overage from public;
