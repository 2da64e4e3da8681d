-- How often each API key of an organization may ask: requests a second, 0 as often as it likes, and how many at once. Null is
-- what the deployment says.
alter table keystride.organization
  add column key_rate int check (key_rate between 0 and 1000000),
  add column key_burst int check (key_burst between 1 and 1000000),
  add constraint organization_key_rate check ((key_rate is null) = (key_burst is null));

-- Told with the key, which is looked up anyway.
grant create on schema keystride to keystride_system;
set local role keystride_system;
drop function keystride.resolve_api_key(bytea);
create function keystride.resolve_api_key(wanted bytea)
returns table (organization_id uuid, id uuid, scopes jsonb, key_rate int, key_burst int)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select k.organization_id, k.id, to_jsonb(k.scopes), o.key_rate, o.key_burst
  from keystride.api_key k join keystride.organization o using (organization_id)
  where k.sha256 = wanted and k.revoked_at is null limit 1
$$;
revoke execute on function keystride.resolve_api_key(bytea) from public;
do $$ begin
  execute format('grant execute on function keystride.resolve_api_key(bytea) to %I', session_user);
end $$;
reset role;
revoke create on schema keystride from keystride_system;
