import pg from 'pg'
import { afterAll, expect, it } from 'vitest'
import { EVERYBODY } from '../../../../src/storage/directory.js'
import { connectPostgres } from '../../../../src/storage/postgres/connection/client.js'
import { postgresStatistics } from '../../../../src/storage/postgres/insight/statistics.js'
import { postgresAccounts } from '../../../../src/storage/postgres/person/account.js'
import { postgresDirectory } from '../../../../src/storage/postgres/person/directory.js'
import { NOW, organization, person } from '../../../harness/fixtures.js'
import { until } from '../../../harness/patience.js'
import { sharedDatabase } from '../../../servers/database.js'

const { url, database: observer } = await sharedDatabase()
/** Three connections for calls, one of which slow reads may take. */
const database = connectPostgres({ url, max: 4, patience: 10 })
const org = await organization(observer)
afterAll(() => database.close())

const byUse = { sort: 'n', descending: true, skip: 0, limit: 20, userRefFilter: null } as const
const newest = { sort: 'created', descending: true, skip: 0, limit: 20 } as const
const serves = async () =>
  expect(await database.scoped(org, (sql) => sql`select name from keystride.organization`)).toHaveLength(1)
// Regression: a deletion was refused when operators loaded lists of users.
const deletes = async () => {
  await person(observer, org, 'ann')
  expect(await postgresAccounts(database).remove(org, 'ann')).not.toBeNull()
}

it.each([
  ['tables', 'user_totaled', () => postgresStatistics(database).users(org, { from: 0, to: NOW }, byUse), deletes],
  ['pages', 'account', () => postgresDirectory(database).page(org, EVERYBODY, newest), serves],
  ['counts', 'account', () => postgresDirectory(database).count(org, { ...EVERYBODY, userRef: 'ann' }), serves],
] as const)('other calls are served while operators load %s of users', async (_, table, read, serve) => {
  const holder = new pg.Client(url)
  await holder.connect()
  await holder.query(`begin; lock table keystride.${table} in access exclusive mode`)
  let settled = 0
  // The first waits for the lock, the others for its connection.
  const reads = Promise.all(Array.from({ length: 3 }, () => read().finally(() => settled++)))
  // The test awaits the other call first: a read that fails meanwhile is reported at the end.
  reads.catch(() => {})
  const waiting = () =>
    observer.call(
      (sql) => sql`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
  try {
    await until(async () => (await waiting()).count === 1)
    await serve()
    expect(settled).toBe(0)
  } finally {
    await holder.query('rollback')
    await holder.end()
  }
  await reads
})
