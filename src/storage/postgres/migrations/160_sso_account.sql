-- Accounts of an upstream provider, each bound to the reference of a person.

create table keystride.sso_account (
  organization_id uuid not null,
  issuer text not null,
  sha256 bytea not null check (octet_length(sha256) = 32), -- of the sub
  user_ref text not null,
  primary key (organization_id, issuer, sha256),
  unique (organization_id, user_ref, issuer)
);
call keystride.guard('keystride.sso_account');
