import type { Member } from './account.js'
import type { AttemptCounters, AttemptKind } from './attempts.js'
import type { HabitsText } from './context/circumstances.js'

/** The part of a recorded attempt that changes its member. */
interface RecordedAttempt {
  readonly createdAt: number
  readonly authenticated: boolean
  readonly method: AttemptKind
  readonly counters: AttemptCounters
  /** Null leaves the habits unchanged. */
  readonly habits: HabitsText | null
}

/**
 * The member as the commit of an attempt leaves it. The commit itself applies the same rule to the row in SQL, in
 * `record_attempts.sql`, because returning or sending the row would cost more. The stores of the simulator use this function, and
 * their contract compares them with PostgreSQL.
 */
export function memberAfter(member: Member, attempt: RecordedAttempt): Member {
  const { createdAt, authenticated, method, counters, habits } = attempt
  const { lastSuccessAt, lastTypedAt, code } = member
  const usesUp = authenticated && method === 'security_code' && code.temporary
  return {
    ...member,
    attempts: counters,
    attemptsVersion: member.attemptsVersion + 1,
    rowVersion: member.rowVersion + 1,
    habits: habits ?? member.habits,
    lastSuccessAt: authenticated ? createdAt : lastSuccessAt,
    lastTypedAt: authenticated && method === 'biometric' ? createdAt : lastTypedAt,
    code: usesUp ? { ...code, used: true } : code,
  }
}
