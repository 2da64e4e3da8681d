set local role keystride_system;

-- Lists up to 100 organizations with an expired profile link. The store deletes a link together with the patterns that it has
-- collected.
create or replace function keystride.organizations_with_ended_links()
returns table (organization_id uuid)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select o.organization_id from keystride.organization o where exists (
    select 1 from keystride.profile_link l where l.organization_id = o.organization_id and l.expires_at < clock_timestamp())
    and not exists (select from keystride.placement p where p.organization_id = o.organization_id)
  limit 100
$$;
revoke execute on function keystride.organizations_with_ended_links from public;
grant execute on function keystride.organizations_with_ended_links to session_user;
