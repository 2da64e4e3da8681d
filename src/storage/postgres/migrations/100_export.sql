-- Archives of exports. Jobs write them in encrypted pieces that every machine can read.

create table keystride.export_archive (
  organization_id uuid not null references keystride.organization,
  id uuid not null,
  kind text not null check (kind in ('authentications', 'logs', 'usage')),
  date_from timestamptz not null,
  date_to timestamptz not null,
  status text not null default 'queued' check (status in ('queued', 'running', 'ready', 'failed')),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  size bigint, -- bytes of the zip file; null until it is ready
  attempts int not null default 0,
  secret bytea, -- of the latest attempt; the pieces of other attempts cannot be read with it
  claimed_until timestamptz,
  primary key (organization_id, id),
  check (status <> 'ready' or (secret is not null and size is not null))
);
create index export_archive_expiry on keystride.export_archive (expires_at);
call keystride.guard('keystride.export_archive');

-- The table has no foreign key, because an archive is deleted at once, and its then unreadable pieces in the background.
create table keystride.export_piece (
  organization_id uuid not null,
  archive_id uuid not null,
  attempt int not null,
  n int not null,
  sealed bytea not null,
  primary key (organization_id, archive_id, attempt, n)
);
alter table keystride.export_piece alter column sealed set storage external; -- encrypted bytes do not compress
call keystride.guard('keystride.export_piece');
