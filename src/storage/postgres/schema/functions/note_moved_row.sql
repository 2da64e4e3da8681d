set local role keystride_system;

-- Notes the key of a row that changes while its organization is copied to another database. The trigger's arguments are the table, whether
-- it refuses changes once the source is closed, and the columns of the key. The changes of calls are refused; those of jobs over all
-- organizations, which have no role, and the rotation of the encryption key are not. The triggers exist from the start of a move until
-- its source's copy is deleted.
create or replace function keystride.note_moved_row() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  organization uuid := case when tg_op = 'DELETE' then old.organization_id else new.organization_id end;
  state text;
  refused boolean;
  key jsonb;
  key_before jsonb;
begin
  perform pg_advisory_xact_lock_shared(keystride.move_lock(organization));
  select p.state into state from keystride.placement p where p.organization_id = organization;
  if state in ('closed', 'left') then
    refused := tg_op <> 'DELETE' and tg_argv[1] = 'refuses'
      or current_setting('role') = 'keystride_app' and tg_argv[0] <> 'comparison_set';
    if tg_op = 'UPDATE' and tg_argv[0] = 'organization' then
      refused := to_jsonb(old) -> 'key_id' = to_jsonb(new) -> 'key_id';
    end if;
    if refused then
      raise exception 'the organization is being moved to another database' using errcode = 'lock_not_available';
    end if;
  end if;
  if state = 'left' then return null; end if;
  if tg_op <> 'INSERT' then
    select jsonb_object_agg(k, to_jsonb(old) -> k) into key_before from unnest(tg_argv[2:]) k;
    insert into keystride.moved_row (organization_id, relation, key) values (organization, tg_argv[0], key_before);
  end if;
  if tg_op <> 'DELETE' then
    select jsonb_object_agg(k, to_jsonb(new) -> k) into key from unnest(tg_argv[2:]) k;
    if key is distinct from key_before then
      insert into keystride.moved_row (organization_id, relation, key) values (organization, tg_argv[0], key);
    end if;
  end if;
  return null;
end
$$;
revoke execute on function keystride.note_moved_row from public;
grant execute on function keystride.note_moved_row to session_user;
