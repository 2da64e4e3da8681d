-- Typing patterns that were refused, by member: on the member's row, which every pattern's call reads anyway. The
-- server's clock keeps the time.

alter table keystride.member
  add column invalid_patterns timestamptz[] not null default '{}', -- when the latest came, oldest first
  add column patterns_closed_until timestamptz; -- null where there were never too many

alter table keystride.session add column typing_failed boolean not null default false;
