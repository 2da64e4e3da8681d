-- A member's security code. It lies on the member's row: the attempts it costs are counted there, under the same lock.

alter table keystride.member
  add column code_hash text, -- null where none is set
  add column code_previous_hash text, -- the code before, so that it is not chosen again
  add column code_temporary boolean not null default false,
  add column code_used boolean not null default false,
  add column code_set_at timestamptz,
  add column code_expires_at timestamptz, -- of a temporary code
  add column code_issued jsonb not null default '[]', -- times of the latest temporary codes, epoch ms
  add column code_version bigint not null default 0,
  add constraint member_code check (code_temporary = (code_expires_at is not null) and (code_temporary or not code_used));

-- A temporary code is used up by the commit that records its success, whatever path wrote it: of two right attempts at
-- once the later finds its counters moved, reads again and sees it used.
create function keystride.use_up_code() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  update keystride.member m set code_used = true
    where m.organization_id = new.organization_id and m.id = new.member_id and m.code_temporary;
  return null;
end
$$;
revoke execute on function keystride.use_up_code() from public;
create trigger use_up_code after insert on keystride.authentication
  for each row when (new.method = 'security_code' and new.authenticated) execute function keystride.use_up_code();
