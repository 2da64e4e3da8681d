set local role keystride_system;

-- Moves the windows of user_total to the last closed hour, one hour a step, for at most 500 ms. A first run is one step. True
-- if more are left. An hour closes ten minutes after its end. The insert locks each account (`for key share`), because a
-- concurrent deletion of one would break the foreign key, and with it the run for every organization.
create or replace function keystride.slide_totals(now timestamptz default clock_timestamp()) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  closed timestamptz := date_trunc('hour', now - interval '10 minutes', 'UTC');
  give_up timestamptz := clock_timestamp() + interval '500 milliseconds';
  span record;
  hour timestamptz;
  leaving timestamptz;
begin
  insert into keystride.user_totaled (organization_id, days, until)
    select o.organization_id, d.days, '-infinity' from keystride.organization o, unnest(keystride.totaled_windows()) d (days)
    where o.organization_id <> all (array(
      select p.organization_id from keystride.placement p where p.state = 'arriving')) on conflict do nothing;
  for span in
    select t.organization_id, t.days, t.until from keystride.user_totaled t where t.until < closed
      order by t.organization_id, t.days for update skip locked
  loop
    hour := span.until;
    -- If the window is far behind or new, one step for all hours writes each user once.
    if hour < closed - interval '72 hours' then
      if clock_timestamp() > give_up then return true; end if;
      insert into keystride.user_total
        select a.organization_id, span.days, a.id, a.user_ref, coalesce(f.n, 0), coalesce(f.n_authenticated, 0),
          coalesce(f.n_challenged, 0), coalesce(f.n_blocked, 0), coalesce(f.sum_confidence, 0), coalesce(f.sum_biometrics, 0),
          coalesce(f.n_biometrics, 0), f.last_at
        from keystride.account a
          left join keystride.user_figures(span.organization_id, array[closed - make_interval(hours => 24 * span.days)], array[closed],
            array[1]) f on f.account_id = a.id
        where a.organization_id = span.organization_id
        for key share of a
      on conflict (organization_id, account_id, days) do update set n = excluded.n, n_authenticated = excluded.n_authenticated,
        n_challenged = excluded.n_challenged, n_blocked = excluded.n_blocked, sum_confidence = excluded.sum_confidence,
        sum_biometrics = excluded.sum_biometrics, n_biometrics = excluded.n_biometrics, last_at = excluded.last_at;
      hour := closed;
    end if;
    while hour < closed loop
      if clock_timestamp() > give_up then return true; end if;
      leaving := hour - make_interval(hours => 24 * span.days);
      update keystride.user_total t set n = t.n + f.n, n_authenticated = t.n_authenticated + f.n_authenticated,
          n_challenged = t.n_challenged + f.n_challenged, n_blocked = t.n_blocked + f.n_blocked,
          sum_confidence = t.sum_confidence + f.sum_confidence, sum_biometrics = t.sum_biometrics + f.sum_biometrics,
          n_biometrics = t.n_biometrics + f.n_biometrics,
          last_at = case when t.n + f.n > 0 then greatest(t.last_at, f.last_at) end
        from keystride.user_figures(span.organization_id, array[hour, leaving],
          array[hour + interval '1 hour', leaving + interval '1 hour'], array[1, -1]) f
        where t.organization_id = span.organization_id and t.days = span.days and t.account_id = f.account_id;
      hour := hour + interval '1 hour';
      update keystride.user_totaled t set until = hour
        where t.organization_id = span.organization_id and t.days = span.days;
    end loop;
    update keystride.user_totaled t set until = hour
      where t.organization_id = span.organization_id and t.days = span.days;
  end loop;
  return false;
end
$$;
revoke execute on function keystride.slide_totals from public;
grant execute on function keystride.slide_totals to session_user;
