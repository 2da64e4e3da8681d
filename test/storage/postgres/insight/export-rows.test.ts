import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { connectPostgres, type Database } from '../../../../src/storage/postgres/connection/client.js'
import { endStalled } from '../../../../src/storage/postgres/connection/stalled-backends.js'
import { exportRows } from '../../../../src/storage/postgres/insight/export-rows.js'
import { startProxy, type TcpProxy } from '../../../faults/tcp-proxy.js'
import { until } from '../../../patience.js'
import { type FreshDatabase, freshDatabase } from '../../../servers/database.js'
import { organization } from '../../fixtures.js'

let fresh: FreshDatabase
let database: Database
let proxy: TcpProxy
let organizationId: string
beforeAll(async () => {
  fresh = await freshDatabase()
  database = connectPostgres({ url: fresh.url, max: 2 })
  proxy = await startProxy(Number(new URL(fresh.url).port))
  organizationId = await organization(database)
  await database.asSystem(
    (sql) => sql`
      insert into keystride.usage_event (organization_id, n, at, kind, n_accounts, n_accounts_generic, n_users_nominative,
        n_users_generic, over_quota, hash)
      select ${organizationId}, i, now(), 'checkpoint', 0, 0, 0, 0, false, '' from generate_series(1, 1200) i`,
  )
})
afterAll(async () => {
  await proxy.close()
  await database.close()
  await fresh.drop()
})

const rowsOf = (statementMs: number) => {
  const url = Object.assign(new URL(fresh.url), { port: String(proxy.port) }).href
  return exportRows(url, organizationId, 'usage', { from: 0, to: Date.now() + 60_000 }, statementMs)
}

it('reads all rows in batches', async () => {
  const sizes: number[] = []
  for await (const batch of rowsOf(10_000)) sizes.push(batch.length)
  expect(sizes).toEqual([500, 500, 200])
})

// Regression: the search for stalled statements canceled it after 1.2 s.
it('waits for a lock as long as its statements may take', async () => {
  const holder = new pg.Client(fresh.url)
  await holder.connect()
  await holder.query('begin; lock table keystride.usage_event in access exclusive mode')
  const rows = rowsOf(20_000)
  const first = rows.next()
  first.catch(() => {}) // it is awaited below
  const waiting = () =>
    database.call(
      (sql) => sql`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
  try {
    await until(async () => (await waiting()).count === 1)
    expect(await database.call((sql) => endStalled(sql, 0))).toEqual({ ended: 0, canceled: 0 })
  } finally {
    await holder.query('rollback')
    await holder.end()
  }
  expect((await first).value).toHaveLength(500)
  await rows.return(undefined)
}, 30_000)

// It waited for ever: the driver has no limit of its own, and the server's limit needs a server.
it('rejects if the server vanishes without closing the connection', async () => {
  const rows = rowsOf(1000)
  expect((await rows.next()).value).toHaveLength(500)
  proxy.stall()
  await expect(rows.next()).rejects.toThrow('Query read timeout')
  expect((await rows.next()).done).toBe(true)
}, 30_000)
