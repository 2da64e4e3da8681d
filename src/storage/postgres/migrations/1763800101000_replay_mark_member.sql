-- Without the organization: on old statistics the planner took this index, by the organization alone, for the look-up of a
-- mark by its key, and read every mark of the organization. A member's id is unique across organizations.
drop index keystride.replay_mark_member;
create index replay_mark_member on keystride.replay_mark (member_id);
