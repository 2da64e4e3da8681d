import { v7 as uuid } from 'uuid'
import { describe, expect, it } from 'vitest'
import { postgresStatistics } from '../../../../src/storage/postgres/insight/statistics.js'
import { postgresAccounts } from '../../../../src/storage/postgres/person/account.js'
import { randomFrom } from '../../../../src/typist/made-up-person.js'
import { organization, type Person, person } from '../../../harness/fixtures.js'
import { until } from '../../../harness/patience.js'
import { ownDatabase } from '../../../servers/database.js'

const MINUTE_MS = 60_000
/** 10:00 of a day; attempts are made from 08:00 on. */
const TEN = Date.UTC(2026, 9, 20, 10)
const at = (hours: number, minutes: number, seconds = 0) =>
  TEN + ((hours - 10) * 60 + minutes) * MINUTE_MS + seconds * 1000

const { database } = await ownDatabase()

/** One attempt per time, earliest first; without `facets`, every third is of another browser. */
async function attempted(who: Person, times: readonly number[], facets?: Record<string, string>): Promise<void> {
  const org = who.organizationId
  await database.scoped(
    org,
    (sql) => sql`
      insert into keystride.authentication (organization_id, id, created_at, account_id, member_id, user_ref, member_ref,
        account_type, session_id, method, authenticated, recommended_action, reason, confidence, confidence_biometrics,
        policy_id, n_patterns_ref, n_patterns_ref_used, facets)
      select ${org}, overlay(keystride.uuid_from(t.at)::text placing substr(md5(t.i || ${uuid()}), 1, 12) from 25)::uuid, t.at,
        ${who.accountId}, ${who.memberId}, ${who.userRef}, ${who.userRef}, 'nominative', '', 'biometric', true, 'auth', '',
        0.75, 0.5, ${uuid()}, 5, 5,
        coalesce(${facets === undefined ? null : JSON.stringify(facets)}::text::jsonb,
          jsonb_build_object('browser', case when t.i % 3 = 0 then 'Firefox' else 'Chrome' end))
      from unnest(${`{${times.map((one) => new Date(one).toISOString()).join(',')}}`}::timestamptz[]) with ordinality t (at, i)`,
  )
}

/** One run of the job at this time; true if more is left. */
const count = async (now: number) => {
  const [row] = await database.asSystem(
    (sql) => sql<{ more: boolean }[]>`select keystride.count_attempts(${new Date(now)}) as more`,
  )
  return row?.more === true
}
const countAll = async (now: number) => {
  while (await count(now)) {
    // More counts are due.
  }
}
const tallied = async (org: string, facet: string, from: number, to: number) =>
  Object.fromEntries(
    (await postgresStatistics(database).tallies(org, facet, { from, to }, null)).map(({ value, n }) => [value, n]),
  )
const rowsOf = async (org: string, table: 'attempt_count' | 'attempt_recent', facet = 'all') =>
  (
    await database.scoped(
      org,
      (sql) => sql<{ hour: Date; n: number }[]>`
        select hour, sum(n)::int as n from keystride.${sql(table)} where facet = ${facet} group by 1 order by 1`,
    )
  ).map(({ hour, n }) => [(hour.getTime() - TEN) / (60 * MINUTE_MS) + 10, n])

describe('attempts of open hours', () => {
  it('are counted up to a short while ago, for any window', async () => {
    const org = await organization(database)
    const who = await person(database, org)
    const random = randomFrom(5)
    const times = Array.from({ length: 3000 }, () => Math.floor(at(8, 0) + random() * 190 * MINUTE_MS)).sort(
      (a, b) => a - b,
    )
    await attempted(who, times)
    const right = async (now: number) => {
      // Edges on hours, on the end of the counts, and anywhere.
      const edges = [at(8, 0), at(9, 0), at(11, 0), at(11, 4, 40), now, at(8, 20), at(11, 2)]
      const windows = [
        ...edges.flatMap((from) => edges.map((to) => [from, to] as const)),
        ...Array.from({ length: 20 }, () => [at(8, 0), at(8, 0)].map((one) => one + Math.floor(random() * 11_400_000))),
      ]
      for (const [from = 0, to = 0] of windows.filter(([from = 0, to = 0]) => from < to)) {
        const inside = times.filter((one) => one >= from && one < to).length
        expect([from, to, await tallied(org, 'all', from, to)]).toEqual([from, to, inside === 0 ? {} : { '': inside }])
        const browsers = Object.values(await tallied(org, 'browser', from, to))
        expect(browsers.reduce((sum, n) => sum + n, 0)).toBe(inside)
      }
    }
    await countAll(at(9, 5))
    expect((await rowsOf(org, 'attempt_count')).map(([hour]) => hour)).toEqual([])
    expect((await rowsOf(org, 'attempt_recent')).map(([hour]) => hour)).toEqual([8, 9])
    await right(at(9, 5))
    // 10:00 to 11:00 is closed at 11:10.
    await countAll(at(11, 5))
    expect((await rowsOf(org, 'attempt_count')).map(([hour]) => hour)).toEqual([8, 9])
    expect((await rowsOf(org, 'attempt_recent')).map(([hour]) => hour)).toEqual([10, 11])
    await right(at(11, 5))
    await countAll(at(15, 0))
    expect(await rowsOf(org, 'attempt_recent')).toEqual([])
    await right(at(15, 0))
  })

  it('are counted in steps, each from the end of the last, and closed without a recount', async () => {
    const org = await organization(database)
    const who = await person(database, org)
    // One moment has more attempts than a step takes, and is never split.
    const times = [...Array(2500).fill(at(8, 10)), ...Array.from({ length: 4000 }, (_, i) => at(8, 10, 1) + i * 500)]
    await attempted(who, times)
    await countAll(at(8, 20))
    const settledUntil = at(8, 20) - 20_000
    expect(await rowsOf(org, 'attempt_recent')).toEqual([[8, times.filter((one) => one < settledUntil).length]])
    await countAll(at(8, 58))
    expect(await rowsOf(org, 'attempt_recent')).toEqual([[8, 6500]])
    // Shows that the counts of the hour are reused.
    await database.asSystem(
      (sql) => sql`
        update keystride.attempt_recent set sum_confidence = -1 where organization_id = ${org} and facet = 'browser'`,
    )
    // Nothing is new since 08:58, but the hour must end first.
    await attempted(who, [at(9, 1)])
    await countAll(at(9, 5))
    await countAll(at(9, 10))
    expect(await rowsOf(org, 'attempt_count')).toEqual([[8, 6500]])
    expect(await rowsOf(org, 'attempt_count', 'users')).toEqual([[8, 1]])
    const sums = await database.scoped(
      org,
      (sql) => sql<{ sum: number }[]>`
        select sum_confidence as sum from keystride.attempt_count where facet = 'browser'`,
    )
    expect(sums.map(({ sum }) => sum)).toEqual([-1, -1])
  })

  it('that arrive late are missing until their hour is closed', async () => {
    const org = await organization(database)
    const who = await person(database, org)
    await attempted(who, [at(8, 5), at(8, 6)])
    await countAll(at(8, 10))
    await attempted(who, [at(8, 7)])
    await countAll(at(9, 5))
    expect(await tallied(org, 'all', at(8, 0), at(9, 5))).toEqual({ '': 2 })
    expect(await tallied(org, 'all', at(8, 1), at(8, 59))).toEqual({ '': 3 })
    await attempted(who, [at(9, 2)])
    await countAll(at(9, 10))
    expect(await tallied(org, 'all', at(8, 0), at(9, 10))).toEqual({ '': 4 })
    expect(await rowsOf(org, 'attempt_count')).toEqual([[8, 3]])
  })

  it('are of one organization only, and without attempts nothing is written', async () => {
    const [ours, theirs] = [await organization(database), await organization(database)]
    await attempted(await person(database, ours), [at(8, 5)])
    await countAll(at(8, 10))
    expect(await rowsOf(ours, 'attempt_recent')).toEqual([[8, 1]])
    expect(await rowsOf(theirs, 'attempt_recent')).toEqual([])
    const version = async () => {
      const [row] = await database.scoped(
        theirs,
        (sql) =>
          sql<
            { version: string }[]
          >`select xmin::text as version from keystride.attempt_counted where organization_id = ${theirs}`,
      )
      return row?.version
    }
    const before = await version()
    await countAll(at(8, 11))
    expect(await version()).toBe(before)
  })
})

describe('the deletion of an account', () => {
  it('removes counts that may name the person from hours and days, and keeps the others', async () => {
    const org = await organization(database)
    const [ada, eve] = [await person(database, org, 'ada'), await person(database, org, 'eve')]
    const web = { application: 'web', country: 'FR', place: '48.9 2.4 FR Paris' }
    const own = { application: "ada's laptop", country: 'FR', place: '45.1 1.2 FR', asn: 'AS64500' }
    const days = [at(10, 0) - 48 * 60 * MINUTE_MS, at(10, 0) - 24 * 60 * MINUTE_MS]
    await attempted(ada, days, { ...web, asn: 'AS64500' })
    await attempted(ada, days, own)
    await attempted(eve, days, web)
    // The attempts of an open hour: one is counted, and one is not counted yet.
    await attempted(ada, [at(9, 1)], own)
    await countAll(at(9, 5))
    await until(async () => {
      const [row] = await database.call((sql) => sql<{ more: boolean }[]>`select keystride.count_days() as more`)
      return row?.more === false
    })
    await attempted(ada, [at(9, 6)], own)
    const counted = (table: 'attempt_count' | 'attempt_day') =>
      database.scoped(
        org,
        (sql) => sql`
          select facet || '=' || value as name, sum(n)::int as n, sum(sum_confidence) as confidence from keystride.${sql(table)}
          where facet in ('all', 'application', 'place', 'asn', 'country') group by 1 order by 1`,
      )
    const rowsOfCounts = (counts: Record<string, number>) =>
      Object.entries(counts).map(([name, n]) => ({ name, n, confidence: 0.75 * n }))
    const places = { 'place=45.1 1.2 FR': 2, 'place=48.9 2.4 FR Paris': 4 }
    const all = { 'all=': 6, "application=ada's laptop": 2, 'application=web': 4, 'asn=AS64500': 4, 'country=FR': 6 }
    for (const table of ['attempt_count', 'attempt_day'] as const)
      expect([...(await counted(table))]).toEqual(rowsOfCounts({ ...all, ...places }))
    expect(await tallied(org, 'application', at(9, 0), at(9, 7))).toEqual({ "ada's laptop": 2 })
    await postgresAccounts(database).remove(org, 'ada')
    const left = { 'all=': 6, 'application=web': 2, 'country=FR': 6, 'place=48.9 2.4 FR Paris': 2 }
    for (const table of ['attempt_count', 'attempt_day'] as const)
      expect([...(await counted(table))]).toEqual(rowsOfCounts(left))
    expect(await tallied(org, 'application', at(9, 0), at(9, 7))).toEqual({})
    await countAll(at(15, 0))
    expect(await tallied(org, 'application', days[0] ?? 0, at(15, 0))).toEqual({ web: 2 })
  })
})
