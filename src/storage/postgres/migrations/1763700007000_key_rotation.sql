-- Which key-encryption key wraps an organization's data key: the id that the wrapped key begins with.

alter table keystride.organization
  add column key_id text not null generated always as (encode(substring(wrapped_key from 1 for 8), 'hex')) stored;
