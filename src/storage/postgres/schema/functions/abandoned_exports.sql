set local role keystride_system;

-- Lists up to 100 exports that no process writes, because the process died or the job was lost.
create or replace function keystride.abandoned_exports()
returns table (organization_id uuid, id uuid)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select a.organization_id, a.id from keystride.export_archive a
  where (a.status = 'running' and a.claimed_until < clock_timestamp())
    or (a.status = 'queued' and a.created_at < clock_timestamp() - interval '30 seconds')
  order by a.created_at limit 100
$$;
revoke execute on function keystride.abandoned_exports from public;
grant execute on function keystride.abandoned_exports to session_user;
