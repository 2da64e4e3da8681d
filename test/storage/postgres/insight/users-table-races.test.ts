import { v7 as uuid } from 'uuid'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectPostgres, type Database } from '../../../../src/storage/postgres/connection/client.js'
import { postgresStatistics } from '../../../../src/storage/postgres/insight/statistics.js'
import { postgresAccounts } from '../../../../src/storage/postgres/person/account.js'
import { until } from '../../../patience.js'
import { type FreshDatabase, freshDatabase } from '../../../servers/database.js'
import { NOW, organization, type Person, person } from '../../fixtures.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
let fresh: FreshDatabase
let database: Database
let org: string
beforeAll(async () => {
  fresh = await freshDatabase()
  database = connectPostgres({ url: fresh.url, max: 8, patience: 10 })
  org = await organization(database)
})
afterAll(async () => {
  await database.close()
  await fresh.drop()
})

/** One attempt in each of the two days before now. */
const attempted = (who: Person) =>
  database.scoped(
    org,
    (sql) => sql`
      insert into keystride.authentication (organization_id, id, created_at, account_id, member_id, user_ref, member_ref,
        account_type, session_id, method, authenticated, recommended_action, reason, confidence,
        confidence_biometrics, policy_id, n_patterns_ref,
        n_patterns_ref_used)
      select ${org}, overlay(keystride.uuid_from(at)::text placing substr(gen_random_uuid()::text, 20) from 20)::uuid, at,
        ${who.accountId}, ${who.memberId}, ${who.userRef}, ${who.userRef}, 'nominative', '', 'biometric', true, 'auth', '', 0.5, 0.5,
        ${uuid()}, 5, 5
      from (select ${new Date(NOW)}::timestamptz - make_interval(mins => 30 + 60 * hour) as at from generate_series(0, 47) hour) hours`,
  )
const slid = (to: number) =>
  database.call((sql) => sql`select keystride.slide_totals(${new Date(to)})`, { patienceMs: 20_000 })

describe('the table of users', () => {
  it('counts every attempt once while its totals slide and users are created and deleted', async () => {
    const people = []
    for (let n = 0; n < 20; n++) people.push(await person(database, org, `user-${n}`))
    for (const one of people) await attempted(one)
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
    const readers = [reader(), reader(), reader(), guests()]
    for (let hour = 46; hour >= 0; hour--) {
      const before = read
      await slid(NOW - hour * HOUR_MS)
      await until(async () => read > before)
    }
    sliding = false
    await Promise.all(readers)
    expect(wrong).toEqual([])

    const [{ lost }] = await database.scoped(
      org,
      (sql) => sql<[{ lost: number }]>`
        select count(*)::int as lost from keystride.account a where (
          select count(*) from keystride.user_total t where t.account_id = a.id) <> 3`,
    )
    expect(lost).toBe(0)
  }, 60_000)
})
