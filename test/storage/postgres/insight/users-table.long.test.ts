import { describe, expect, it } from 'vitest'
import type { TimeWindow } from '../../../../src/domain/time-window.js'
import { postgresStatistics } from '../../../../src/storage/postgres/insight/statistics.js'
import { postgresAccounts } from '../../../../src/storage/postgres/person/account.js'
import { USER_SORTS, type UserSort, type UserStatistics } from '../../../../src/storage/statistics.js'
import { NOW, organization, type Person, person } from '../../../harness/fixtures.js'
import { until } from '../../../harness/patience.js'
import { ownDatabase } from '../../../servers/database.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** More than a filter’s names that are looked up one by one. */
const USERS = 2400
const FIGURES: Record<UserSort, string> = {
  n: 'n',
  authenticated: 'n_authenticated',
  challenged: 'n_challenged',
  blocked: 'n_blocked',
  confidence: 'confidence',
  last: 'last_at',
  user_ref: 'user_ref',
}
const { database } = await ownDatabase(8)
let org = await organization(database)

const enrolled = (from: number, to: number) =>
  database.scoped(
    org,
    (sql) => sql`
      insert into keystride.account (organization_id, id, user_ref, type, created_at)
      select ${org}, md5('a' || i)::uuid, case i % 10 when 0 then 'desk-' else 'user-' end || i * 7919 % 10007, 'nominative',
        ${new Date(NOW)} from generate_series(${from}::int, ${to}::int) i`,
    { statementMs: 20_000 },
  )

/** Attempts of at most every second user at random times, with confidences that add up without rounding. */
const attempted = (seed: number, users: readonly [number, number], { from, to }: TimeWindow, n: number) =>
  database.scoped(
    org,
    async (sql) => {
      await sql`select setseed(${seed}::float8)`
      await sql`
      insert into keystride.authentication (organization_id, id, created_at, account_id, member_id, user_ref, member_ref,
        account_type, session_id, method, authenticated, recommended_action, reason, confidence, confidence_biometrics,
        policy_id, n_patterns_ref, n_patterns_ref_used)
      select ${org}, overlay(keystride.uuid_from(at)::text placing substr(gen_random_uuid()::text, 20) from 20)::uuid, at,
        a.id, a.id, a.user_ref, a.user_ref, 'nominative', '', case step % 3 when 0 then 'security_code' else 'biometric' end,
        step > 2, case when step > 2 then 'auth' when step > 1 then 'challenge' else 'block' end, '', step / 8.0, step / 8.0,
        ${org}, 5, 5
      from (select ${users[0]}::int + 2 * floor(random() * ${(users[1] - users[0]) / 2})::int as u, floor(random() * 9)::int as step,
          ${new Date(from)}::timestamptz + make_interval(secs => floor(random() * ${to - from}) / 1000) as at
        from generate_series(1, ${n})) drawn
        join keystride.account a on a.organization_id = ${org} and a.id = md5('a' || u)::uuid`
    },
    { statementMs: 20_000 },
  )

/** One attempt in each of the 48 hours before now. */
const attemptedHourly = (who: Person) =>
  database.scoped(
    org,
    (sql) => sql`
      insert into keystride.authentication (organization_id, id, created_at, account_id, member_id, user_ref, member_ref,
        account_type, session_id, method, authenticated, recommended_action, reason, confidence,
        confidence_biometrics, policy_id, n_patterns_ref, n_patterns_ref_used)
      select ${org}, overlay(keystride.uuid_from(at)::text placing substr(gen_random_uuid()::text, 20) from 20)::uuid, at,
        ${who.accountId}, ${who.memberId}, ${who.userRef}, ${who.userRef}, 'nominative', '', 'biometric', true, 'auth', '', 0.5, 0.5,
        ${org}, 5, 5
      from (select ${new Date(NOW)}::timestamptz - make_interval(mins => 30 + 60 * hour) as at from generate_series(0, 47) hour) hours`,
  )

const slid = async (to: number) => {
  let more = true
  while (more)
    [{ more }] = await database.call(
      (sql) => sql<[{ more: boolean }]>`select keystride.slide_totals(${new Date(to)}) as more`,
      { patienceMs: 20_000 },
    )
}

/** The whole table, computed from the attempts. */
async function plainly({ from, to }: TimeWindow, sort: UserSort, descending: boolean, filter: string | null) {
  const rows = await database.scoped(
    org,
    (sql) => sql<Record<string, never>[]>`
      with total as (
        select a.user_ref, count(t.id)::int as n, (count(*) filter (where t.authenticated))::int as n_authenticated,
          (count(*) filter (where t.recommended_action = 'challenge'))::int as n_challenged,
          (count(*) filter (where t.recommended_action = 'block'))::int as n_blocked, avg(t.confidence) as confidence,
          avg(t.confidence_biometrics) filter (where t.method = 'biometric') as confidence_biometrics,
          max(t.created_at) as last_at
        from keystride.account a left join keystride.authentication t on t.account_id = a.id
          and t.created_at >= ${new Date(from)} and t.created_at < ${new Date(to)}
        where strpos(a.user_ref, ${filter ?? ''}) > 0 group by 1)
      select * from total order by ${sql.unsafe(FIGURES[sort])} ${descending ? sql`desc` : sql`asc`} nulls last, user_ref`,
  )
  return rows.map((row) => Object.values(row).map(rounded))
}

const rounded = (value: unknown) =>
  value instanceof Date ? value.getTime() : typeof value === 'number' ? Number(value.toFixed(8)) : value
const shown = (user: UserStatistics) =>
  [
    user.userRef,
    user.n,
    user.nAuthenticated,
    user.nChallenged,
    user.nBlocked,
    user.confidence,
    user.confidenceBiometrics,
    user.lastAt,
  ].map(rounded)

/** Checks every order, and pages before and after the first user without an attempt. */
async function expectPlainTables(window: TimeWindow, filter: string | null, sorts: readonly UserSort[] = USER_SORTS) {
  const statistics = postgresStatistics(database)
  for (const sort of sorts)
    for (const descending of [true, false]) {
      const whole = await plainly(window, sort, descending, filter)
      const idle = whole.filter((row) => row[1] === 0).length
      const skips = [0, idle - 7, whole.length - idle - 7, whole.length - 5]
      for (const skip of skips) {
        const page = await statistics.users(org, window, { sort, descending, skip, limit: 20, userRefFilter: filter })
        expect([sort, descending, skip, page.map(shown)]).toEqual([
          sort,
          descending,
          skip,
          whole.slice(skip, skip + 20),
        ])
      }
    }
}

describe('the table of users', () => {
  it('equals a plain query over the attempts, in every order and on every page', async () => {
    const window = { from: NOW - 30 * DAY_MS, to: NOW }
    await enrolled(1, USERS - 100)
    await attempted(0.1, [1, USERS - 100], { from: NOW - 33 * DAY_MS, to: NOW }, 3000)
    // Users with attempts near the window’s beginning only leave it, some while the totals slide and some after.
    await attempted(0.2, [2, 300], { from: window.from - 6 * HOUR_MS, to: window.from + HOUR_MS }, 400)
    await database.call((sql) => sql`analyze keystride.account, keystride.authentication`)
    // Totals of all users at once; then by the hour; then users and attempts that no total includes, and a deletion.
    await slid(NOW - 5 * HOUR_MS)
    await enrolled(USERS - 99, USERS - 50)
    await slid(NOW - 2 * HOUR_MS)
    await enrolled(USERS - 49, USERS)
    await attempted(0.3, [USERS - 99, USERS], { from: NOW - 2 * HOUR_MS, to: NOW + HOUR_MS }, 100)
    await person(database, org, 'user-gone')
    await postgresAccounts(database).remove(org, 'user-gone')

    const [totals] = await database.scoped(
      org,
      (sql) => sql<{ n: number; idle: number; until: Date }[]>`
        select count(*)::int as n, (count(*) filter (where n = 0))::int as idle, min(until) as until
        from keystride.user_total join keystride.user_totaled using (organization_id, days) where days = 30`,
    )
    expect(totals).toMatchObject({ n: USERS, until: new Date(Math.floor(NOW / HOUR_MS - 3) * HOUR_MS) })
    expect(totals?.idle).toBeGreaterThan(USERS / 4)
    await expectPlainTables(window, null)
    await expectPlainTables(window, 'user-') // most users
    await expectPlainTables(window, '99', ['blocked', 'last']) // few users
    await expectPlainTables({ from: NOW - 11 * DAY_MS, to: NOW }, null, ['n', 'confidence']) // no sliding window
  })
  it('counts every attempt once while its totals slide and users are created and deleted', async () => {
    org = await organization(database)
    for (let n = 0; n < 20; n++) await attemptedHourly(await person(database, org, `user-${n}`))
    const statistics = postgresStatistics(database)
    const window = { from: NOW - 30 * DAY_MS, to: NOW }
    const order = { sort: 'n', descending: true, skip: 0, limit: 100, userRefFilter: null } as const
    const wrong: unknown[] = []
    let sliding = true
    let read = 0
    const reader = async () => {
      for (; sliding; read += 1)
        for (const { userRef, n } of await statistics.users(org, window, order))
          if (n !== (userRef.startsWith('guest') ? 0 : 48)) wrong.push([userRef, n])
    }
    const guests = async () => {
      for (let n = 0; sliding; n++) {
        await person(database, org, `guest-${n}`)
        if (n % 2 === 0) await postgresAccounts(database).remove(org, `guest-${n}`)
      }
    }
    const concurrent = [reader(), reader(), reader(), guests()]
    for (let hour = 46; hour >= 0; hour--) {
      const before = read
      await slid(NOW - hour * HOUR_MS)
      await until(() => read > before)
    }
    sliding = false
    await Promise.all(concurrent)
    expect(wrong).toEqual([])

    const [{ lost }] = await database.scoped(
      org,
      (sql) => sql<[{ lost: number }]>`
        select count(*)::int as lost from keystride.account a where (
          select count(*) from keystride.user_total t where t.account_id = a.id) <> 3`,
    )
    expect(lost).toBe(0)
  })
})
