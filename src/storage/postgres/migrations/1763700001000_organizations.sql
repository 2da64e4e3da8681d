-- Organizations, and what is decided once for each of them.
--
-- Who may do what, here and in every later file: the login owns the tables but, with row level security forced, sees
-- no row of them. It becomes keystride_app for one transaction (with keystride.organization_id set) or
-- keystride_system. Both roles exist before this runs: migrate.ts makes them.

create schema if not exists keystride;
grant usage on schema keystride to keystride_app, keystride_system;

-- Null where none is set: then `organization_id = null` holds for no row.
create function keystride.current_organization() returns uuid
language sql stable parallel safe
as $$ select nullif(current_setting('keystride.organization_id', true), '')::uuid $$;
revoke execute on function keystride.current_organization() from public;
grant execute on function keystride.current_organization() to keystride_app, keystride_system;

-- Closes a table to everybody but the two roles. `using (true)` for keystride_system, and nothing finer, because any
-- other condition would rank above `bands && ...` and keep the replay lookup from its index.
create procedure keystride.guard(guarded regclass)
language plpgsql
as $$
begin
  execute format('alter table %s enable row level security', guarded);
  execute format('alter table %s force row level security', guarded);
  execute format('create policy own_organization on %s to keystride_app
    using (organization_id = keystride.current_organization())
    with check (organization_id = keystride.current_organization())', guarded);
  execute format('create policy every_organization on %s to keystride_system using (true) with check (true)', guarded);
  execute format('grant select, insert, update, delete on %s to keystride_app, keystride_system', guarded);
end
$$;
revoke execute on procedure keystride.guard(regclass) from public;

create table keystride.organization (
  organization_id uuid primary key,
  name text not null,
  default_language text not null default 'en',
  language_mode text not null default 'auto' check (language_mode in ('auto', 'forced')),
  wrapped_key bytea not null,
  created_at timestamptz not null
);

create table keystride.policy (
  organization_id uuid not null references keystride.organization,
  id uuid not null,
  is_default boolean not null default false,
  policy jsonb not null,
  created_at timestamptz not null,
  primary key (organization_id, id)
);
create unique index policy_default on keystride.policy (organization_id) where is_default;

create table keystride.api_key (
  organization_id uuid not null references keystride.organization,
  id uuid not null,
  label text not null,
  scopes text[] not null,
  sha256 bytea not null check (octet_length(sha256) = 32),
  created_at timestamptz not null,
  revoked_at timestamptz,
  primary key (organization_id, id),
  unique (organization_id, sha256)
);
-- Not unique: a key is looked up before its organization is known, and 256 random bits do not repeat.
create index api_key_sha256 on keystride.api_key (sha256) where revoked_at is null;

call keystride.guard('keystride.organization');
call keystride.guard('keystride.policy');
call keystride.guard('keystride.api_key');

-- One of the few functions that look across organizations: whose key is this?
create function keystride.resolve_api_key(wanted bytea)
returns table (organization_id uuid, id uuid, scopes jsonb)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select k.organization_id, k.id, to_jsonb(k.scopes)
  from keystride.api_key k where k.sha256 = wanted and k.revoked_at is null limit 1
$$;
revoke execute on function keystride.resolve_api_key(bytea) from public;
grant create on schema keystride to keystride_system;
alter function keystride.resolve_api_key(bytea) owner to keystride_system;
revoke create on schema keystride from keystride_system;
-- The login calls it without taking a role first: one round trip instead of three.
do $$
begin
  set local role keystride_system;
  execute format('grant execute on function keystride.resolve_api_key(bytea) to %I', session_user);
  reset role;
end
$$;
