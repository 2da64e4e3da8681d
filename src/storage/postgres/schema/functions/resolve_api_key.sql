set local role keystride_system;

-- Finds a live API key of any organization by its hash. `key_rate` and `key_burst` are null if the limits of the deployment
-- apply. The login calls the function without a role, in one round trip instead of three.
create or replace function keystride.resolve_api_key(wanted bytea)
returns table (organization_id uuid, id uuid, scopes jsonb, key_rate int, key_burst int)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select k.organization_id, k.id, to_jsonb(k.scopes), o.key_rate, o.key_burst
  from keystride.api_key k join keystride.organization o using (organization_id)
  where k.sha256 = wanted and k.revoked_at is null and (k.expires_at is null or k.expires_at > now()) limit 1
$$;
revoke execute on function keystride.resolve_api_key from public;
grant execute on function keystride.resolve_api_key to session_user;
