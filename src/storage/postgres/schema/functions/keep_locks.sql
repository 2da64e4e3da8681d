set local role keystride_system;

-- A lock follows the person and stays with the reference. A deleted or renamed member leaves a tombstone under the old
-- reference for a day, and the next holder of the reference takes its counters over.
create or replace function keystride.keep_locks() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  of_member keystride.member;
  user_ref text;
  person_hash bytea;
  kept keystride.lock_tombstone;
begin
  if tg_op = 'DELETE' then of_member := old; else of_member := new; end if;
  select a.user_ref into user_ref from keystride.account a
    where a.organization_id = of_member.organization_id and a.id = of_member.account_id;

  if tg_op <> 'DELETE' then
    person_hash := sha256(convert_to(concat_ws('|', new.organization_id, user_ref, new.member_ref), 'UTF8'));
    delete from keystride.lock_tombstone t
      where t.organization_id = new.organization_id and t.person = person_hash and t.kept_until > now()
      returning t.* into kept;
    -- The row of a renamed member already has the counters of its own tombstone.
    if kept.person is not null and kept.member_id is distinct from new.id then
      new.attempts := keystride.stricter_attempts(new.attempts, kept.attempts);
    end if;
  end if;

  if tg_op <> 'INSERT' then
    person_hash := sha256(convert_to(concat_ws('|', old.organization_id, user_ref, old.member_ref), 'UTF8'));
    delete from keystride.lock_tombstone t where t.organization_id = old.organization_id and t.kept_until <= now();
    if exists (select 1 from jsonb_each(old.attempts) kind where (kind.value ->> 'off')::boolean
      or (kind.value ->> 'streak')::int > 0 or jsonb_array_length(kind.value -> 'recentFailures') > 0) then
      insert into keystride.lock_tombstone as t (organization_id, person, member_id, attempts, kept_until)
        values (old.organization_id, person_hash, case tg_op when 'UPDATE' then old.id end, old.attempts, now() + interval '24 hours')
        on conflict (organization_id, person) do update
          set member_id = excluded.member_id, attempts = excluded.attempts, kept_until = excluded.kept_until;
    end if;
  end if;

  if tg_op = 'DELETE' then return old; end if;
  return new;
end
$$;
revoke execute on function keystride.keep_locks from public;
