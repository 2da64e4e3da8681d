set local role keystride_system;

-- Deletes the administrators' actions on an account. It is called in the transaction that deletes the account, and again later.
-- Deletes nothing while the account exists.
create or replace function keystride.forget_actions_of(gone uuid) returns void
language sql security definer set search_path = pg_catalog, pg_temp
as $$
  delete from keystride.admin_action where organization_id = keystride.current_organization() and account_id = gone
    and not exists (select 1 from keystride.account a
      where a.organization_id = keystride.current_organization() and a.id = gone)
$$;
revoke execute on function keystride.forget_actions_of from public;
grant execute on function keystride.forget_actions_of to keystride_app;
