import type { AccountType } from '../../../domain/account.js'
import type { AttemptKind } from '../../../domain/attempts.js'
import type { RecommendedAction, VerdictReason } from '../../../domain/verdict.js'
import type { Authentication, AuthenticationStore } from '../../authentication.js'
import type { Database, Transaction } from '../connection/client.js'
import { fromFactsText } from './facts-codec.js'
import { groupCommit } from './group-commit.js'
import { resembling } from './known-patterns.js'

export interface AuthenticationRow {
  id: string
  created_at: Date
  account_id: string
  member_id: string
  user_ref: string
  member_ref: string
  account_type: AccountType
  session_id: string
  method: AttemptKind
  authenticated: boolean
  recommended_action: RecommendedAction
  reason: VerdictReason
  confidence: number
  confidence_biometrics: number
  confidence_context: number | null
  policy_id: string
  n_patterns_ref: number
  n_patterns_ref_used: number
  pattern_id: string | null
  sealed: Uint8Array | null
  facts: string | null
}

/** Judged attempts in PostgreSQL; `record` shares its commit with the attempts of the same moment. */
export function postgresAuthentications(database: Database): AuthenticationStore {
  return {
    record: groupCommit(database),

    resembling: resembling(database),

    find: (organizationId, id) =>
      database.keyed(organizationId, async (sql) => {
        const [row] = await sql<AuthenticationRow[]>`
          select ${authenticationColumns(sql)} from keystride.authentication where organization_id = ${organizationId} and id = ${id}`
        return row === undefined ? null : toAuthentication(row)
      }),

    typedInSession: (organizationId, { userRef, memberId, sessionId, since }) =>
      database.keyed(organizationId, async (sql) => {
        const [row] = await sql<{ created_at: Date }[]>`
          select created_at from keystride.authentication
          where organization_id = ${organizationId} and user_ref = ${userRef} and id >= keystride.uuid_from(${new Date(since)})
            and session_id = ${sessionId} and member_id = ${memberId} and method = 'biometric' and authenticated
          order by id desc limit 1`
        return row?.created_at.getTime() ?? null
      }),

    // Reads the user's attempts by the index on them: no index on pattern_id, which every attempt would pay for.
    findByPattern: (organizationId, userRef, patternId) =>
      database.keyed(organizationId, async (sql) => {
        const [row] = await sql<AuthenticationRow[]>`
          select ${authenticationColumns(sql)} from keystride.authentication
          where organization_id = ${organizationId} and user_ref = ${userRef} and pattern_id = ${patternId}`
        return row === undefined ? null : toAuthentication(row)
      }),

    list: (organizationId, userRef, limit) =>
      database.keyed(organizationId, async (sql) => {
        const rows = await sql<AuthenticationRow[]>`
          select ${authenticationColumns(sql)} from keystride.authentication
          where organization_id = ${organizationId} and user_ref = ${userRef} order by id desc limit ${limit}`
        return rows.map(toAuthentication)
      }),
  }
}

export const authenticationColumns = (sql: Transaction) => sql`
  id, created_at, account_id, member_id, user_ref, member_ref, account_type, session_id, method, authenticated,
  recommended_action, reason, confidence, confidence_biometrics, confidence_context, policy_id, n_patterns_ref,
  n_patterns_ref_used, pattern_id, sealed, facts`

export function toAuthentication(row: AuthenticationRow): Authentication {
  return {
    id: row.id,
    createdAt: row.created_at.getTime(),
    accountId: row.account_id,
    memberId: row.member_id,
    userRef: row.user_ref,
    memberRef: row.member_ref,
    accountType: row.account_type,
    sessionId: row.session_id,
    method: row.method,
    authenticated: row.authenticated,
    recommendedAction: row.recommended_action,
    reason: row.reason,
    confidence: row.confidence,
    confidenceBiometrics: row.confidence_biometrics,
    confidenceContext: row.confidence_context,
    policyId: row.policy_id,
    nPatternsRef: row.n_patterns_ref,
    nPatternsRefUsed: row.n_patterns_ref_used,
    pattern: row.pattern_id === null || row.sealed === null ? null : { id: row.pattern_id, sealed: row.sealed },
    facts: row.facts === null ? null : fromFactsText(row.facts),
  }
}
