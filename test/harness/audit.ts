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
import type { Load } from './load.js'
import { until } from './patience.js'

interface Audited {
  readonly name: string
  /** URL of the database itself, not of a proxy. */
  readonly databaseUrl: () => string
}

/**
 * Compares the acknowledged writes of a load with the database once no connection is in use, and checks the invariants that
 * hold whatever faults occurred. Returns the counts as text.
 */
export async function audit(
  { name, databaseUrl }: Audited,
  load: Pick<Load, 'enrolled' | 'judged' | 'authenticated' | 'deleted'>,
): Promise<string> {
  // This connection has no timeouts, because there may be millions of rows.
  const direct = postgres(databaseUrl(), { max: 1 })
  await nothingInUse(direct)
  const counts = await direct.begin('isolation level repeatable read', async (sql) => {
    await sql`set local role keystride_system`
    const stored = await referencesOf(sql)
    let [acknowledged, present] = [0, 0]
    for (const [userRef, counted] of load.enrolled) {
      const has = stored.get(userRef) ?? 0
      acknowledged += counted.acknowledged
      present += Math.min(has, counted.acknowledged)
      expect(has, `${userRef}: no more than were sent`).toBeLessThanOrEqual(counted.sent)
    }
    expect(present, `${name}: acknowledged enrollments present`).toBe(acknowledged)
    expect([...load.deleted].filter((userRef) => stored.has(userRef))).toEqual([])
    expect(await unrecorded(sql, load.authenticated, true), 'authenticated without a successful record').toEqual([])
    expect(await unrecorded(sql, load.judged), 'judged without a record').toEqual([])
    await budgetsHold(sql)
    await ledgerHolds(sql)
    return `${present + load.judged.size} of ${acknowledged + load.judged.size} writes kept, 0 of ${load.deleted.size} deletions undone`
  })
  await direct.end()
  return counts
}

/** userRef -> stored references, which are as many as its counter says. */
async function referencesOf(sql: postgres.TransactionSql): Promise<ReadonlyMap<string, number>> {
  const members = await sql<{ user_ref: string; counted: number; stored: number }[]>`
    select a.user_ref, m.n_visible + m.n_sensitive as counted, (
      select count(*)::int from keystride.reference_pattern r where r.organization_id = m.organization_id
        and r.member_id = m.id and r.generation = m.generation and r.kind = 'enrolled') as stored
    from keystride.account a join keystride.member m on m.organization_id = a.organization_id and m.account_id = a.id`
  expect(members.filter((member) => member.counted !== member.stored)).toEqual([])
  return new Map(members.map((member) => [member.user_ref, member.stored]))
}

const IDS_AT_ONCE = 5000

/** Attempts without a record of their id; with `succeeded`, without a successful one. */
async function unrecorded(
  sql: postgres.TransactionSql,
  ids: ReadonlySet<string>,
  succeeded = false,
): Promise<string[]> {
  const missing: string[] = []
  const all = [...ids]
  for (let from = 0; from < all.length; from += IDS_AT_ONCE) {
    const rows = await sql<{ id: string }[]>`
      select asked.id from unnest(${all.slice(from, from + IDS_AT_ONCE)}::uuid[]) asked (id) where not exists (
        select from keystride.organization o
          join keystride.authentication a on a.organization_id = o.organization_id and a.id = asked.id
        where a.authenticated or not ${succeeded})`
    missing.push(...rows.map(({ id }) => id))
  }
  return missing
}

const DAY_MS = 24 * 3_600_000
const FAILURES_A_DAY = 20

interface Row {
  readonly member_id: string
  readonly method: AttemptKind
  readonly authenticated: boolean
  readonly at: number
}

/**
 * No session has more attempts than its budget, no attempt was judged during a lock of its kind or after twenty failures in a
 * day, and the counters of every member follow from the records.
 */
async function budgetsHold(sql: postgres.TransactionSql): Promise<void> {
  const overused = await sql`
    select session_id, method, count(*) from keystride.authentication group by 1, 2 having count(*) > 3`
  expect([...overused], 'sessions with more than their budget').toEqual([])
  const counters = new Map<string, AttemptCounters>()
  const beyond: Row[] = []
  let [memberId, ladder] = ['', newLadder()]
  const rows = sql<Row[]>`
    select member_id, method, authenticated, extract(epoch from created_at)::float8 * 1000 as at
    from keystride.authentication order by member_id, created_at, id`
  await rows.cursor(5000, (some) => {
    for (const row of some) {
      if (row.member_id !== memberId) ladder = newLadder()
      memberId = row.member_id
      const at = Math.round(row.at)
      if (!ladder.allows(row.method, at)) beyond.push(row)
      ladder.note(row.method, at, row.authenticated)
      const before = counters.get(memberId) ?? NO_ATTEMPTS
      counters.set(
        memberId,
        row.authenticated ? afterSuccess(before, row.method) : afterFailure(before, row.method, at),
      )
    }
  })
  expect(beyond, 'judged during a lock').toEqual([])
  const members = await sql<{ id: string; attempts: AttemptCounters }[]>`select id, attempts from keystride.member`
  const wrong = members.filter(({ id, attempts }) => !isDeepStrictEqual(attempts, counters.get(id) ?? NO_ATTEMPTS))
  expect(wrong.slice(0, 1), 'counted otherwise than recorded').toEqual([])
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

/** The chain of the usage ledger is intact, and the headcount is the number of rows. */
async function ledgerHolds(sql: postgres.TransactionSql): Promise<void> {
  const organizations = await sql<{ organization_id: string }[]>`select organization_id from keystride.organization`
  for (const { organization_id: id } of organizations) {
    await sql`select set_config('keystride.organization_id', ${id}, true)`
    const [ledger] = await sql`
      select keystride.broken_usage_event() as broken, n_accounts as accounts, n_users_nominative + n_users_generic as members
      from keystride.headcount_now(${id})`
    const [counted] = await sql`
      select (select count(*)::int from keystride.account where organization_id = ${id}) as accounts,
        (select count(*)::int from keystride.member where organization_id = ${id}) as members`
    expect(ledger, 'the usage ledger').toEqual({ broken: null, ...counted })
  }
}

/** Waits until the service has only idle connections; fails with the busy ones. */
async function nothingInUse(direct: postgres.Sql): Promise<void> {
  let busy: readonly object[] = []
  const idle = until(async () => {
    busy = await direct`
      select pid, state, query, now() - query_start as since from pg_stat_activity
      where application_name = 'keystride' and datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'`
    return busy.length === 0
  })
  await idle.catch(() => expect(busy, 'connections in use').toEqual([]))
}
