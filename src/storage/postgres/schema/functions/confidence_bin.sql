-- The twentieth that the confidence of a typing attempt is in, from 00 to 19; null for a code. The last one includes 1.
create or replace function keystride.confidence_bin(method text, confidence float8) returns text
language sql immutable parallel safe
as $$
  select case when method = 'biometric' then lpad(least(19, floor(confidence * 20)::int)::text, 2, '0') end
$$;
revoke execute on function keystride.confidence_bin from public;
grant execute on function keystride.confidence_bin to keystride_app, keystride_system;
