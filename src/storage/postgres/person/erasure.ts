import type { Erasure } from '../../erasures.js'
import type { Transaction } from '../connection/client.js'
import { eraseFromExports } from '../insight/exports.js'
import { noSuccessor, queuedAs } from './member.js'

/**
 * Removes an account and every row that names it or its people. The caller has locked the account; this locks the members.
 * Only the counts of the ledger stay, and for a day a hash of the references with the locks.
 */
export async function eraseUser(sql: Transaction, organizationId: string, accountId: string, userRef: string) {
  const members = await sql<{ id: string }[]>`
    select id from keystride.member where organization_id = ${organizationId} and account_id = ${accountId}
    order by id for update`
  const ids = `{${members.map(({ id }) => id).join(',')}}`
  // The statements are pipelined. On a busy machine, sixteen sequential ones exceeded the time-out.
  const [patterns] = await Promise.all([
    sql<{ enrolled: boolean }[]>`
      delete from keystride.reference_pattern
      where organization_id = ${organizationId} and member_id = any (${ids}::uuid[])
      returning kind = 'enrolled' as enrolled`,
    sql`delete from keystride.replay_mark where organization_id = ${organizationId} and member_id = any (${ids}::uuid[])`,
    sql`delete from keystride.refused_pattern where organization_id = ${organizationId} and member_id = any (${ids}::uuid[])`,
    ...eraseFromExports(sql, organizationId, userRef),
    sql`select keystride.uncount_attempts(${userRef})`,
    sql`delete from keystride.authentication where organization_id = ${organizationId} and user_ref = ${userRef}`,
    sql`delete from keystride.session where organization_id = ${organizationId} and user_ref = ${userRef}`,
    sql`delete from keystride.sso_artifact where organization_id = ${organizationId} and user_ref = ${userRef}`,
    sql`delete from keystride.one_time_password where organization_id = ${organizationId} and user_ref = ${userRef}`,
    sql`delete from keystride.sso_account where organization_id = ${organizationId} and user_ref = ${userRef}`,
    sql`delete from keystride.profile_link where organization_id = ${organizationId} and member_id = any (${ids}::uuid[])`,
    sql`delete from keystride.sso_stranger where organization_id = ${organizationId} and member_id = any (${ids}::uuid[])`,
    // The deletion cascades to deliveries and their attempts. A notification that is being written is deleted with the account.
    sql`delete from keystride.notification where organization_id = ${organizationId} and account_id = ${accountId}`,
    sql`delete from keystride.member where organization_id = ${organizationId} and account_id = ${accountId}`,
    sql`delete from keystride.account where organization_id = ${organizationId} and id = ${accountId}`,
    sql`select keystride.forget_actions_of(${accountId})`,
  ])
  return { nPatternsDeleted: patterns.filter(({ enrolled }) => enrolled).length }
}

/**
 * Removes a member from a shared account: deletes patterns and code, and keeps the records of sign-ins without sample and
 * facts. The member's row stays with reference and counters, so that a return ends no lock.
 */
export async function eraseMember(
  sql: Transaction,
  organizationId: string,
  { userRef, memberId, at }: { userRef: string; memberId: string; at: Date },
) {
  await sql`
    select from keystride.member where organization_id = ${organizationId} and id = ${memberId} for update`
  // The member is updated last, because this locks the headcount of the organization until the commit.
  const [patterns] = await Promise.all([
    sql<{ enrolled: boolean }[]>`
      delete from keystride.reference_pattern where organization_id = ${organizationId} and member_id = ${memberId}
      returning kind = 'enrolled' as enrolled`,
    sql`delete from keystride.replay_mark where organization_id = ${organizationId} and member_id = ${memberId}`,
    sql`delete from keystride.refused_pattern where organization_id = ${organizationId} and member_id = ${memberId}`,
    sql`delete from keystride.profile_link where organization_id = ${organizationId} and member_id = ${memberId}`,
    sql`delete from keystride.sso_stranger where organization_id = ${organizationId} and member_id = ${memberId}`,
    sql`
      update keystride.authentication set sealed = null, facts = null, tags = null
      where organization_id = ${organizationId} and user_ref = ${userRef} and member_id = ${memberId}
        and (sealed is not null or facts is not null)`,
    sql`
      update keystride.member set archived_at = ${at}, generation = generation + 1, n_visible = 0, n_sensitive = 0,
        ever_reset = false, reset_at = null, completed_at = null, last_success_at = null, preferred_language = null,
        display_name = null, code_hash = null, code_previous_hash = null, code_temporary = false, code_used = false,
        code_set_at = null, code_expires_at = null, code_version = code_version + 1,
        attempts_version = attempts_version + 1, profile_version = profile_version + 1, typed_at = null,
        adapted_at = null, habits = '{}', ${noSuccessor(sql)}, ${queuedAs(sql, null)}
      where organization_id = ${organizationId} and id = ${memberId}`,
  ])
  return { nPatternsDeleted: patterns.filter(({ enrolled }) => enrolled).length }
}

/** Notes an erasure in its transaction, for `ErasureStore`. */
export const noteErasure = (sql: Transaction, organizationId: string, of: Erasure['of'], id: string) => sql`
  insert into keystride.erasure (organization_id, id, at, of, person)
  values (${organizationId}, gen_random_uuid(), clock_timestamp(), ${of}, sha256(uuid_send(${id}::uuid)))`
