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
    const start = () =>
      startService(through(fresh.url, toPostgres.port), {
        redisUrl: redisUrl === null || toRedis === null ? null : through(redisUrl, toRedis.port),
        more: { STORE_PATIENCE: patience },
      })
    // A store may be late while the service starts.
    service = await start().catch(start).catch(start)
  })
  afterAll(async () => {
    await service.close()
    await toPostgres.close()
    await toRedis?.close()
    await fresh.drop()
  })

  let people = 0
  let known = ''
  const create = async () => {
    const userRef = `u-${people++}`
    const { status } = await service.call('POST', `/users/${userRef}`)
    if (status === 201) known = userRef
    return status
  }
  const bootstrap = async () => (await service.call('GET', `/users/${known}`)).status
  const verdict = well ? 'serves' : 'refuses'

  it(`${verdict} if a table is locked for 2 s`, async () => {
    await expect.poll(create).toBe(201)
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
    const health = async () => (await service.call('GET', '/status')).json.status
    if (well) {
      expect(await call()).toBe(served)
      await delay(1000)
      expect(await health()).toBe('OK')
    } else {
      // To a service that stands still meanwhile, an answer that is late is in time.
      await expect.poll(call).toBe(503)
      await expect.poll(health).toBe('NOK')
    }
    proxy.pass()
    await expect.poll(call, { timeout: 10_000 }).toBe(served)
  })
})
