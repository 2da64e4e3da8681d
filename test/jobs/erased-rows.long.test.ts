import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { expect, it } from 'vitest'
import { connectPostgres } from '../../src/storage/postgres/connection/client.js'
import { postgresRetention } from '../../src/storage/postgres/insight/retention.js'
import { figure } from '../harness/figure.js'
import { startService } from '../harness/service.js'
import { startOwnPostgres } from '../harness/stores.js'

const nameOf = (n: number) => `erased-person-${String(n).padStart(3, '0')}`
const displayNameOf = (n: number) => `Lastname ${String(n).padStart(3, '0')}`

it('the files of the tables hold nothing of erased people after the job, and after the next rows', {
  timeout: 300_000,
}, async () => {
  const root = mkdtempSync(join(tmpdir(), 'keystride-erased-'))
  const server = await startOwnPostgres(root)
  const inService = async (work: (call: Awaited<ReturnType<typeof startService>>['call']) => Promise<void>) => {
    // No jobs run by themselves: the test runs the job.
    const service = await startService(server.url, { redisUrl: null, more: { ROLES: 'core,links,dashboard' } })
    await work(service.call)
    await service.close()
  }
  const job = async () => {
    const database = connectPostgres({ url: server.url, max: 2, patience: 10 })
    await postgresRetention(database).vacuumErased(new AbortController().signal)
    await database.close()
  }
  /** The number of tables and indexes whose files have a text. A clean shutdown writes all pages. */
  const inFiles = async (texts: readonly string[]): Promise<number[]> => {
    const admin = new pg.Client({ connectionString: server.url })
    await admin.connect()
    const { rows } = await admin.query<{ path: string }>(
      `select pg_relation_filepath(oid) as path from pg_catalog.pg_class
       where relnamespace = 'keystride'::regnamespace and pg_relation_filepath(oid) is not null`,
    )
    await admin.end()
    await server.shutDown()
    const bytes = rows.map(({ path }) => readFileSync(join(root, 'postgres', path)))
    const found = texts.map((text) => bytes.filter((one) => one.includes(text)).length)
    await server.restart()
    return found
  }
  const create = (call: Parameters<Parameters<typeof inService>[0]>[0], n: number) =>
    call('POST', `/users/${nameOf(n)}`, { body: { user_display_name: displayNameOf(n) } })
  await inService(async (call) => {
    for (let n = 0; n < 40; n++) await create(call, n)
  })
  await job()
  const erased = [7, 21]
  const last = 39
  const texts = [...erased, last].flatMap((n) => [nameOf(n), displayNameOf(n)])
  expect((await inFiles(texts)).every((found) => found > 0)).toBe(true)
  await inService(async (call) => {
    for (const n of [...erased, last]) expect((await call('DELETE', `/users/${nameOf(n)}`)).status).toBe(200)
  })
  expect((await inFiles(texts)).every((found) => found > 0)).toBe(true)
  await job()
  const after = await inFiles(texts)
  expect(after.slice(0, 4)).toEqual([0, 0, 0, 0])
  // The free part of a page keeps the bytes of its last row until another row takes the place.
  await inService(async (call) => {
    for (let n = 100; n < 110; n++) await create(call, n)
  })
  await job()
  const left = (await inFiles(texts)).reduce((sum, found) => sum + found, 0)
  figure('T33', `${left} files name a deleted person after the vacuum`, '0', left === 0)
  await server.close()
})
