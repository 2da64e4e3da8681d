import { isDeepStrictEqual } from 'node:util'
import postgres from 'postgres'
import { expect } from 'vitest'
import {
  type AttemptCounters,
  type AttemptKind,
  afterFailure,
  afterSuccess,
  NO_ATTEMPTS,
} from '../../src/domain/attempts.js'
import { lockMs } from '../domain/attempts-oracle.js'

/** Violations of the invariants in the records, whatever faults occurred. */
interface Invariants {
  /** Attempts that were judged during a lock of their kind, or after twenty failures in a day. */
  readonly beyondLadder: number
  /** Members whose counters do not follow from their records. */
  readonly miscounted: number
  readonly members: number
  /** Deleted accounts that exist. */
  readonly back: number
  /** Whether the usage ledger's chain is intact and its last event has the current counts. */
  readonly ledgerWhole: boolean
}

const DAY_MS = 24 * 3_600_000
const FAILURES_A_DAY = 20

interface Row {
  readonly member_id: string
  readonly method: AttemptKind
  readonly authenticated: boolean
  readonly at: number
}

export async function invariantsOf(
  databaseUrl: string,
  organizationId: string,
  deleted: ReadonlySet<string>,
): Promise<Invariants> {
  const sql = postgres(databaseUrl, { max: 1 })
  try {
    return await sql.begin(async (open) => {
      await open`select set_config('role', 'keystride_system', true),
        set_config('keystride.organization_id', ${organizationId}, true)`
      const counters = new Map<string, AttemptCounters>()
      let beyondLadder = 0
      const rows = open<Row[]>`
        select member_id, method, authenticated, extract(epoch from created_at)::float8 * 1000 as at
        from keystride.authentication order by member_id, created_at, id`
      let ladder = newLadder()
      let memberId = ''
      await rows.cursor(5000, (some) => {
        for (const row of some) {
          if (row.member_id !== memberId) ladder = newLadder()
          memberId = row.member_id
          const at = Math.round(row.at)
          if (!ladder.allows(row.method, at)) beyondLadder += 1
          ladder.note(row.method, at, row.authenticated)
          const before = counters.get(memberId) ?? NO_ATTEMPTS
          counters.set(
            memberId,
            row.authenticated ? afterSuccess(before, row.method) : afterFailure(before, row.method, at),
          )
        }
      })
      const members = await open<{ id: string; attempts: AttemptCounters }[]>`
        select id, attempts from keystride.member`
      const wrong = members.filter(({ id, attempts }) => !isDeepStrictEqual(attempts, counters.get(id) ?? NO_ATTEMPTS))
      expect(wrong.slice(0, 1)).toEqual([])
      const accounts = await open<{ user_ref: string }[]>`select user_ref from keystride.account`
      const [ledger] = await open<{ whole: boolean }[]>`
        select keystride.broken_usage_event() is null and h.n_accounts = ${accounts.length}
          and h.n_users_nominative + h.n_users_generic = ${members.length} as whole
        from keystride.headcount h where h.organization_id = ${organizationId}`
      return {
        beyondLadder,
        miscounted: wrong.length,
        members: members.length,
        back: accounts.filter(({ user_ref }) => deleted.has(user_ref)).length,
        ledgerWhole: ledger?.whole ?? false,
      }
    })
  } finally {
    await sql.end()
  }
}

/** The lock ladder of one member by the written rules, applied to the records one by one. */
function newLadder() {
  const kinds = {
    biometric: { inARow: 0, openAt: 0, failures: [] as number[] },
    security_code: { inARow: 0, openAt: 0, failures: [] as number[] },
  }
  return {
    allows(kind: AttemptKind, at: number): boolean {
      const { openAt, failures } = kinds[kind]
      return at >= openAt && failures.filter((failedAt) => failedAt > at - DAY_MS).length < FAILURES_A_DAY
    },
    note(kind: AttemptKind, at: number, success: boolean): void {
      const one = kinds[kind]
      one.inARow = success ? 0 : one.inARow + 1
      if (success) return
      one.openAt = Math.max(one.openAt, at + lockMs(kind, one.inARow))
      one.failures = [...one.failures, at].slice(-FAILURES_A_DAY)
    },
  }
}
