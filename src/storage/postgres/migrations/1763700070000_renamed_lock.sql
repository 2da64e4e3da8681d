-- A lock follows the person and stays with the reference: who is renamed leaves a day's tombstone under the old one, and
-- who takes a reference over takes on what its last holder has left there.

alter table keystride.lock_tombstone add column member_id uuid; -- who left it on being renamed

grant create on schema keystride to keystride_system;
set local role keystride_system;

-- For each kind the stricter of two counters: nothing that either has counted is less afterwards. What both have counted was
-- one person's, and counts once.
create function keystride.stricter_attempts(one jsonb, other jsonb) returns jsonb
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select jsonb_object_agg(kind, jsonb_build_object(
    'streak', greatest((a ->> 'streak')::int, (b ->> 'streak')::int),
    'closedUntil', greatest((a ->> 'closedUntil')::numeric, (b ->> 'closedUntil')::numeric),
    'off', (a ->> 'off')::boolean or (b ->> 'off')::boolean,
    'recentFailures', (
      select coalesce(jsonb_agg(latest.at order by latest.at), '[]') from (
        (select at::numeric as at from jsonb_array_elements_text(a -> 'recentFailures') at
          except all select at::numeric from jsonb_array_elements_text(b -> 'recentFailures') at)
        union all select at::numeric from jsonb_array_elements_text(b -> 'recentFailures') at
        order by 1 desc limit 20) latest)))
  from (select kind, counters as a, other -> kind as b from jsonb_each(one) e (kind, counters)) both_of_them
$$;
revoke execute on function keystride.stricter_attempts(jsonb, jsonb) from public;

create or replace function keystride.keep_locks() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  of_member keystride.member;
  user_ref text;
  mark bytea;
  kept keystride.lock_tombstone;
begin
  if tg_op = 'DELETE' then of_member := old; else of_member := new; end if;
  select a.user_ref into user_ref from keystride.account a
    where a.organization_id = of_member.organization_id and a.id = of_member.account_id;

  if tg_op <> 'DELETE' then
    mark := sha256(convert_to(concat_ws('|', new.organization_id, user_ref, new.member_ref), 'UTF8'));
    delete from keystride.lock_tombstone t
      where t.organization_id = new.organization_id and t.person = mark and t.kept_until > now()
      returning t.* into kept;
    -- A person's own, left on the way, says nothing that the row does not know better.
    if kept.person is not null and kept.member_id is distinct from new.id then
      new.attempts := keystride.stricter_attempts(new.attempts, kept.attempts);
    end if;
  end if;

  if tg_op <> 'INSERT' then
    mark := sha256(convert_to(concat_ws('|', old.organization_id, user_ref, old.member_ref), 'UTF8'));
    delete from keystride.lock_tombstone t where t.organization_id = old.organization_id and t.kept_until <= now();
    if exists (select 1 from jsonb_each(old.attempts) kind where (kind.value ->> 'off')::boolean
      or (kind.value ->> 'streak')::int > 0 or jsonb_array_length(kind.value -> 'recentFailures') > 0) then
      insert into keystride.lock_tombstone as t (organization_id, person, member_id, attempts, kept_until)
        values (old.organization_id, mark, case tg_op when 'UPDATE' then old.id end, old.attempts, now() + interval '24 hours')
        on conflict (organization_id, person) do update
          set member_id = excluded.member_id, attempts = excluded.attempts, kept_until = excluded.kept_until;
    end if;
  end if;

  if tg_op = 'DELETE' then return old; end if;
  return new;
end
$$;

-- A trigger may be made by who may execute its function.
grant execute on function keystride.keep_locks() to session_user;
reset role;
revoke create on schema keystride from keystride_system;

create trigger keep_locks_of_renamed before update of member_ref on keystride.member
  for each row when (old.member_ref is distinct from new.member_ref) execute function keystride.keep_locks();

set local role keystride_system;
revoke execute on function keystride.keep_locks() from session_user;
reset role;
