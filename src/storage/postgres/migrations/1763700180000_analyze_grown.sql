-- Tables that have grown to four times what the planner knows of are analyzed now; the server itself looks once a minute,
-- and until then a look by id may read every row of its organization. Measured by their pages: how many rows they have got
-- is told by each connection a second late or ten. Another who is at it is left alone. As the tables' owner.
create function keystride.analyze_grown() returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  grown regclass;
begin
  for grown in
    select c.oid::regclass from pg_class c
      cross join lateral (select pg_relation_size(c.oid) / current_setting('block_size')::int as pages) now
    where c.relnamespace = 'keystride'::regnamespace and c.relkind = 'r'
      and now.pages > 4 and c.relpages < now.pages / 4.0
    order by 1
  loop
    execute format('analyze (skip_locked) %s', grown);
  end loop;
end
$$;
revoke execute on function keystride.analyze_grown() from public;
