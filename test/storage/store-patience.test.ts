import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { connectPostgres } from '../../src/storage/postgres/connection/client.js'
import { startProxy, type TcpProxy } from '../faults/tcp-proxy.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'
import { startService, type TestService } from '../service.js'

const redisUrl = inject('redisUrl')

describe.each([
  { patience: '1', well: false },
  { patience: '10', well: true },
])('with STORE_PATIENCE=$patience', ({ patience, well }) => {
  let fresh: FreshDatabase
  let toPostgres: TcpProxy
  let toRedis: TcpProxy | null = null
  let service: TestService
  beforeAll(async () => {
    fresh = await freshDatabase()
    toPostgres = await startProxy(Number(new URL(fresh.url).port))
    toRedis = redisUrl === null ? null : await startProxy(Number(new URL(redisUrl).port))
    const through = (url: string, port: number) => Object.assign(new URL(url), { port: String(port) }).href
    service = await startService(through(fresh.url, toPostgres.port), {
      redisUrl: redisUrl === null || toRedis === null ? null : through(redisUrl, toRedis.port),
      more: { STORE_PATIENCE: patience },
    })
  })
  afterAll(async () => {
    await service.close()
    await toPostgres.close()
    await toRedis?.close()
    await fresh.drop()
  })

  let people = 0
  const create = async () => (await service.call('POST', `/users/u-${people++}`)).status
  const bootstrap = async () => (await service.call('GET', '/users/u-0')).status
  const verdict = well ? 'serves' : 'refuses'

  it(`${verdict} if a table is locked for 2 s`, async () => {
    expect(await create()).toBe(201)
    const database = connectPostgres({ url: fresh.url, max: 2, patience: 10 })
    const { answer } = await database.asSystem(async (sql) => {
      await sql`lock table keystride.member in access exclusive mode`
      const answer = create()
      await sql`select pg_sleep(2)`
      return { answer }
    })
    await database.close()
    expect(await answer).toBe(well ? 201 : 503)
    await expect.poll(create).toBe(201)
  })

  it.each([
    { name: 'PostgreSQL', line: () => toPostgres, call: create, served: 201 },
    { name: 'Redis', line: () => toRedis, call: bootstrap, served: 200 },
  ])(`${verdict} if $name answers after 0.5 s`, async ({ line, call, served }) => {
    const proxy = line()
    if (proxy === null) return
    proxy.delay(500)
    expect(await call()).toBe(well ? served : 503)
    await delay(1000)
    expect((await service.call('GET', '/status')).json.status).toBe(well ? 'OK' : 'NOK')
    proxy.pass()
    await expect.poll(call, { timeout: 10_000 }).toBe(served)
  })
})
