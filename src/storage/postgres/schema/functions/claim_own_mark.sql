set local role keystride_system;

-- Calls claim_mark for the caller's organization. The language is not SQL, whose text would be parsed with every call.
create or replace function keystride.claim_own_mark(
  mark bytea, mark_bands bigint[], owner_id uuid, at timestamptz, reject boolean, memory_days int,
  pattern uuid, pattern_generation int, cleared bytea[]
) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return keystride.claim_mark(keystride.current_organization(), mark, mark_bands, owner_id, at, reject,
    memory_days, pattern, pattern_generation, cleared);
end
$$;
revoke execute on function keystride.claim_own_mark from public;
grant execute on function keystride.claim_own_mark to keystride_app;
