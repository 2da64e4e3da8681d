set local role keystride_system;

-- Adds counted hours up to closed days, for at most 500 ms. True if more is left. Concurrent calls skip each other's
-- organizations, as in count_attempts.
create or replace function keystride.count_days() returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  give_up timestamptz := clock_timestamp() + interval '500 milliseconds';
  org record;
  closed timestamptz;
  day timestamptz;
begin
  for org in
    select c.organization_id, c.days_until, c.until from keystride.attempt_counted c
      where c.until > '-infinity' and c.days_until < date_trunc('day', c.until, 'UTC')
      order by c.organization_id for update skip locked
  loop
    closed := date_trunc('day', org.until, 'UTC');
    day := org.days_until;
    loop
      if clock_timestamp() > give_up then return true; end if;
      select date_trunc('day', min(c.hour), 'UTC') into day from keystride.attempt_count c
        where c.organization_id = org.organization_id and c.facet = 'all' and c.hour >= day and c.hour < closed;
      exit when day is null;
      insert into keystride.attempt_day
        select c.organization_id, c.facet, day, c.value, sum(c.n), sum(c.n_authenticated), sum(c.n_challenged), sum(c.n_blocked),
          sum(c.sum_confidence), sum(c.sum_biometrics), sum(c.n_biometrics), sum(c.sum_context), sum(c.n_context)
        from keystride.attempt_count c
        where c.organization_id = org.organization_id and c.facet <> 'users'
          and c.hour >= day and c.hour < day + interval '1 day'
        group by 1, 2, 4;
      insert into keystride.attempt_day
        select a.organization_id, 'blocked-users', day, '', count(distinct a.account_id), 0, 0, 0, 0, 0, 0, 0, 0
        from keystride.authentication a
        where a.organization_id = org.organization_id and a.recommended_action = 'block'
          and a.id >= keystride.uuid_from(day) and a.id < keystride.uuid_from(day + interval '1 day')
        group by 1;
      day := day + interval '1 day';
      update keystride.attempt_counted c set days_until = day where c.organization_id = org.organization_id;
    end loop;
    update keystride.attempt_counted c set days_until = closed where c.organization_id = org.organization_id;
  end loop;
  return false;
end
$$;
revoke execute on function keystride.count_days from public;
grant execute on function keystride.count_days to session_user;
