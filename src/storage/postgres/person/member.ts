import type { Member, Successor } from '../../../domain/account.js'
import type { AttemptCounters } from '../../../domain/attempts.js'
import type { HabitsText } from '../../../domain/context/circumstances.js'
import type { PendingAction, QueuedAction } from '../../../domain/pending-action.js'
import type { Statements, Transaction } from '../connection/client.js'

/** The columns of keystride.member that make a `Member`. */
export interface MemberRow {
  id: string
  member_ref: string
  display_name: string | null
  generation: number
  n_visible: number
  n_sensitive: number
  ever_reset: boolean
  completed_at: Date | null
  last_success_at: Date | null
  preferred_language: string | null
  code_set: boolean
  code_temporary: boolean
  code_expires_at: Date | null
  code_used: boolean
  code_version: string
  attempts: AttemptCounters
  attempts_version: string
  row_version: string
  patterns_closed_for_ms: number
  created_at: Date
  typed_at: Date | null
  profile_version: string
  sample_format: number
  successor_owner: string | null
  successor_format: number | null
  successor_visible: number
  successor_sensitive: number
  pending_id: string | null
  pending_action: PendingAction | null
  pending_queued_at: Date | null
  pending_replaced: number
  adapted_at: Date | null
  habits: HabitsText
}

/** The column list of a `MemberRow`, for a statement that names the table `m`. */
export const memberColumns = (sql: Statements) => sql`
  m.id, m.member_ref, m.display_name, m.generation, m.n_visible, m.n_sensitive, m.ever_reset, m.completed_at, m.last_success_at,
  m.preferred_language, m.code_hash is not null as code_set, m.code_temporary, m.code_expires_at, m.code_used,
  m.code_version, m.attempts, m.attempts_version, m.row_version, ${closedForMs(sql)} as patterns_closed_for_ms, m.created_at, m.typed_at,
  m.profile_version, m.sample_format, m.successor_owner, m.successor_format, m.successor_visible, m.successor_sensitive,
  m.pending_id, m.pending_action, m.pending_queued_at, m.pending_replaced, m.adapted_at,
  m.habits`

/** Milliseconds until patterns of a member `m` are accepted again, by the server's clock; 0 if they are accepted. */
export const closedForMs = (sql: Statements) => sql`
  coalesce(greatest(0, extract(epoch from m.patterns_closed_until - clock_timestamp()) * 1000), 0)::float8`

export function toMember(row: MemberRow): Member {
  return {
    id: row.id,
    memberRef: row.member_ref,
    displayName: row.display_name,
    generation: row.generation,
    nPatternsRef: row.n_visible + row.n_sensitive,
    nVisible: row.n_visible,
    nSensitive: row.n_sensitive,
    everReset: row.ever_reset,
    completedAt: row.completed_at?.getTime() ?? null,
    lastSuccessAt: row.last_success_at?.getTime() ?? null,
    preferredLanguage: row.preferred_language,
    code: {
      set: row.code_set,
      temporary: row.code_temporary,
      expiresAt: row.code_expires_at?.getTime() ?? null,
      used: row.code_used,
      version: Number(row.code_version),
    },
    attempts: row.attempts,
    attemptsVersion: Number(row.attempts_version),
    rowVersion: Number(row.row_version),
    patternsClosedForMs: row.patterns_closed_for_ms,
    createdAt: row.created_at.getTime(),
    lastTypedAt: row.typed_at?.getTime() ?? null,
    profileVersion: Number(row.profile_version),
    sampleFormat: row.sample_format,
    successor: toSuccessor(row),
    pending: toQueued(row),
    adaptedAt: row.adapted_at?.getTime() ?? null,
    habits: row.habits,
  }
}

/** Locks the member's row until the transaction ends. Null if the member was deleted or archived. */
export async function lockMember(sql: Transaction, organizationId: string, memberId: string): Promise<Member | null> {
  const [row] = await sql<MemberRow[]>`
    select ${memberColumns(sql)} from keystride.member m
    where m.organization_id = ${organizationId} and m.id = ${memberId} and m.archived_at is null for update`
  return row === undefined ? null : toMember(row)
}

/**
 * Locks the account's key first, for a change that may write a notification. The notification refers to the account, and a
 * deletion locks the account before its members.
 */
export async function lockMemberAndAccount(sql: Transaction, organizationId: string, memberId: string) {
  await sql`
    select from keystride.account a
    where a.organization_id = ${organizationId} and a.id = (
      select m.account_id from keystride.member m where m.organization_id = ${organizationId} and m.id = ${memberId})
    for key share`
  return lockMember(sql, organizationId, memberId)
}

/** The assignments of an update that queue this action, or remove the queued one (null). */
export const queuedAs = (sql: Transaction, queued: QueuedAction | null) => sql`
  pending_id = ${queued?.id ?? null}, pending_action = ${queued?.action ?? null},
  pending_queued_at = ${queued === null ? null : new Date(queued.queuedAt)}, pending_replaced = ${queued?.nReplaced ?? 0}`

/** The assignments of an update that remove the successor. */
export const noSuccessor = (sql: Transaction) => sql`
  successor_owner = null, successor_format = null, successor_visible = 0, successor_sensitive = 0`

function toSuccessor(row: MemberRow): Successor | null {
  const { successor_owner: owner, successor_format: sampleFormat } = row
  if (owner === null || sampleFormat === null) return null
  return { owner, sampleFormat, nVisible: row.successor_visible, nSensitive: row.successor_sensitive }
}

function toQueued(row: MemberRow): QueuedAction | null {
  const { pending_id: id, pending_action: action, pending_queued_at: queuedAt } = row
  if (id === null || action === null || queuedAt === null) return null
  return { id, action, queuedAt: queuedAt.getTime(), nReplaced: row.pending_replaced }
}
