-- Exports: archives that jobs write, in encrypted pieces that every machine can read.

create table keystride.export_archive (
  organization_id uuid not null references keystride.organization,
  id uuid not null,
  kind text not null check (kind in ('authentications', 'logs', 'usage')),
  date_from timestamptz not null,
  date_to timestamptz not null,
  status text not null default 'queued' check (status in ('queued', 'running', 'ready', 'failed')),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  size bigint, -- of the zip, bytes; null until it is ready
  attempts int not null default 0,
  -- Of the attempt that writes, or has written: the pieces of another cannot be read without it.
  secret bytea,
  claimed_until timestamptz,
  primary key (organization_id, id),
  check (status <> 'ready' or (secret is not null and size is not null))
);
create index export_archive_expiry on keystride.export_archive (expires_at);

-- No foreign key: an archive goes at once, its pieces, which nothing can read any more, in the background.
create table keystride.export_piece (
  organization_id uuid not null,
  archive_id uuid not null,
  attempt int not null,
  n int not null,
  sealed bytea not null,
  primary key (organization_id, archive_id, attempt, n)
);
alter table keystride.export_piece alter column sealed set storage external;

call keystride.guard('keystride.export_archive');
call keystride.guard('keystride.export_piece');

-- Waits until every deletion of a person that is under way in this organization has ended: what is read afterwards has
-- none of it, and deletions that begin afterwards see the archive and take care of it themselves.
create function keystride.await_erasures() returns void
language sql security definer set search_path = pg_catalog, pg_temp
as $$
  select pg_advisory_xact_lock(hashtextextended('keystride erasure ' || keystride.current_organization(), 0))
$$;
create function keystride.note_erasure() returns void
language sql security definer set search_path = pg_catalog, pg_temp
as $$
  select pg_advisory_xact_lock_shared(hashtextextended('keystride erasure ' || keystride.current_organization(), 0))
$$;

-- What nobody works on: whose process died, or whose job was lost.
create function keystride.abandoned_exports()
returns table (organization_id uuid, id uuid)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select a.organization_id, a.id from keystride.export_archive a
  where (a.status = 'running' and a.claimed_until < clock_timestamp())
    or (a.status = 'queued' and a.created_at < clock_timestamp() - interval '30 seconds')
  order by a.created_at limit 100
$$;

-- Removes archives past their time and some pieces without a readable archive; true where more are left.
create function keystride.forget_exports(now timestamptz) returns boolean
language sql security definer set search_path = pg_catalog, pg_temp
as $$
  delete from keystride.export_archive where expires_at <= now;
  with gone as (
    delete from keystride.export_piece where ctid = any (array(
      select p.ctid from keystride.export_piece p where not exists (
        select 1 from keystride.export_archive a where a.organization_id = p.organization_id and a.id = p.archive_id
          and a.attempts = p.attempt and a.secret is not null)
      limit 100))
    returning 1)
  select count(*) = 100 from gone
$$;

revoke execute on function keystride.await_erasures() from public;
revoke execute on function keystride.note_erasure() from public;
revoke execute on function keystride.abandoned_exports() from public;
revoke execute on function keystride.forget_exports(timestamptz) from public;
grant execute on function keystride.await_erasures() to keystride_app;
grant execute on function keystride.note_erasure() to keystride_app;
grant create on schema keystride to keystride_system;
alter function keystride.await_erasures() owner to keystride_system;
alter function keystride.note_erasure() owner to keystride_system;
alter function keystride.abandoned_exports() owner to keystride_system;
alter function keystride.forget_exports(timestamptz) owner to keystride_system;
revoke create on schema keystride from keystride_system;
do $$
begin
  set local role keystride_system;
  execute format('grant execute on function keystride.abandoned_exports() to %I', session_user);
  execute format('grant execute on function keystride.forget_exports(timestamptz) to %I', session_user);
  reset role;
end
$$;
