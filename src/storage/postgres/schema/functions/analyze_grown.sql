-- Analyzes each table whose size is more than four times the size that the planner knows. The server's autovacuum looks once a
-- minute, and until then a lookup by id may read every row of its organization. The size is compared in pages, because each
-- connection reports its row counts one to ten seconds late. A table that another session analyzes is skipped. Runs as the
-- owner of the tables.
create or replace function keystride.analyze_grown() returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp
  set jit = off
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
revoke execute on function keystride.analyze_grown from public;
