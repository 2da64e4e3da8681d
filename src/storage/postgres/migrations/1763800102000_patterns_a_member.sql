-- A member has about ten reference patterns, however few members the table had when it was analyzed. A table of one member
-- alone told the planner that each has as many as the organization: it then read all of those, by another index.
alter table keystride.reference_pattern alter column member_id set (n_distinct = -0.1);
