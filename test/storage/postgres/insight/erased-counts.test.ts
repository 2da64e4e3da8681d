import { v7 as uuid } from 'uuid'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectPostgres, type Database } from '../../../../src/storage/postgres/connection/client.js'
import { postgresStatistics } from '../../../../src/storage/postgres/insight/statistics.js'
import { postgresAccounts } from '../../../../src/storage/postgres/person/account.js'
import { type FreshDatabase, freshDatabase } from '../../../servers/database.js'
import { organization, type Person, person } from '../../fixtures.js'

const DAY_MS = 86_400_000
let fresh: FreshDatabase
let database: Database
let org: string
beforeAll(async () => {
  fresh = await freshDatabase()
  database = connectPostgres({ url: fresh.url, max: 2, patience: 10 })
  org = await organization(database)
})
afterAll(async () => {
  await database.close()
  await fresh.drop()
})

const attempted = (who: Person, at: Date, facets: Record<string, string>) =>
  database.scoped(
    org,
    (sql) => sql`
      insert into keystride.authentication (organization_id, id, created_at, account_id, member_id, user_ref, member_ref,
        account_type, session_id, method, authenticated, recommended_action, reason, confidence, confidence_biometrics,
        policy_id, n_patterns_ref, n_patterns_ref_used, facets)
      values (${org}, overlay(keystride.uuid_from(${at})::text placing substr(${uuid()}, 20) from 20)::uuid, ${at}, ${who.accountId},
        ${who.memberId}, ${who.userRef}, ${who.userRef}, 'nominative', '', 'biometric', true, 'auth', '', 0.75, 0.5, ${uuid()}, 5, 5,
        ${JSON.stringify(facets)}::text::jsonb)`,
  )
const counted = async (table: 'attempt_count' | 'attempt_day') =>
  Object.fromEntries(
    (
      await database.scoped(
        org,
        (sql) => sql<{ name: string; n: number; confidence: number }[]>`
          select facet || '=' || value as name, sum(n)::int as n, sum(sum_confidence) as confidence
          from keystride.${sql(table)} where facet in ('all', 'application', 'place', 'asn', 'country') group by 1 order by 1`,
      )
    ).map(({ name, n, confidence }) => [name, [n, confidence]]),
  )

describe('the deletion of an account', () => {
  it('removes counts that may name the person from hours and days, and keeps the others', async () => {
    const [ada, eve] = [await person(database, org, 'ada'), await person(database, org, 'eve')]
    const at = (daysAgo: number) => new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS - daysAgo * DAY_MS + 3_600_000)
    const web = { application: 'web', country: 'FR' }
    for (const daysAgo of [3, 4]) {
      await attempted(ada, at(daysAgo), { ...web, place: '48.9 2.4 FR Paris', asn: 'AS64500' })
      await attempted(ada, at(daysAgo), {
        application: "ada's laptop",
        country: 'FR',
        place: '45.1 1.2 FR',
        asn: 'AS64500',
      })
      await attempted(eve, at(daysAgo), { ...web, place: '48.9 2.4 FR Paris' })
    }
    while (await postgresStatistics(database).countAttempts()) {
      // More counts are due.
    }
    for (const table of ['attempt_count', 'attempt_day'] as const)
      expect(await counted(table)).toEqual({
        'all=': [6, 4.5],
        "application=ada's laptop": [2, 1.5],
        'application=web': [4, 3],
        'asn=AS64500': [4, 3],
        'country=FR': [6, 4.5],
        'place=45.1 1.2 FR': [2, 1.5],
        'place=48.9 2.4 FR Paris': [4, 3],
      })
    await postgresAccounts(database).remove(org, 'ada')
    for (const table of ['attempt_count', 'attempt_day'] as const)
      expect(await counted(table)).toEqual({
        'all=': [6, 4.5],
        'application=web': [2, 1.5],
        'country=FR': [6, 4.5],
        'place=48.9 2.4 FR Paris': [2, 1.5],
      })
  })

  it('removes nothing if nothing was counted', async () => {
    const bob = await person(database, org, 'bob')
    const before = await counted('attempt_count')
    await attempted(bob, new Date(), { application: 'web', country: 'FR' })
    await postgresAccounts(database).remove(org, 'bob')
    expect(await counted('attempt_count')).toEqual(before)
  })
})
