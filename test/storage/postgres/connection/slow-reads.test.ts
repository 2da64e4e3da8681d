import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { EVERYBODY } from '../../../../src/storage/directory.js'
import { connectPostgres, type Database } from '../../../../src/storage/postgres/connection/client.js'
import { postgresStatistics } from '../../../../src/storage/postgres/insight/statistics.js'
import { postgresAccounts } from '../../../../src/storage/postgres/person/account.js'
import { postgresDirectory } from '../../../../src/storage/postgres/person/directory.js'
import { until } from '../../../patience.js'
import { type FreshDatabase, freshDatabase } from '../../../servers/database.js'
import { NOW, organization, person } from '../../fixtures.js'

let fresh: FreshDatabase
/** Three connections for calls, one of which slow reads may take. */
let database: Database
let observer: Database
let org: string
beforeAll(async () => {
  fresh = await freshDatabase()
  database = connectPostgres({ url: fresh.url, max: 4, patience: 10 })
  observer = connectPostgres({ url: fresh.url, max: 2, patience: 10 })
  org = await organization(database)
})
afterAll(async () => {
  await Promise.all([database.close(), observer.close()])
  await fresh.drop()
})

/** Runs `work` while three of `read` wait: the first for the lock of `table`, the others for its connection. */
async function whileReading(table: string, read: () => Promise<unknown>, work: () => Promise<void>): Promise<void> {
  const holder = new pg.Client(fresh.url)
  await holder.connect()
  await holder.query(`begin; lock table ${table} in access exclusive mode`)
  let settled = 0
  const reads = Promise.all(Array.from({ length: 3 }, () => read().finally(() => settled++)))
  // The test awaits the work first: a read that fails meanwhile is reported at the end.
  reads.catch(() => {})
  const waiting = () =>
    observer.call(
      (sql) => sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
  try {
    await until(async () => (await waiting()).count === 1)
    await work()
    expect(settled).toBe(0)
  } finally {
    await holder.query('rollback')
    await holder.end()
  }
  await reads
}

// Regression: a deletion was refused when operators loaded lists of users.
it('deletes a person while operators load tables of users', async () => {
  await person(database, org, 'ann')
  const order = { sort: 'n', descending: true, skip: 0, limit: 20, userRefFilter: null } as const
  const load = () => postgresStatistics(database).users(org, { from: NOW - 86_400_000, to: NOW }, order)
  await whileReading('keystride.user_totaled', load, async () => {
    expect(await postgresAccounts(database).remove(org, 'ann')).not.toBeNull()
  })
}, 60_000)

it.each([
  {
    name: 'pages of users',
    load: () =>
      postgresDirectory(database).page(org, EVERYBODY, { sort: 'created', descending: true, skip: 0, limit: 20 }),
  },
  { name: 'counts of users', load: () => postgresDirectory(database).count(org, { ...EVERYBODY, userRef: 'ann' }) },
])(
  'serves other calls while operators load $name',
  async ({ load }) => {
    await whileReading('keystride.account', load, async () => {
      expect(await database.scoped(org, (sql) => sql`select name from keystride.organization`)).toHaveLength(1)
    })
  },
  60_000,
)
