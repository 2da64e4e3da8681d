-- The lowest UUIDv7 of a time: its milliseconds in 48 bits, followed by zeros.
create or replace function keystride.uuid_from(at timestamptz) returns uuid
language sql immutable parallel safe
as $$
  select (lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;
revoke execute on function keystride.uuid_from from public;
grant execute on function keystride.uuid_from to keystride_app, keystride_system;
