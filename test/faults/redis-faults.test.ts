import { spawnSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stranger } from '../api/enrolled.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'
import { deployment } from './deployment.js'
import { audit, type Fault, type Figures, suffer, type Victim, wellBehaved } from './fault.js'
import { table } from './figures.js'
import { type Ask, client, newPerson, startLoad } from './load.js'
import { startProcess } from './service-process.js'
import { type OwnRedis, startOwnRedis } from './stores.js'
import { startProxy, type TcpProxy } from './tcp-proxy.js'

const possible = spawnSync('redis-server', ['--version']).status === 0
const LONG = process.env.FAULTS === 'long'

describe.skipIf(!possible)('a service whose Redis is', { timeout: 90_000 }, () => {
  let fresh: FreshDatabase
  let redis: OwnRedis
  let proxy: TcpProxy
  let env: Record<string, string>
  let victim: Victim
  const figures: Figures[] = []
  const faulty = async (fault: Fault) => {
    figures.push(...(await suffer([victim], fault)))
  }

  beforeAll(async () => {
    fresh = await freshDatabase()
    redis = await startOwnRedis()
    proxy = await startProxy(redis.port)
    const made = await deployment(fresh.url)
    env = { ...made.env, REDIS_URL: `redis://127.0.0.1:${proxy.port}` }
    const service = await startProcess(env)
    victim = { name: 'Redis', service, apikey: made.apikey, databaseUrl: () => fresh.url }
  })
  afterAll(async () => {
    console.log(table('faults of Redis', figures))
    await victim.service.stop()
    await proxy.close()
    await redis.close()
    await fresh.drop()
  })

  const withClient = async <T>(work: (ask: Ask) => Promise<T>): Promise<T> => {
    const ask = client(victim.service.core, victim.apikey)
    try {
      return await work(ask)
    } finally {
      ask.end()
    }
  }

  it('killed and comes back empty, refuses at once and serves again', async () => {
    await faulty({ name: 'kill -9, back empty', hurt: () => redis.kill(), heal: () => redis.restart() })
  })

  it('killed and comes back with what it kept, goes on with sessions and used attempts as they were', async () => {
    await redis.kill()
    await redis.restart('--appendonly', 'yes')
    await withClient(async (ask) => {
      const who = newPerson()
      await who.enroll(ask)
      const sessions = await Promise.all(
        Array.from({ length: LONG ? 1000 : 30 }, async (_, i) => {
          const userRef = `keeps-${i}`
          return { userRef, session: (await ask('bootstrap', 'GET', `/users/${userRef}`)).session }
        }),
      )
      const { session } = await ask('bootstrap', 'GET', `/users/${who.userRef}`)
      const failed = await ask('verify', 'POST', `/users/${who.userRef}/verify`, { session, body: stranger() })
      expect(failed.json.nextAttempt).toMatchObject({ remainingBiometricAttempts: 2 })

      await faulty({
        name: 'kill -9, back with AOF',
        hurt: () => redis.kill(),
        heal: () => redis.restart('--appendonly', 'yes'),
      })

      const kept = await Promise.all(
        sessions.map(async ({ userRef, session: held }) => {
          return (await ask('bootstrap', 'GET', `/users/${userRef}`, { session: held })).session === held
        }),
      )
      expect(kept.filter((same) => !same)).toEqual([])
      const again = await ask('verify', 'POST', `/users/${who.userRef}/verify`, { session, body: stranger() })
      expect(again.json.nextAttempt).toMatchObject({ remainingBiometricAttempts: 1 })
    })
    await redis.kill()
    await redis.restart()
  })

  it('halted for 5 s', async () => {
    await faulty({
      name: 'SIGSTOP 5 s',
      holdMs: 4500,
      slow: true,
      hurt: () => redis.signal('SIGSTOP'),
      heal: () => redis.signal('SIGCONT'),
    })
  })

  it('slow by 200 ms', async () => {
    await faulty({ name: '+200 ms', slow: true, hurt: () => proxy.delay(200), heal: () => proxy.pass() })
  })

  it.each(LONG ? (['both', 'up', 'down'] as const) : (['down'] as const))(
    'behind a line that has stalled (%s)',
    async (way) => {
      await faulty({ name: `stalled ${way}`, slow: true, hurt: () => proxy.stall(way), heal: () => proxy.pass() })
    },
  )

  it('full, and refuses to count', async () => {
    await faulty({
      name: 'full (noeviction)',
      hurt: () => redis.cli('config', 'set', 'maxmemory', '1'),
      heal: () => redis.cli('config', 'set', 'maxmemory', '0'),
    })
  })

  it('flushed under load: sessions are begun anew, and who was locked stays locked', async () => {
    await withClient(async (ask) => {
      const who = newPerson()
      await who.enroll(ask)
      const lock = `/users/${who.userRef}/verify`
      let locked = { session: '', mode: 'biometric' }
      // Five wrong ones in a row close typing for 30 s; a session takes three.
      while (locked.mode === 'biometric') {
        const { session } = await ask('bootstrap', 'GET', `/users/${who.userRef}`)
        for (let n = 0; n < 3; n++) {
          const { json } = await ask('verify', 'POST', lock, { session, body: stranger() })
          locked = { session, mode: json.nextAttempt.retryAfterSeconds > 0 ? 'locked' : 'biometric' }
        }
      }
      const load = await startLoad(victim.service.core, victim.apikey)
      const from = load.answers.length
      for (let n = 0; n < 20; n++) await redis.cli('flushall')
      expect(await ask('verify', 'POST', lock, { session: locked.session, body: who.next() })).toMatchObject({
        status: 400,
        json: { message: expect.stringContaining('bootstrap with GET /users/{userRef}') },
      })
      const { session } = await ask('bootstrap', 'GET', `/users/${who.userRef}`)
      const refused = await ask('verify', 'POST', lock, { session, body: who.next() })
      expect(refused.json).toMatchObject({ action: 'refused', authentication: { authenticated: false } })
      await load.stop()
      const since = load.answers.slice(from)
      expect(since.filter(({ status }) => status >= 500)).toEqual([])
      expect(since.some(({ status }) => status === 400)).toBe(true)
      wellBehaved(victim, since)
      await audit(victim, load)
    })
  })

  it('evicting, does not start', async () => {
    const evicting = await startOwnRedis('--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru')
    for (let n = 0; n < (LONG ? 10 : 1); n++) {
      const start = startProcess({ ...env, REDIS_URL: `redis://127.0.0.1:${evicting.port}` })
      await expect(start).rejects.toThrow('maxmemory-policy noeviction')
    }
    await evicting.close()
  })
})
