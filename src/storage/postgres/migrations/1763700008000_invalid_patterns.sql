alter table keystride.session add column typing_failed boolean not null default false;
