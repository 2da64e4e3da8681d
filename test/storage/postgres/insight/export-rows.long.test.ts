import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { endStalled } from '../../../../src/storage/postgres/connection/stalled-backends.js'
import { exportRows } from '../../../../src/storage/postgres/insight/export-rows.js'
import { organization } from '../../../harness/fixtures.js'
import { until } from '../../../harness/patience.js'
import { startProxy, type TcpProxy } from '../../../harness/tcp-proxy.js'
import { sharedDatabase } from '../../../servers/database.js'

const { url, database } = await sharedDatabase()
let proxy: TcpProxy
let organizationId: string
beforeAll(async () => {
  proxy = await startProxy(Number(new URL(url).port))
  organizationId = await organization(database)
  await database.asSystem(
    (sql) => sql`
      insert into keystride.usage_event (organization_id, n, at, kind, n_accounts, n_accounts_generic, n_users_nominative,
        n_users_generic, over_quota, hash)
      select ${organizationId}, i, now(), 'checkpoint', 0, 0, 0, 0, false, '' from generate_series(1, 1200) i`,
  )
})
afterAll(() => proxy.close())

const rowsOf = (statementMs: number) => {
  const through = Object.assign(new URL(url), { port: String(proxy.port) }).href
  return exportRows(through, organizationId, { kind: 'usage', from: 0, to: Date.now() + 60_000 }, statementMs)
}

it('reads all rows in batches', async () => {
  const sizes: number[] = []
  for await (const batch of rowsOf(60_000)) sizes.push(batch.length)
  expect(sizes).toEqual([500, 500, 200])
})

// Regression: the search for stalled statements canceled the wait after 1.2 s.
it('waits for a lock as long as its statements may take', async () => {
  const holder = new pg.Client(url)
  await holder.connect()
  await holder.query('begin; lock table keystride.usage_event in access exclusive mode')
  const rows = rowsOf(300_000)
  const first = rows.next()
  first.catch(() => {}) // The read is awaited below.
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
})

// Regression: the read waited for ever, because the driver has no limit of its own and the server's limit needs a server.
it('rejects if the server vanishes without closing the connection', async () => {
  const rows = rowsOf(10_000)
  expect((await rows.next()).value).toHaveLength(500)
  proxy.stall()
  await expect(rows.next()).rejects.toThrow('Query read timeout')
  expect((await rows.next()).done).toBe(true)
})
