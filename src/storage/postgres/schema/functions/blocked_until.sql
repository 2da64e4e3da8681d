-- End of a member's lock: the later of both kinds; infinity if only a reset or a new code ends it; null if none. A stored
-- column uses it, because an index on an expression over the counters would make every attempt update every index of the row.
-- Not in SQL: its text would be parsed again with every update of a member. The stored values do not follow a change of this
-- function: change it only with a migration that rewrites the column.
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
