-- A version of all that a verdict rests on, so that a process may judge on what it remembers of a member: the commit
-- tells whether that still held.
alter table keystride.member add column row_version bigint not null default 0;

create function keystride.move_row_version() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  new.row_version := old.row_version + 1;
  return new;
end
$$;
revoke execute on function keystride.move_row_version() from public;
create trigger move_row_version before update on keystride.member
  for each row execute function keystride.move_row_version();

-- A change of the account is one of its members'.
create function keystride.move_row_versions() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  update keystride.member m set row_version = m.row_version
    where m.organization_id = new.organization_id and m.account_id = new.id;
  return null;
end
$$;
revoke execute on function keystride.move_row_versions() from public;
create trigger move_row_versions after update on keystride.account
  for each row execute function keystride.move_row_versions();

-- What these did is one update of record_attempts now instead of two.
drop trigger note_typing_success on keystride.authentication;
drop function keystride.note_typing_success();
drop trigger use_up_code on keystride.authentication;
drop function keystride.use_up_code();

-- As before, but that an attempt may name the row's version, and a temporary code is used up, and typing dated, here.
grant create on schema keystride to keystride_system;
set local role keystride_system;
create or replace function keystride.record_attempts(attempts jsonb, bands_shared int, memory_days int) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  outcomes text[] := array_fill('absent'::text, array[jsonb_array_length(attempts)]);
  a record;
  held record;
begin
  perform 1 from keystride.member m
    join (select distinct (x ->> 'organization_id')::uuid as organization_id, (x ->> 'member_id')::uuid as id
      from jsonb_array_elements(attempts) x) named using (organization_id, id)
    order by m.organization_id, m.id for no key update of m;
  for a in
    select * from jsonb_to_recordset(attempts) as x (
      ordinal int, organization_id uuid, id uuid, created_at timestamptz, account_id uuid, member_id uuid,
      user_ref text, member_ref text, account_type text, session_id text, method text, authenticated boolean,
      recommended_action text, reason text, confidence float8, confidence_biometrics float8,
      confidence_context float8, policy_id uuid, n_patterns_ref int, n_patterns_ref_used int, pattern_id uuid,
      sealed text, counters jsonb, attempts_version bigint, generation int, row_version bigint, exact bytea,
      bands bigint[])
    order by exact nulls first, ordinal
  loop
    select m.attempts_version, m.generation, m.row_version into held from keystride.member m
      where m.organization_id = a.organization_id and m.id = a.member_id;
    continue when not found;
    if held.attempts_version <> a.attempts_version or held.generation <> a.generation
      or held.row_version <> coalesce(a.row_version, held.row_version) then
      outcomes[a.ordinal] := 'conflict';
      continue;
    end if;
    if a.exact is not null and not keystride.claim_mark(a.organization_id, a.exact, a.bands, a.member_id,
      a.created_at, true, bands_shared, memory_days) then
      outcomes[a.ordinal] := 'replay';
      continue;
    end if;
    -- A temporary code is used up by the commit that records its success: of two right attempts at once the later finds
    -- its counters moved, reads again and sees it used.
    update keystride.member m set attempts = a.counters, attempts_version = m.attempts_version + 1,
        last_success_at = case when a.authenticated then a.created_at else m.last_success_at end,
        typed_at = case when a.authenticated and a.method = 'biometric' then a.created_at else m.typed_at end,
        code_used = m.code_used or (a.authenticated and a.method = 'security_code' and m.code_temporary)
      where m.organization_id = a.organization_id and m.id = a.member_id;
    insert into keystride.authentication (organization_id, id, created_at, account_id, member_id, user_ref, member_ref,
        account_type, session_id, method, authenticated, recommended_action, reason, confidence,
        confidence_biometrics, confidence_context, policy_id, n_patterns_ref, n_patterns_ref_used, pattern_id, sealed)
      values (a.organization_id, a.id, a.created_at, a.account_id, a.member_id, a.user_ref, a.member_ref,
        a.account_type, a.session_id, a.method, a.authenticated, a.recommended_action, a.reason, a.confidence,
        a.confidence_biometrics, a.confidence_context, a.policy_id, a.n_patterns_ref, a.n_patterns_ref_used,
        a.pattern_id, decode(a.sealed, 'base64'));
    outcomes[a.ordinal] := 'recorded';
  end loop;
  return to_jsonb(outcomes);
end
$$;
reset role;
revoke create on schema keystride from keystride_system;
