import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { v7 as uuid } from 'uuid'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { connectPostgres, type Database, type Transaction } from '../../../../src/storage/postgres/connection/client.js'
import { postgresStatistics } from '../../../../src/storage/postgres/insight/statistics.js'
import { organization, person } from '../../../harness/fixtures.js'
import { type FreshDatabase, freshDatabase } from '../../../servers/database.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const SPRING = { name: 'spring', from: Date.UTC(2026, 2, 27), to: Date.UTC(2026, 3, 1) }
const AUTUMN = { name: 'autumn', from: Date.UTC(2026, 9, 23), to: Date.UTC(2026, 9, 29) }
type Season = typeof SPRING
const JOBS = ['count_attempts', 'count_days', 'slide_totals'] as const

let fresh: FreshDatabase
let database: Database
beforeEach(async () => {
  fresh = await freshDatabase()
  database = connectPostgres({ url: fresh.url, max: 2, patience: 10 })
})
afterEach(async () => {
  await database.close()
  await fresh.drop()
})

/** A new organization, in which each of two people is blocked in every second hour of UTC. */
async function attemptedHourly({ from, to }: Season): Promise<string> {
  const org = await organization(database)
  for (const [i, userRef] of ['ada', 'bob'].entries()) {
    const who = await person(database, org, userRef)
    await database.scoped(
      org,
      (sql) => sql`
        insert into keystride.authentication (organization_id, id, created_at, account_id, member_id, user_ref, member_ref,
          account_type, session_id, method, authenticated, recommended_action, reason, confidence, confidence_biometrics,
          policy_id, n_patterns_ref, n_patterns_ref_used, facets)
        select ${org}, overlay(keystride.uuid_from(t.at)::text placing '7000-8000-000000000001' from 15)::uuid, t.at,
          ${who.accountId}, ${who.memberId}, ${userRef}, ${userRef}, 'nominative', '', 'biometric', false, 'block', '', 0.25,
          0.25, ${uuid()}, 5, 5, '{}'
        from generate_series(${new Date(from + i * HOUR_MS)}::timestamptz, ${new Date(to - 1)}, interval '2 hours') t (at)`,
    )
  }
  return org
}

/** The database with transactions whose session is in `zone`. */
function inZone(zone: string): Database {
  const { scoped, asSystem } = database
  const set =
    <T>(work: (sql: Transaction) => Promise<T>) =>
    async (sql: Transaction) => {
      await sql`select set_config('TimeZone', ${zone}, true)`
      return await work(sql)
    }
  return {
    ...database,
    scoped: (org, work, options) => scoped(org, set(work), options),
    asSystem: (work, options) => asSystem(set(work), options),
  }
}

/** Runs one of the jobs until nothing is left. */
async function run(zoned: Database, job: (typeof JOBS)[number], now: number): Promise<void> {
  const [row] = await zoned.asSystem((sql) =>
    job === 'count_days'
      ? sql<{ more: boolean }[]>`select keystride.count_days() as more`
      : sql<{ more: boolean }[]>`select keystride.${sql(job)}(${new Date(now)}) as more`,
  )
  if (row?.more === true) await run(zoned, job, now)
}

/** Figures of each day and of all users, of the season and of the seven days to a time after it. */
async function figures(zoned: Database, org: string, { from, to }: Season, now: number) {
  const statistics = postgresStatistics(zoned)
  const users = (window: { from: number; to: number }) =>
    statistics.users(org, window, { sort: 'n', descending: true, skip: 0, limit: 9, userRefFilter: null })
  const days = await statistics.tallies(org, 'all', { from, to }, 'day')
  const blocked = await statistics.blockedUsers(org, { from, to }, 'day')
  const totals = await database.scoped(
    org,
    (sql) => sql<{ days: number; n: number }[]>`select days, n from keystride.user_total order by days, user_ref`,
  )
  return {
    days: days.map(({ at, n }) => [at, n]),
    blocked: blocked.map(({ at, nUsers }) => [at, nUsers]),
    users: (await users({ from: now - 7 * DAY_MS, to: now })).map(({ userRef, n }) => [userRef, n]),
    totals: totals.map(({ n }) => n),
  }
}

/** Each day has 24 attempts of two people; the seven days to `now` have `left` hours of the season. */
function wanted({ from, to }: Season, left: number) {
  const days = Array.from({ length: (to - from) / DAY_MS }, (_, i) => from + i * DAY_MS)
  const all = days.length * 12
  return {
    days: days.map((day) => [day, 24]),
    blocked: days.map((day) => [day, 2]),
    users: [
      ['ada', left / 2],
      ['bob', left / 2],
    ],
    totals: [left / 2, left / 2, all, all, all, all],
  }
}

describe('in a session of a zone with summer time', () => {
  it.each([SPRING, AUTUMN])('a day has 24 hours in $name, and totals gain and lose each hour once', async (season) => {
    const zoned = inZone('Europe/Paris')
    const org = await attemptedHourly(season)
    const now = season.to + 6 * DAY_MS
    // Totals that are three days behind are added up anew.
    for (let at = season.from + DAY_MS; at < now + HOUR_MS; at += 2 * DAY_MS)
      await run(zoned, 'slide_totals', at + HOUR_MS / 4)
    for (const job of JOBS) await run(zoned, job, now + HOUR_MS / 4)
    expect(await figures(zoned, org, season, now)).toEqual(wanted(season, 24))
  })
})

it('no statement adds days or months to a time with a zone', () => {
  const folder = fileURLToPath(new URL('../../../../src/storage/postgres', import.meta.url))
  const lines = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(sql|ts)$/.test(file))
    .flatMap((file) => readFileSync(`${folder}/${file}`, 'utf8').split('\n'))
  const adds = lines.filter((line) =>
    /interval '[^']*(day|week|mon|year)|make_interval\((days|weeks|months|years)/.test(line),
  )
  // The statements of partitions add to times of UTC without a zone.
  expect(adds.filter((line) => !/at time zone 'utc'/.test(line))).toEqual([])
  expect(adds).toHaveLength(3)
})
