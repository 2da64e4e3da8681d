-- The time of a UUIDv7, whose first 48 bits are milliseconds since the epoch.
create or replace function keystride.time_of(id uuid) returns timestamptz
language sql immutable parallel safe
as $$
  select to_timestamp(('x' || replace(left(id::text, 13), '-', ''))::bit(48)::bigint / 1000.0)
$$;
revoke execute on function keystride.time_of from public;
grant execute on function keystride.time_of to keystride_app, keystride_system;
