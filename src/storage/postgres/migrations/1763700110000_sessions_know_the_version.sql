-- A session knows how new the member was when it began, so that a process which remembers an older one reads again at once
-- instead of finding out with the commit.
alter table keystride.session add column member_version bigint;

-- Whoever moved the version already, as each recorded attempt does, spares the function.
create or replace trigger move_row_version before update on keystride.member
  for each row when (new.row_version is not distinct from old.row_version)
  execute function keystride.move_row_version();
