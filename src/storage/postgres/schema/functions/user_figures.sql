-- Sums of each user over several windows, which are added (sign 1) or subtracted (sign -1), in the columns of user_total.
create or replace function keystride.user_figures(organization uuid, since timestamptz[], before timestamptz[], signs int[])
returns table (account_id uuid, n bigint, n_authenticated bigint, n_challenged bigint, n_blocked bigint,
  sum_confidence bigint, sum_biometrics bigint, n_biometrics bigint, last_at timestamptz)
language sql stable
as $$
  select a.account_id, sum(w.sign), coalesce(sum(w.sign) filter (where a.authenticated), 0),
    coalesce(sum(w.sign) filter (where a.recommended_action = 'challenge'), 0),
    coalesce(sum(w.sign) filter (where a.recommended_action = 'block'), 0),
    sum(w.sign * round(a.confidence * 1e9)::bigint)::bigint,
    coalesce(sum(w.sign * round(a.confidence_biometrics * 1e9)::bigint) filter (where a.method = 'biometric'), 0)::bigint,
    coalesce(sum(w.sign) filter (where a.method = 'biometric'), 0), max(a.created_at)
  from unnest(since, before, signs) w (since, before, sign),
    lateral (select * from keystride.authentication a where a.organization_id = organization
      and a.id >= keystride.uuid_from(w.since) and a.id < keystride.uuid_from(w.before) offset 0) a
  group by 1
$$;
revoke execute on function keystride.user_figures from public;
grant execute on function keystride.user_figures to keystride_app, keystride_system;
