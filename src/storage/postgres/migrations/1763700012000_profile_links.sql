-- Profile links: time-limited ways to a hosted page on which somebody types a profile. A link that ends is deleted.

create table keystride.profile_link (
  organization_id uuid not null references keystride.organization,
  id uuid not null,
  member_id uuid not null,
  kind text not null check (kind in ('create-profile', 'reset-profile', 'complete-profile')),
  aim text not null check (aim in ('target', 'full')),
  sha256 bytea not null check (octet_length(sha256) = 32),
  redirect_uri text,
  expires_at timestamptz not null,
  primary key (organization_id, id),
  -- One live link per user and kind: a new one takes the place of the older.
  unique (organization_id, member_id, kind),
  foreign key (organization_id, member_id) references keystride.member (organization_id, id)
);
-- Not unique: a link is looked up before its organization is known, and 256 random bits do not repeat.
create index profile_link_sha256 on keystride.profile_link (sha256);
create index profile_link_expiry on keystride.profile_link (organization_id, expires_at);

call keystride.guard('keystride.profile_link');

-- Where browsers may be sent at the end of a link, origins; empty: anywhere.
alter table keystride.organization add column redirect_origins jsonb not null default '[]';

-- Looks across organizations: whose link is this? The server's clock keeps the time.
create function keystride.find_profile_link(wanted bytea)
returns table (
  organization_id uuid, id uuid, kind text, aim text, redirect_uri text, user_ref text, member_ref text)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select l.organization_id, l.id, l.kind, l.aim, l.redirect_uri, a.user_ref, m.member_ref
  from keystride.profile_link l
  join keystride.member m on m.organization_id = l.organization_id and m.id = l.member_id and m.archived_at is null
  join keystride.account a on a.organization_id = m.organization_id and a.id = m.account_id
  where l.sha256 = wanted and l.expires_at > clock_timestamp() limit 1
$$;
revoke execute on function keystride.find_profile_link(bytea) from public;
grant create on schema keystride to keystride_system;
alter function keystride.find_profile_link(bytea) owner to keystride_system;
revoke create on schema keystride from keystride_system;
do $$
begin
  set local role keystride_system;
  execute format('grant execute on function keystride.find_profile_link(bytea) to %I', session_user);
  reset role;
end
$$;
