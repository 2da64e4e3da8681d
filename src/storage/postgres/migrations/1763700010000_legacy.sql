-- The session of a member whose calls bring none: one at a time, found by the member.

alter table keystride.session
  add column implicit boolean not null default false,
  add constraint session_implicit_member check (not implicit or member_ref is not null);
create unique index session_implicit on keystride.session (organization_id, user_ref, member_ref) where implicit;
