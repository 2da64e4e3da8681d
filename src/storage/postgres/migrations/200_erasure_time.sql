-- The job that vacuums the tables of erased people asks for the newest erasure.

create index erasure_at on keystride.erasure (at);
