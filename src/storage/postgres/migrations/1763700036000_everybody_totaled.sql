-- A row of user_total for every account, with or without attempts, so that a page anywhere in the table of users is read
-- from an index in its own order. All is totaled anew, by the job: what may take long is no migration's.

truncate keystride.user_total;
alter table keystride.user_total alter column last_at drop not null;
-- Leads whoever deletes an account to its rows, too: one index less to write.
drop index keystride.user_total_account;
alter table keystride.user_total drop constraint user_total_pkey;
alter table keystride.user_total add primary key (organization_id, account_id, days);

-- Where the figures are: whoever has none costs one entry. Of few different counts each is many users', whom an index that
-- runs backward gives last name first: hence one for either direction.
drop index keystride.user_total_n;
drop index keystride.user_total_authenticated;
drop index keystride.user_total_challenged;
drop index keystride.user_total_blocked;
drop index keystride.user_total_confidence;
drop index keystride.user_total_last;
create index user_total_none on keystride.user_total (organization_id, days, user_ref) where n = 0;
create index user_total_n on keystride.user_total (organization_id, days, n desc, user_ref) where n > 0;
create index user_total_n_up on keystride.user_total (organization_id, days, n, user_ref) where n > 0;
create index user_total_authenticated on keystride.user_total (organization_id, days, n_authenticated desc, user_ref) where n > 0;
create index user_total_authenticated_up on keystride.user_total (organization_id, days, n_authenticated, user_ref) where n > 0;
create index user_total_challenged on keystride.user_total (organization_id, days, n_challenged desc, user_ref) where n > 0;
create index user_total_challenged_up on keystride.user_total (organization_id, days, n_challenged, user_ref) where n > 0;
create index user_total_blocked on keystride.user_total (organization_id, days, n_blocked desc, user_ref) where n > 0;
create index user_total_blocked_up on keystride.user_total (organization_id, days, n_blocked, user_ref) where n > 0;
create index user_total_confidence on keystride.user_total (organization_id, days, (sum_confidence / nullif(n, 0)::float8) desc, user_ref)
  where n > 0;
create index user_total_last on keystride.user_total (organization_id, days, last_at desc, user_ref) where n > 0;

-- In days: the windows that slide.
create function keystride.totaled_windows() returns int[]
language sql immutable return array[7, 30, 90];
revoke execute on function keystride.totaled_windows() from public;
grant execute on function keystride.totaled_windows() to keystride_system;

-- In the transaction that creates the account: no moment at which the table of users is without it.
create function keystride.total_account() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  insert into keystride.user_total
    select new.organization_id, days, new.id, new.user_ref, 0, 0, 0, 0, 0, 0, 0, null from unnest(keystride.totaled_windows()) days;
  return null;
end
$$;
revoke execute on function keystride.total_account() from public;
create trigger total_account after insert on keystride.account for each row execute function keystride.total_account();

grant create on schema keystride to keystride_system;
alter function keystride.total_account() owner to keystride_system;
set local role keystride_system;

update keystride.user_totaled set until = '-infinity';

-- As before, but of every account.
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
    on conflict do nothing;
  for span in
    select t.organization_id, t.days, t.until from keystride.user_totaled t where t.until < closed
      order by t.organization_id, t.days for update skip locked
  loop
    hour := span.until;
    -- Far behind, or never begun: all at once, for each user is then written once.
    if hour < closed - interval '3 days' then
      if clock_timestamp() > give_up then return true; end if;
      insert into keystride.user_total
        select a.organization_id, span.days, a.id, a.user_ref, coalesce(f.n, 0), coalesce(f.n_authenticated, 0),
          coalesce(f.n_challenged, 0), coalesce(f.n_blocked, 0), coalesce(f.sum_confidence, 0), coalesce(f.sum_biometrics, 0),
          coalesce(f.n_biometrics, 0), f.last_at
        from keystride.account a
          left join keystride.user_figures(span.organization_id, array[closed - make_interval(days => span.days)], array[closed],
            array[1]) f on f.account_id = a.id
        where a.organization_id = span.organization_id
      on conflict (organization_id, account_id, days) do update set n = excluded.n, n_authenticated = excluded.n_authenticated,
        n_challenged = excluded.n_challenged, n_blocked = excluded.n_blocked, sum_confidence = excluded.sum_confidence,
        sum_biometrics = excluded.sum_biometrics, n_biometrics = excluded.n_biometrics, last_at = excluded.last_at;
      hour := closed;
    end if;
    while hour < closed loop
      if clock_timestamp() > give_up then return true; end if;
      leaving := hour - make_interval(days => span.days);
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

reset role;
revoke create on schema keystride from keystride_system;
