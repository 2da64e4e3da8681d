-- Creates the partitions of this month and the next `ahead` months, and returns the number of new ones. If the default
-- partition has rows of a month, they stay there. A row is a little longer than the 2 kB from which PostgreSQL tries to
-- compress each column and then uses a second table. With a target of 4,080 bytes, which is two rows a page, it does not.
create or replace function keystride.ensure_partitions(ahead int, today timestamptz default now()) returns int
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  made int := 0;
  month timestamp;
  name text;
begin
  perform pg_advisory_xact_lock(7241865325823965);
  for month in
    select generate_series(date_trunc('month', today at time zone 'utc'),
      date_trunc('month', today at time zone 'utc') + make_interval(months => ahead), interval '1 month')
  loop
    name := 'authentication_' || to_char(month, 'YYYY_MM');
    continue when to_regclass('keystride.' || name) is not null;
    begin
      execute format('create table keystride.%I partition of keystride.authentication for values from (%L) to (%L)',
        name, keystride.uuid_from(month at time zone 'utc'),
        keystride.uuid_from((month + interval '1 month') at time zone 'utc'));
      execute format('alter table keystride.%I enable row level security', name);
      execute format('alter table keystride.%I force row level security', name);
      execute format('alter table keystride.%I set (toast_tuple_target = 4080)', name);
      made := made + 1;
    exception when check_violation then
      raise warning 'keystride: rows of % stay in the default partition', name;
    end;
  end loop;
  return made;
end
$$;
revoke execute on function keystride.ensure_partitions from public;
grant execute on function keystride.ensure_partitions to keystride_system;
