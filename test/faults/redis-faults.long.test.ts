import { spawnSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stranger } from '../api/enrolled.js'
import { until } from '../patience.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'
import { figure, LONG } from '../trust/figure.js'
import { deployment } from './deployment.js'
import { allHeld, audit, type Fault, type Figures, figureText, injectFault, type Victim, wellBehaved } from './fault.js'
import { table } from './figures.js'
import { type Ask, client, newPerson, startLoad } from './load.js'
import { startProcess } from './service-process.js'
import { type OwnRedis, startOwnRedis } from './stores.js'
import { startProxy, type TcpProxy } from './tcp-proxy.js'

const possible = spawnSync('redis-server', ['--version']).status === 0

/** The promises under a fault. A loaded machine may add twice the slowest `/status` of that time. */
const KILLED = 'NOK within 1 s, 99 % of 503s in 50 ms, OK within 2 s, none hung for 1 s, acknowledged N of N'
const SLOW = `${KILLED}, p99 of 503s 250 ms`

describe.skipIf(!possible)('a service whose Redis is', { timeout: 90_000 }, () => {
  let fresh: FreshDatabase
  let redis: OwnRedis
  let proxy: TcpProxy
  let env: Record<string, string>
  let victim: Victim
  const figures: Figures[] = []
  const faulty = async (fault: Fault) => {
    const rows = await injectFault([victim], fault)
    figures.push(...rows)
    return rows
  }

  beforeAll(async () => {
    fresh = await freshDatabase()
    redis = await startOwnRedis()
    proxy = await startProxy(redis.port)
    const made = await deployment(fresh.url)
    env = { ...made.env, REDIS_URL: `redis://127.0.0.1:${proxy.port}` }
    const service = await startProcess({ ...env, STORE_PATIENCE: '1' })
    victim = { name: 'Redis', service, apikey: made.apikey, databaseUrl: () => fresh.url }
  })
  afterAll(async () => {
    console.log(table('faults of Redis', figures))
    await victim.service.stop()
    await proxy.close()
    await redis.close()
    await fresh.drop()
  })

  const withClient = async <T>(work: (ask: Ask) => Promise<T>, service = victim.service): Promise<T> => {
    const ask = client(service.core, victim.apikey)
    try {
      return await work(ask)
    } finally {
      ask.end()
    }
  }

  it('killed and restarted empty refuses at once and serves again', async () => {
    const rows = await faulty({ name: 'kill -9, back empty', hurt: () => redis.kill(), heal: () => redis.restart() })
    figure('F01', figureText(rows), KILLED, allHeld(rows))
  })

  it('killed and restarted with its data keeps sessions and used attempts', async () => {
    await redis.kill()
    await redis.restart('--appendonly', 'yes')
    // One late answer of a loaded machine would be a lost session or attempt.
    const patient = await startProcess({ ...env, STORE_PATIENCE: '10' })
    await withClient(async (ask) => {
      const failures: { userRef: string; session: string }[] = []
      const fails = (userRef: string, session: string) =>
        ask('verify', 'POST', `/users/${userRef}/verify`, { session, body: stranger() })
      for (let i = 0; i < (LONG ? 100 : 3); i++) {
        const { userRef, enroll } = newPerson()
        await enroll(ask)
        const { session } = await ask('bootstrap', 'GET', `/users/${userRef}`)
        expect((await fails(userRef, session)).json.nextAttempt).toMatchObject({ remainingBiometricAttempts: 2 })
        failures.push({ userRef, session })
      }
      const sessions: { userRef: string; session: string }[] = []
      for (let i = 0; i < (LONG ? 1000 : 30); i++) {
        const userRef = `keeps-${i}`
        sessions.push({ userRef, session: (await ask('bootstrap', 'GET', `/users/${userRef}`)).session })
      }

      await faulty({
        name: 'kill -9, back with AOF',
        hurt: () => redis.kill(),
        heal: () => redis.restart('--appendonly', 'yes'),
      })
      await until(async () => (await ask('bootstrap', 'GET', '/users/is-back')).session !== '')

      let [live, counted] = [0, 0]
      for (const { userRef, session } of sessions)
        if ((await ask('bootstrap', 'GET', `/users/${userRef}`, { session })).session === session) live += 1
      for (const { userRef, session } of failures)
        if ((await fails(userRef, session)).json.nextAttempt?.remainingBiometricAttempts === 1) counted += 1
      figure(
        'F02',
        `${live} of ${sessions.length} sessions live, ${counted} of ${failures.length} failures counted`,
        'all',
        live === sessions.length && counted === failures.length,
      )
    }, patient)
    await patient.stop()
    await redis.kill()
    await redis.restart()
  })

  it('halted for 5 s refuses and recovers', async () => {
    const rows = await faulty({
      name: 'SIGSTOP 5 s',
      holdMs: 4500,
      slowMs: 250,
      hurt: () => redis.signal('SIGSTOP'),
      heal: () => redis.signal('SIGCONT'),
    })
    figure('F04', figureText(rows), SLOW, allHeld(rows))
  })

  it('slow by 200 ms refuses and recovers', async () => {
    const rows = await faulty({
      name: '+200 ms',
      slowMs: 250,
      hurt: () => proxy.delay(200),
      heal: () => proxy.pass(),
      answersLate: true,
    })
    figure('F04', figureText(rows), SLOW, allHeld(rows))
  })

  it.each(LONG ? (['both', 'up', 'down'] as const) : (['down'] as const))(
    'behind a stalled line (%s) refuses and recovers',
    async (way) => {
      await faulty({ name: `stalled ${way}`, slowMs: 250, hurt: () => proxy.stall(way), heal: () => proxy.pass() })
    },
  )

  it('full refuses to count and authenticates nobody', async () => {
    const rows = await faulty({
      name: 'full (noeviction)',
      hurt: () => redis.cli('config', 'set', 'maxmemory', '1'),
      heal: () => redis.cli('config', 'set', 'maxmemory', '0'),
    })
    figure('F05', figureText(rows), `0 authenticated; ${KILLED}`, allHeld(rows))
  })

  it('flushed under load begins new sessions, and locked members stay locked', async () => {
    // With patience, so that no pause of a loaded machine is an answer of 503: a flush must cause none.
    const service = await startProcess({ ...env, STORE_PATIENCE: '10' })
    const patient = { ...victim, service }
    await withClient(async (ask) => {
      const who = newPerson()
      await who.enroll(ask)
      const lock = `/users/${who.userRef}/verify`
      let locked = { session: '', mode: 'biometric' }
      // Five wrong patterns in a row close typing for 30 s; a session accepts three.
      while (locked.mode === 'biometric') {
        const { session } = await ask('bootstrap', 'GET', `/users/${who.userRef}`)
        for (let n = 0; n < 3; n++) {
          const { json } = await ask('verify', 'POST', lock, { session, body: stranger() })
          locked = { session, mode: json.nextAttempt.retryAfterSeconds > 0 ? 'locked' : 'biometric' }
        }
      }
      const load = await startLoad(service.core, victim.apikey)
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
      expect(since.map(({ status }) => status)).toEqual(expect.arrayContaining([200, 400]))
      wellBehaved(patient, since)
      await audit(patient, load)
    }, service)
    await service.stop()
  })

  it('evicting does not start', async () => {
    const evicting = await startOwnRedis('--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru')
    const starts = LONG ? 10 : 1
    let refused = 0
    for (let n = 0; n < starts; n++) {
      const start = startProcess({ ...env, REDIS_URL: `redis://127.0.0.1:${evicting.port}` })
      await expect(start).rejects.toThrow('maxmemory-policy noeviction')
      refused++
    }
    await evicting.close()
    figure('F05', `${refused} of ${starts} starts with allkeys-lru refused`, 'all', refused === starts)
  })
})
