set local role keystride_app;

-- Creates accounts with their first members in one batch. Element i of each array is one account, and no reference is twice in
-- a batch. The outcome is `created`, `found` (the reference is taken), the exceeded quota with its limit, or `locked`: a strict
-- quota needs the headcount lock, another transaction holds it, and `waits` is false. Organizations and references are
-- processed in one order, so that two calls cannot deadlock. An account that is being deleted counts as found, and no call
-- waits for it, because its deletion may wait for the lock. Lookups go by key, and `offset 0` is an optimization fence: a plan
-- from the time when the tables were small joined freely, and read every account of the organization for each creation. Row
-- level security applies, because the function runs as keystride_app.
create or replace function keystride.create_accounts(
  organizations uuid[], ids uuid[], user_refs text[], types text[], names text[], created_ms float8[], member_ids uuid[],
  member_refs text[], member_names text[], no_attempts jsonb, waits boolean
)
returns table (nth int, outcome text, licensed int, found_account keystride.account, found_member keystride.member)
language plpgsql security definer set search_path = pg_catalog, pg_temp
  set lock_timeout = '1s' set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
  o keystride.organization;
  org uuid;
  wanted int[];
  to_create int[];
  candidates int[];
  outcomes text[] := array_fill(null::text, array[cardinality(ids)]);
  headcount record;
  is_limited boolean;
begin
  for org, wanted in
    select organizations[i], array_agg(i order by user_refs[i]) from generate_subscripts(organizations, 1) i group by 1 order by 1
  loop
    perform set_config('keystride.organization_id', org::text, true);
    select * into o from keystride.organization where organization_id = org;
    to_create := array(select i from unnest(wanted) with ordinality u (i, place)
      where not exists (select from keystride.account a where a.organization_id = org and a.user_ref = user_refs[i] offset 0)
      order by place);
    is_limited := o.quota_mode = 'strict' and (o.quota_accounts > 0
      or o.quota_shared_accounts > 0 and exists (select from unnest(to_create) i where types[i] = 'generic'));
    if is_limited and to_create <> '{}' then
      select * into headcount from keystride.headcount_now(org);
      -- An exhausted quota is detected without the lock.
      if (o.quota_accounts = 0 or headcount.n_accounts < o.quota_accounts) then
        if keystride.take_headcount_lock(org, waits) then
          select * into headcount from keystride.headcount_now(org);
          to_create := array(select i from unnest(to_create) with ordinality u (i, place)
            where not exists (select from keystride.account a where a.organization_id = org and a.user_ref = user_refs[i] offset 0)
            order by place);
        else
          foreach nth in array to_create loop outcomes[nth] := 'locked'; end loop;
          to_create := '{}';
        end if;
      end if;
      candidates := to_create;
      to_create := '{}';
      foreach nth in array candidates loop
        if o.quota_accounts > 0 and headcount.n_accounts >= o.quota_accounts then
          outcomes[nth] := 'accounts-quota';
        elsif types[nth] = 'generic' and o.quota_shared_accounts > 0 and headcount.n_accounts_generic >= o.quota_shared_accounts then
          outcomes[nth] := 'shared-accounts-quota';
        else
          to_create := to_create || nth;
          headcount.n_accounts := headcount.n_accounts + 1;
          headcount.n_accounts_generic := headcount.n_accounts_generic + (types[nth] = 'generic')::int;
        end if;
      end loop;
    end if;
    if to_create <> '{}' then
      insert into keystride.account (organization_id, id, user_ref, type, display_name, created_at)
        select org, ids[i], user_refs[i], types[i], names[i], to_timestamp(created_ms[i] / 1000)
        from unnest(to_create) with ordinality a (i, place) order by place
        on conflict (organization_id, user_ref) do nothing;
      insert into keystride.member (organization_id, id, account_id, member_ref, display_name, attempts, created_at)
        select org, member_ids[i], ids[i], member_refs[i], member_names[i], no_attempts, to_timestamp(created_ms[i] / 1000)
        from unnest(to_create) i
        where member_ids[i] is not null
          and exists (select from keystride.account a where a.organization_id = org and a.id = ids[i] offset 0)
        on conflict (organization_id, account_id, member_ref) do nothing;
    end if;
    return query
      select i, case when a.id is null then outcomes[i] when a.id = ids[i] then 'created' else 'found' end,
        case outcomes[i] when 'accounts-quota' then o.quota_accounts when 'shared-accounts-quota' then o.quota_shared_accounts end,
        known.found, of_account.m
      from unnest(wanted) i
        left join lateral (
          select a as found from keystride.account a where a.organization_id = org and a.user_ref = user_refs[i]
          offset 0) known on true
        left join lateral (select (known.found).*) a on true
        left join lateral (
          select m from keystride.member m
          where m.organization_id = a.organization_id and m.account_id = a.id and m.archived_at is null
            and m.member_ref = coalesce(member_refs[i], case a.type when 'nominative' then a.user_ref end)
          offset 0) of_account on true;
  end loop;
end
$$;
revoke execute on function keystride.create_accounts from public, keystride_app;
grant execute on function keystride.create_accounts to session_user;
