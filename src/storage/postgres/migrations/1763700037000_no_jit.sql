-- Without sequential scans a plan that cannot do without one counts as dear beyond measure, and a server that can compile
-- plans (Debian's and most others; the embedded one cannot) spends seconds of a core on each such call.
do $$
declare
  dear record;
begin
  for dear in
    select p.oid::regprocedure as function, pg_catalog.pg_get_userbyid(p.proowner) as owner from pg_catalog.pg_proc p
    where p.pronamespace = 'keystride'::regnamespace and 'enable_seqscan=off' = any (p.proconfig)
  loop
    perform set_config('role', dear.owner, true);
    execute format('alter function %s set jit = off', dear.function);
    perform set_config('role', 'none', true);
  end loop;
end
$$;
