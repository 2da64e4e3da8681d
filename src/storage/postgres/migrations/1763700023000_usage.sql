-- Requests of an API counted by day and class, the log of requests, and the ledger's daily checkpoint. Nothing here is
-- written on the way of a request: processes count in memory and add up now and again.

create table keystride.api_usage (
  organization_id uuid not null references keystride.organization,
  day date not null, -- UTC
  class text not null,
  n bigint not null,
  primary key (organization_id, day, class)
);
call keystride.guard('keystride.api_usage');
revoke insert, update, delete on keystride.api_usage from keystride_app;

create table keystride.request_log (
  organization_id uuid not null references keystride.organization,
  id uuid not null, -- the request's id, a UUIDv7
  api text not null,
  method text not null,
  route text not null, -- the template: what the client put in it is not kept
  status int not null,
  duration_ms float8 not null,
  primary key (organization_id, id)
);
call keystride.guard('keystride.request_log');
revoke insert, update, delete on keystride.request_log from keystride_app;

-- Adds what a process has counted and logged since it last did, of any organizations. In one order, so that processes
-- cannot deadlock; an organization that is gone is left out.
create function keystride.add_usage(counted jsonb, logged jsonb) returns void
language sql security definer set search_path = pg_catalog, pg_temp
as $$
  insert into keystride.api_usage as u (organization_id, day, class, n)
    select x.organization_id, x.day, x.class, x.n
    from jsonb_to_recordset(counted) as x (organization_id uuid, day date, class text, n bigint)
      join keystride.organization o using (organization_id)
    order by 1, 2, 3
    on conflict (organization_id, day, class) do update set n = u.n + excluded.n;
  insert into keystride.request_log (organization_id, id, api, method, route, status, duration_ms)
    select x.organization_id, x.id, x.api, x.method, x.route, x.status, x.duration_ms
    from jsonb_to_recordset(logged) as x (organization_id uuid, id uuid, api text, method text, route text, status int,
      duration_ms float8) join keystride.organization o using (organization_id)
    on conflict do nothing
$$;

-- One checkpoint a day and organization, whoever asks how often; returns how many were new.
create function keystride.append_checkpoints(today timestamptz default now()) returns int
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  org record;
  made int := 0;
begin
  for org in
    select h.organization_id from keystride.headcount h
    where not exists (select 1 from keystride.usage_event e where e.organization_id = h.organization_id
      and e.kind = 'checkpoint' and e.at >= date_trunc('day', today, 'UTC'))
    order by h.organization_id for update skip locked
  loop
    continue when exists (select 1 from keystride.usage_event e where e.organization_id = org.organization_id
      and e.kind = 'checkpoint' and e.at >= date_trunc('day', today, 'UTC'));
    perform keystride.append_usage_event(org.organization_id, 'checkpoint');
    made := made + 1;
  end loop;
  return made;
end
$$;

-- Forgets requests of before, some at a time; true where more are left.
create function keystride.forget_requests(before timestamptz) returns boolean
language sql security definer set search_path = pg_catalog, pg_temp
as $$
  with gone as (
    delete from keystride.request_log where (organization_id, id) in (
      select organization_id, id from keystride.request_log where id < keystride.uuid_from(before) limit 5000)
    returning 1)
  select count(*) = 5000 from gone
$$;

revoke execute on function keystride.add_usage(jsonb, jsonb) from public;
revoke execute on function keystride.append_checkpoints(timestamptz) from public;
revoke execute on function keystride.forget_requests(timestamptz) from public;
grant create on schema keystride to keystride_system;
alter function keystride.add_usage(jsonb, jsonb) owner to keystride_system;
alter function keystride.append_checkpoints(timestamptz) owner to keystride_system;
alter function keystride.forget_requests(timestamptz) owner to keystride_system;
revoke create on schema keystride from keystride_system;
do $$
begin
  set local role keystride_system;
  execute format('grant execute on function keystride.add_usage(jsonb, jsonb) to %I', session_user);
  execute format('grant execute on function keystride.append_checkpoints(timestamptz) to %I', session_user);
  execute format('grant execute on function keystride.forget_requests(timestamptz) to %I', session_user);
  reset role;
end
$$;
