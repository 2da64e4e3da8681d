set local role keystride_system;

-- Notifies when the codes of many members fail within ten minutes: more than 5 % of the members or more than 50, and at least
-- three. Notifies at most once in ten minutes.
create or replace function keystride.note_spraying(organization uuid, until timestamptz) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  window_length constant interval := '10 minutes';
  n_failed int;
  n_members int;
begin
  if exists (select 1 from keystride.notification n where n.organization_id = organization and n.account_id is null
    and n.kind = 'security-code-locked' and n.at > until - window_length and n.at < until + window_length) then return; end if;
  select count(distinct a.member_id) into n_failed from keystride.authentication a
    where a.organization_id = organization and a.events is not null and a.method = 'security_code' and not a.authenticated
      and a.id >= keystride.uuid_from(until - window_length) and a.id < keystride.uuid_from(until + interval '1 millisecond');
  select h.n_users_nominative + h.n_users_generic into n_members from keystride.headcount_now(organization) h;
  if n_failed < 3 or n_failed <= least(50, n_members * 0.05) then return; end if;
  insert into keystride.notification (organization_id, id, event, kind, at, details)
    values (organization, keystride.new_id(until), 'spraying ' || extract(epoch from until), 'security-code-locked', until,
      jsonb_build_object('nFailed', n_failed, 'nMembers', n_members))
    on conflict do nothing;
end
$$;
revoke execute on function keystride.note_spraying from public;
