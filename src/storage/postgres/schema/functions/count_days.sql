set local role keystride_system;

-- Adds counted hours up to closed days, for at most 500 ms. True if more are left. A day that has rows already is counted again
-- as a whole, so that days_until may be set back. Concurrent calls skip each other's organizations, as in count_attempts.
create or replace function keystride.count_days() returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  give_up timestamptz := clock_timestamp() + interval '500 milliseconds';
  org record;
  closed timestamptz;
  this_day timestamptz;
begin
  for org in
    select c.organization_id, c.days_until, c.until from keystride.attempt_counted c
      where c.until > '-infinity' and c.days_until < date_trunc('day', c.until, 'UTC')
      order by c.organization_id for update skip locked
  loop
    closed := date_trunc('day', org.until, 'UTC');
    this_day := date_trunc('day', org.days_until, 'UTC');
    loop
      if clock_timestamp() > give_up then return true; end if;
      select date_trunc('day', min(c.hour), 'UTC') into this_day from keystride.attempt_count c
        where c.organization_id = org.organization_id and c.facet = 'all' and c.hour >= this_day and c.hour < closed;
      exit when this_day is null;
      if exists (select from keystride.attempt_day d
          where d.organization_id = org.organization_id and d.facet = 'all' and d.day = this_day) then
        delete from keystride.attempt_day d where d.organization_id = org.organization_id and d.day = this_day;
      end if;
      insert into keystride.attempt_day
        select c.organization_id, c.facet, this_day, c.value, sum(c.n), sum(c.n_authenticated), sum(c.n_challenged), sum(c.n_blocked),
          sum(c.sum_confidence), sum(c.sum_biometrics), sum(c.n_biometrics), sum(c.sum_context), sum(c.n_context)
        from keystride.attempt_count c
        where c.organization_id = org.organization_id and c.facet <> 'users'
          and c.hour >= this_day and c.hour < this_day + interval '24 hours'
        group by 1, 2, 4;
      insert into keystride.attempt_day
        select a.organization_id, 'blocked-users', this_day, '', count(distinct a.account_id), 0, 0, 0, 0, 0, 0, 0, 0
        from keystride.authentication a
        where a.organization_id = org.organization_id and a.recommended_action = 'block'
          and a.id >= keystride.uuid_from(this_day) and a.id < keystride.uuid_from(this_day + interval '24 hours')
        group by 1;
      this_day := this_day + interval '24 hours';
      update keystride.attempt_counted c set days_until = this_day where c.organization_id = org.organization_id;
    end loop;
    update keystride.attempt_counted c set days_until = closed where c.organization_id = org.organization_id;
  end loop;
  return false;
end
$$;
revoke execute on function keystride.count_days from public;
grant execute on function keystride.count_days to session_user;
