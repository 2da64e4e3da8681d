-- Deletes a comparison set that is not of the member's present references, whose samples it would keep. It is a trigger, so that no
-- writer of references can forget it, nor a process of the version before.
create or replace function keystride.forget_comparison_set() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  delete from keystride.comparison_set s
    where s.organization_id = new.organization_id and s.member_id = new.id
      and (s.generation, s.profile_version) is distinct from (new.generation, new.profile_version);
  return null;
end
$$;
revoke execute on function keystride.forget_comparison_set from public;
