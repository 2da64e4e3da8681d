set local role keystride_system;

-- Notifies each organization with a rule for it of an outage that is over. Several processes report the same outage, so
-- reports that overlap, or are within five seconds of each other, count as one.
create or replace function keystride.note_outage(began timestamptz, ended timestamptz) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform pg_advisory_xact_lock(7241865325823977);
  insert into keystride.notification (organization_id, id, event, kind, at, details)
    select a.organization_id, keystride.new_id(ended), 'degraded ' || extract(epoch from began), 'degraded', ended,
      jsonb_build_object('beganAt', floor(extract(epoch from began) * 1000), 'endedAt', floor(extract(epoch from ended) * 1000))
    from keystride.alerting a
    where exists (select 1 from jsonb_each_text(a.rules -> 'degraded') r where r.value::boolean)
      and not exists (select 1 from keystride.notification n where n.organization_id = a.organization_id
        and n.account_id is null and n.kind = 'degraded' and n.at >= began - interval '5 seconds'
        and (n.details ->> 'beganAt')::float8 / 1000 <= extract(epoch from ended) + 5)
    on conflict do nothing;
end
$$;
revoke execute on function keystride.note_outage from public;
grant execute on function keystride.note_outage to session_user;
