-- When typing last succeeded in a session is in the records of its attempts, which the commit of a sign-in writes anyway:
-- to note it in the session, too, cost every sign-in another flight.
alter table keystride.session drop column authenticated_at;
