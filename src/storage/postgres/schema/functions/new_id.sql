set local role keystride_system;

-- A UUIDv7 of the given time.
create or replace function keystride.new_id(at timestamptz) returns uuid
language sql volatile
as $$
  select overlay(replace(gen_random_uuid()::text, '-', '')
    placing lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0') || '7' from 1 for 13)::uuid
$$;
revoke execute on function keystride.new_id from public;
