set local role keystride_system;

-- Takes the stricter one of two counters for each kind. Failures in both belong to one person and count once.
create or replace function keystride.stricter_attempts(one jsonb, other jsonb) returns jsonb
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select jsonb_object_agg(kind, jsonb_build_object(
    'streak', greatest((a ->> 'streak')::int, (b ->> 'streak')::int),
    'closedUntil', greatest((a ->> 'closedUntil')::numeric, (b ->> 'closedUntil')::numeric),
    'off', (a ->> 'off')::boolean or (b ->> 'off')::boolean,
    'recentFailures', (
      select coalesce(jsonb_agg(latest.at order by latest.at), '[]') from (
        (select at::numeric as at from jsonb_array_elements_text(a -> 'recentFailures') at
          except all select at::numeric from jsonb_array_elements_text(b -> 'recentFailures') at)
        union all select at::numeric from jsonb_array_elements_text(b -> 'recentFailures') at
        order by 1 desc limit 20) latest)))
  from (select kind, counters as a, other -> kind as b from jsonb_each(one) e (kind, counters)) both_of_them
$$;
revoke execute on function keystride.stricter_attempts from public;
