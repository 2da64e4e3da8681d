import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectPostgres } from '../../src/storage/postgres/connection/client.js'
import { redisUrl, startService, type TestService } from '../harness/service.js'
import { startProxy, type TcpProxy } from '../harness/tcp-proxy.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'

/** The service of tests has STORE_PATIENCE=10; refusals without it are tests of `test/faults`. */
describe('with STORE_PATIENCE=10', () => {
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
    })
  })
  afterAll(async () => {
    await service.close()
    await toPostgres.close()
    await toRedis?.close()
    await fresh.drop()
  })

  const create = async (userRef: string) => (await service.call('POST', `/users/${userRef}`)).status

  it('serves if a table is locked for 2 s', async () => {
    const database = connectPostgres({ url: fresh.url, max: 2, patience: 10 })
    const { answer } = await database.asSystem(async (sql) => {
      await sql`lock table keystride.member in access exclusive mode`
      const answer = create('ann')
      await sql`select pg_sleep(2)`
      return { answer }
    })
    await database.close()
    expect(await answer).toBe(201)
  })

  it('serves if PostgreSQL or Redis answers after 0.5 s, and counts both as healthy', async () => {
    expect(await create('bob')).toBe(201)
    for (const proxy of [toPostgres, toRedis]) {
      proxy?.delay(500)
      expect((await service.bootstrap('bob')).status).toBe(200)
      expect((await service.call('GET', '/status')).json.status).toBe('OK')
      proxy?.pass()
    }
  })
})
