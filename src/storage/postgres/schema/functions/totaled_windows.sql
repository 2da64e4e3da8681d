-- Lengths of the windows of user_total in days.
create or replace function keystride.totaled_windows() returns int[]
language sql immutable
as $$
  select array[7, 30, 90]
$$;
revoke execute on function keystride.totaled_windows from public;
grant execute on function keystride.totaled_windows to keystride_system;
