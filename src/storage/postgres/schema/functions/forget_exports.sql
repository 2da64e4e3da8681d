set local role keystride_system;

-- Deletes expired archives, and up to 100 pieces without a readable archive. True if more may be left.
create or replace function keystride.forget_exports(now timestamptz) returns boolean
language sql security definer set search_path = pg_catalog, pg_temp
as $$
  delete from keystride.export_archive where expires_at <= now;
  with gone as (
    delete from keystride.export_piece where ctid = any (array(
      select p.ctid from keystride.export_piece p where not exists (
        select 1 from keystride.export_archive a where a.organization_id = p.organization_id and a.id = p.archive_id
          and a.attempts = p.attempt and a.secret is not null)
      limit 100))
    returning 1)
  select count(*) = 100 from gone
$$;
revoke execute on function keystride.forget_exports from public;
grant execute on function keystride.forget_exports to session_user;
