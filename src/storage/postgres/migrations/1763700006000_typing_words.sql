-- What an organization changed in the words of its typing widget: own words, and shipped (core) words it disabled.

-- Every change of its words moves it: processes keep the words and look at this number only.
alter table keystride.organization add column words_version int not null default 0;

create table keystride.typing_word (
  organization_id uuid not null references keystride.organization,
  id uuid not null,
  language text not null,
  word text not null,
  core boolean not null,
  enabled boolean not null,
  primary key (organization_id, id),
  unique (organization_id, language, core, word),
  check (not (core and enabled))
);

call keystride.guard('keystride.typing_word');
