-- The words that a session has issued: suggestions in the order of use and their language, and the number of them used up.
alter table keystride.session add column words text;
alter table keystride.session add column words_used int not null default 0;
