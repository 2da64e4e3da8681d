set local role keystride_system;

-- Finds a valid profile link of any organization by the hash of its key. The server's clock decides whether it is valid.
create or replace function keystride.find_profile_link(wanted bytea)
returns table (organization_id uuid, id uuid, kind text, aim text, redirect_uri text, user_ref text, member_ref text)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select l.organization_id, l.id, l.kind, l.aim, l.redirect_uri, a.user_ref, m.member_ref
  from keystride.profile_link l
  join keystride.member m on m.organization_id = l.organization_id and m.id = l.member_id and m.archived_at is null
  join keystride.account a on a.organization_id = m.organization_id and a.id = m.account_id
  where l.sha256 = wanted and l.expires_at > clock_timestamp() limit 1
$$;
revoke execute on function keystride.find_profile_link from public;
grant execute on function keystride.find_profile_link to session_user;
