-- Who was erased, by the hash of an id that points nowhere any more: what comes back with a restored backup is held against it.

create table keystride.erasure (
  organization_id uuid not null references keystride.organization,
  id uuid not null,
  at timestamptz not null,
  of text not null check (of in ('account', 'member')), -- a member is one that was taken off a shared account
  person bytea not null, -- SHA-256 of the account's or the member's id
  primary key (organization_id, id)
);
call keystride.guard('keystride.erasure');
-- Nobody changes what was erased.
revoke update, delete on keystride.erasure from keystride_app, keystride_system;
