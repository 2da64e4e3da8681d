set local role keystride_system;

-- Whether a mark resembles a known one, so that their patterns must be compared. One equal band is enough if the known mark is
-- of the same member, otherwise two. In a billion pairs of different people's patterns, 3,000 share one band and fewer than 40
-- share two. With one band, an organization of ten million patterns would compare each genuine pattern with thirty others.
create or replace function keystride.resembles(known_member uuid, known_bands bigint[], owner_id uuid, mark_bands bigint[])
returns boolean
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select count(distinct band) >= case when known_member = owner_id then 1 else 2 end
    from unnest(known_bands) band where band = any (mark_bands)
$$;
revoke execute on function keystride.resembles from public;
