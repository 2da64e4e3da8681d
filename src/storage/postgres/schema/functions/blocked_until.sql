-- The end of a member's lock, which is the later one of both kinds; infinity if only a reset or a new code ends it; null if
-- there is none. A stored column calls this function, because an index on an expression over the counters would make every
-- attempt update every index of the row. The language is not SQL, whose text would be parsed again with every update of a
-- member. A change of this function does not change the stored values, so it needs a migration that rewrites the column.
create or replace function keystride.blocked_until(attempts jsonb) returns timestamptz
language plpgsql immutable parallel safe
as $$
declare
  closed_until float8 := greatest(
    (attempts #>> '{biometric,closedUntil}')::float8, (attempts #>> '{security_code,closedUntil}')::float8);
begin
  if (attempts #>> '{biometric,off}')::boolean or (attempts #>> '{security_code,off}')::boolean then
    return 'infinity'::timestamptz;
  end if;
  return case when closed_until > 0 then to_timestamp(closed_until / 1000) end;
end
$$;
revoke execute on function keystride.blocked_until from public;
grant execute on function keystride.blocked_until to keystride_app, keystride_system;
