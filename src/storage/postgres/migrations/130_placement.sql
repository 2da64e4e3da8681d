-- Organizations that move between databases, or have moved. The home of an organization without a row here is its database.
create table keystride.placement (
  organization_id uuid primary key,
  -- At the source: copying, then leaving while changes are copied, closing while processes refuse its calls, closed while every
  -- write is refused, then left. At the destination: arriving.
  state text not null check (state in ('copying', 'leaving', 'closing', 'closed', 'left', 'arriving')),
  other text not null, -- name of the other database
  since timestamptz not null default clock_timestamp()
);
call keystride.guard('keystride.placement');
revoke insert, update, delete on keystride.placement from keystride_app;

-- Keys of rows that changed since they were copied.
create table keystride.moved_row (
  organization_id uuid not null,
  id bigint generated always as identity,
  relation text not null,
  key jsonb not null,
  primary key (organization_id, id)
);
call keystride.guard('keystride.moved_row');
revoke insert, update, delete on keystride.moved_row from keystride_app;
