-- The advisory lock that every write of a moving organization shares, and that the move takes alone to close the source.
create or replace function keystride.move_lock(wanted uuid) returns bigint
language sql immutable
as $$
  select hashtextextended('keystride move ' || wanted, 0)
$$;
revoke execute on function keystride.move_lock from public;
grant execute on function keystride.move_lock to keystride_system;
