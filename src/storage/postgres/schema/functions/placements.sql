set local role keystride_system;

-- Lists the organizations that move, or have moved. Each process reads it twice a second if there are several databases.
create or replace function keystride.placements()
returns table (organization_id uuid, state text, other text, since timestamptz)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select p.organization_id, p.state, p.other, p.since from keystride.placement p order by p.since
$$;
revoke execute on function keystride.placements from public;
grant execute on function keystride.placements to session_user;
