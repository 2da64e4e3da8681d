-- Drops the months of authentications that ended at least `days` ago, and returns their number. Runs as the owner of the
-- tables. Gives up after 150 ms if a reader holds them, because every later query would queue behind this one.
create or replace function keystride.drop_partitions(days int, today timestamptz default now()) returns int
language plpgsql security definer set search_path = pg_catalog, pg_temp
  set lock_timeout = '150ms'
as $$
declare
  gone int := 0;
  name text;
begin
  perform pg_advisory_xact_lock(7241865325823965);
  for name in
    select c.relname from pg_catalog.pg_inherits i join pg_catalog.pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'keystride.authentication'::regclass and c.relname ~ '^authentication_\d{4}_\d{2}$'
      and (to_date(substr(c.relname, 16), 'YYYY_MM') + interval '1 month') at time zone 'utc'
        <= today - make_interval(hours => 24 * days)
    order by 1
  loop
    execute format('drop table keystride.%I', name);
    gone := gone + 1;
  end loop;
  return gone;
end
$$;
revoke execute on function keystride.drop_partitions from public;
grant execute on function keystride.drop_partitions to keystride_system;
