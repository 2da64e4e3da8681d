import type { Member } from '../../domain/account.js'
import type { AttemptCounters } from '../../domain/attempts.js'
import type { Transaction } from './client.js'

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
  patterns_closed_for_ms: number
  created_at: Date
}

/** The column list of a `MemberRow`, for a statement that names the table `m`. */
export const memberColumns = (sql: Transaction) => sql`
  m.id, m.member_ref, m.display_name, m.generation, m.n_visible, m.n_sensitive, m.ever_reset, m.completed_at, m.last_success_at,
  m.preferred_language, m.code_hash is not null as code_set, m.code_temporary, m.code_expires_at, m.code_used,
  m.code_version, m.attempts, m.attempts_version,
  ${closedForMs(sql)} as patterns_closed_for_ms, m.created_at`

/** How long patterns of a member `m` are not taken, by the server's clock; 0 where they are. */
export const closedForMs = (sql: Transaction) => sql`
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
    patternsClosedForMs: row.patterns_closed_for_ms,
    createdAt: row.created_at.getTime(),
  }
}
