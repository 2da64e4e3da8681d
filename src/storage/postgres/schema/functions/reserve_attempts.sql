set local role keystride_app;

-- Counts attempts in their sessions before they are made, for concurrent verifies in one statement. Element i of each array is one
-- attempt, and `nth` counts from 1. The outcome is `reserved`, `exhausted` if the budget is used up, `empty` if the person was asked
-- for and there is none, or `absent` without such a live session; only `reserved` counts. With with_people[i], the person and the
-- comparison set are found too. `recent` is the number of reservations in all stored sessions of the user. Sessions are locked in one
-- order, so that concurrent statements cannot deadlock. The commit does not wait for the disk, as in mint_sessions.
create or replace function keystride.reserve_attempts(
  organizations uuid[], of_users text[], sha256s bytea[], by_typing boolean[], budgets int[], with_people boolean[]
)
returns table (
  nth int, outcome text, recent int, found_session keystride.session, found_account keystride.account,
  found_member keystride.member, found_set keystride.comparison_set
)
language plpgsql security definer set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off
as $$
declare
  counted keystride.session;
begin
  perform set_config('synchronous_commit', 'off', true);
  for nth in
    select n from generate_series(1, cardinality(organizations)) n order by organizations[n], of_users[n], sha256s[n]
  loop
    perform set_config('keystride.organization_id', organizations[nth]::text, true);
    outcome := 'absent';
    recent := 0;
    found_account := null;
    found_member := null;
    found_set := null;
    select s.* into found_session from keystride.session s
      where s.organization_id = organizations[nth] and s.user_ref = of_users[nth] and s.sha256 = sha256s[nth]
        and s.expires_at > clock_timestamp();
    if not found then
      return next;
      continue;
    end if;
    if with_people[nth] then
      select a.* into found_account from keystride.account a
        where a.organization_id = organizations[nth] and a.user_ref = of_users[nth];
      select m.* into found_member from keystride.member m
        where m.organization_id = organizations[nth] and m.account_id = found_account.id and m.archived_at is null
          and m.member_ref = coalesce(found_session.member_ref,
            case found_account.type when 'nominative' then found_account.user_ref end);
      if not found then
        outcome := 'empty';
        return next;
        continue;
      end if;
      select s.* into found_set from keystride.comparison_set s
        where s.organization_id = organizations[nth] and s.member_id = found_member.id;
    end if;
    update keystride.session s set words_used = s.words_used + by_typing[nth]::int,
        used_biometric = s.used_biometric + by_typing[nth]::int,
        used_security_code = s.used_security_code + (not by_typing[nth])::int
      where s.organization_id = organizations[nth] and s.user_ref = of_users[nth] and s.sha256 = sha256s[nth]
        and s.expires_at > clock_timestamp()
        and case when by_typing[nth] then s.used_biometric else s.used_security_code end < budgets[nth]
      returning s.* into counted;
    if found then
      outcome := 'reserved';
      found_session := counted;
      select sum(s.used_biometric + s.used_security_code)::int into recent from keystride.session s
        where s.organization_id = organizations[nth] and s.user_ref = of_users[nth];
    else
      outcome := 'exhausted';
    end if;
    return next;
  end loop;
end
$$;
revoke execute on function keystride.reserve_attempts from public, keystride_app;
grant execute on function keystride.reserve_attempts to session_user;
