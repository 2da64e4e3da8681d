import type { ChildProcess } from 'node:child_process'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { audit } from '../harness/audit.js'
import { deployment } from '../harness/deployment.js'
import { stranger } from '../harness/enrolled.js'
import { type Fault, injectFault, PROMISED, type Victim, wellBehaved } from '../harness/fault.js'
import { figure, LONG } from '../harness/figure.js'
import { redisIsHere } from '../harness/flushed-redis.js'
import { type Ask, client, newPerson, startLoad } from '../harness/load.js'
import { until } from '../harness/patience.js'
import { type ServiceProcess, startProcess } from '../harness/service-process.js'
import { type OwnPostgres, startOwnPostgres } from '../harness/stores.js'
import { startChild } from '../servers/child.js'
import { whyNoStrace } from '../servers/strace.js'
import { type OwnStores, postgresFaults, redisFaults, startOwnStores } from './store-faults.js'

/** Default number of connections of a process to PostgreSQL. */
const POOL = 10

const whyStrace = whyNoStrace()
if (whyStrace !== null) console.warn(`\n*** ${whyStrace} ***\n`)

describe.skipIf(!redisIsHere())('services whose stores fail', { timeout: LONG ? 900_000 : 300_000 }, () => {
  let stores: OwnStores
  /** One without Redis and one with it: each fault of PostgreSQL hits both at the same time. */
  let victims: readonly Victim[]
  beforeAll(async () => {
    stores = await startOwnStores()
    const { REDIS_URL = '', ...alone } = stores.env
    const start = async (name: string, env: Record<string, string>): Promise<Victim> => ({
      name,
      service: await startProcess(env),
      apikey: stores.apikey,
      databaseUrl: () => stores.postgres.url,
    })
    victims = await Promise.all([
      start('PostgreSQL alone', alone),
      start('PostgreSQL and Redis', { ...alone, REDIS_URL }),
    ])
  })
  afterAll(async () => {
    await Promise.all((victims ?? []).map(({ service }) => service.stop()))
    await stores?.close()
  })

  describe('a PostgreSQL that', () => {
    const faulty = (which: keyof ReturnType<typeof postgresFaults>) =>
      injectFault(victims, postgresFaults(stores)[which])

    // The first fault, so that the log has the lines of no other.
    it('is killed is refused, logged once and with its return, and recovers', async () => {
      const before = victims.map(({ service }) => service.output().length)
      figure('F06', await faulty('killed'), PROMISED, true)
      const back = 'all stores answer again  awayMs='
      // On a machine that stands still Redis may be late too.
      const lost = /degraded {2}why=(degraded: .*out of reach) {2}reason=/
      for (const [i, { service }] of victims.entries()) {
        const lines = () =>
          service
            .output()
            .slice(before[i])
            .split('\n')
            .filter((line) => line !== '')
        const turns = () => lines().flatMap((line) => (line.includes(back) ? [back] : (lost.exec(line)?.[1] ?? [])))
        await until(() => turns().at(-1) === back)
        expect(turns()).toContain('degraded: PostgreSQL out of reach')
        expect(turns().filter((turn, n, all) => turn === all[n - 1])).toEqual([])
        const others = lines().filter((line) => !line.includes(back) && !lost.test(line))
        expect(others.filter((line) => !line.includes('WARN  postgres: '))).toEqual([])
      }
    })

    it('loses a backend to kill -9 and restarts itself recovers', async () => {
      figure('F06', await faulty('backendKilled'), PROMISED, true)
    })

    it.each(['slow', 'locked', 'halted', 'stalledBoth', 'stalledUp', 'stalledDown', 'refused'] as const)(
      'is %s is refused and recovers',
      async (which) => {
        figure('F11', await faulty(which), PROMISED, true)
      },
    )

    it('recovers has no more connections than the size of the pools', () =>
      until(async () => (await stores.postgres.backends()).length <= victims.length * POOL))

    it.skipIf(whyStrace !== null)('cannot flush its log keeps everything acknowledged over the panic', async () => {
      let tracer: ReturnType<typeof trace>
      const text = await injectFault(victims, {
        name: 'fdatasync: EIO',
        noticed: 'perhaps',
        async hurt() {
          // The postmaster is not traced, because the processes that it starts after the panic must be able to flush.
          tracer = trace(await stores.postgres.children(), 'error=EIO')
          await until(() => tracer.said().includes('(INJECTED)'))
        },
        async heal() {
          await tracer.ended()
          await until(stores.postgres.accepts)
        },
      })
      figure('F12', text, 'every acknowledged enrollment and attempt there', true)
    })
  })

  describe('a Redis that', () => {
    const faulty = (which: keyof ReturnType<typeof redisFaults>) =>
      injectFault(victims.slice(1), redisFaults(stores)[which])

    it('is killed and back empty is refused and recovers', async () => {
      figure('F01', await faulty('killed'), PROMISED, true)
    })

    it.each(['halted', 'slow', ...(LONG ? (['stalledBoth', 'stalledUp'] as const) : []), 'stalledDown'] as const)(
      'is %s is refused and recovers',
      async (which) => {
        figure('F04', await faulty(which), PROMISED, true)
      },
    )

    it('is full counts nothing and authenticates nobody', async () => {
      figure('F05', await faulty('full'), PROMISED, true)
    })

    it('evicts keys refuses the start of a service', async () => {
      await stores.redis.cli('config', 'set', 'maxmemory-policy', 'allkeys-lru')
      await stores.redis.cli('config', 'set', 'maxmemory', '100mb')
      await expect(startProcess(stores.env)).rejects.toThrow('maxmemory-policy noeviction')
      await stores.redis.kill()
      await stores.redis.restart()
      figure('F05', '1 of 1 starts with allkeys-lru refused', 'all', true)
    })
  })

  /** Without patience, one late answer of a store on a loaded machine would lose a session or an attempt. */
  describe('a service with patience', () => {
    let patient: Victim
    let ask: Ask & { end(): void }
    beforeAll(async () => {
      const service = await startProcess({ ...stores.env, STORE_PATIENCE: '10' })
      patient = { ...(victims[1] as Victim), name: 'with patience', service }
      ask = client(service.core, patient.apikey)
    })
    afterAll(async () => {
      ask?.end()
      await patient?.service.stop()
    })
    const begin = async (userRef: string) => (await ask('bootstrap', 'GET', `/users/${userRef}`)).session
    const verify = (userRef: string, session: string, body: unknown) =>
      ask('verify', 'POST', `/users/${userRef}/verify`, { session, body })

    it('keeps sessions and used attempts when Redis is back with its data', async () => {
      await stores.redis.kill()
      await stores.redis.restart('--appendonly', 'yes')
      await until(async () => (await begin('is-back')) !== '')
      const failures: { userRef: string; session: string }[] = []
      for (let i = 0; i < (LONG ? 100 : 3); i++) {
        const { userRef, enroll } = newPerson()
        await enroll(ask)
        const session = await begin(userRef)
        const { json } = await verify(userRef, session, stranger())
        expect(json.nextAttempt).toMatchObject({ remainingBiometricAttempts: 2 })
        failures.push({ userRef, session })
      }
      const sessions: { userRef: string; session: string }[] = []
      for (let i = 0; i < (LONG ? 1000 : 30); i++)
        sessions.push({ userRef: `keeps-${i}`, session: await begin(`keeps-${i}`) })
      await injectFault(victims.slice(1), redisFaults(stores).killedWithData)
      await until(async () => (await begin('is-back')) !== '')
      let [live, counted] = [0, 0]
      for (const { userRef, session } of sessions)
        if ((await ask('bootstrap', 'GET', `/users/${userRef}`, { session })).session === session) live += 1
      for (const { userRef, session } of failures) {
        const { json } = await verify(userRef, session, stranger())
        if (json.nextAttempt?.remainingBiometricAttempts === 1) counted += 1
      }
      const found = `${live} of ${sessions.length} sessions live, ${counted} of ${failures.length} failures counted`
      figure('F02', found, 'all', live === sessions.length && counted === failures.length)
    })

    it('begins new sessions when Redis is flushed under load, and locked members stay locked', async () => {
      const userRef = 'locked'
      await ask('create', 'POST', `/users/${userRef}`)
      const session = await begin(userRef)
      const body = { securityCode: '749205' }
      expect((await ask('code', 'PUT', `/users/${userRef}/security-code`, { session, body })).status).toBe(200)
      for (let n = 0; n < 3; n++)
        expect((await verify(userRef, session, { securityCode: '111999' })).json.action).toBe('rejected')
      const load = await startLoad(patient.service.core, patient.apikey)
      const from = load.answers.length
      const outcomes = () => new Set(load.answers.slice(from).map(({ status }) => status))
      await until(async () => {
        await stores.redis.cli('flushall')
        return outcomes().has(200) && outcomes().has(400)
      })
      expect(await verify(userRef, session, body)).toMatchObject({
        status: 400,
        json: { message: expect.stringContaining('bootstrap with GET /users/{userRef}') },
      })
      const refused = await verify(userRef, await begin(userRef), body)
      expect(refused.json).toMatchObject({ action: 'refused', authentication: { authenticated: false } })
      await load.stop()
      wellBehaved(patient, load.answers)
      await audit(patient, load)
    })

    it.skipIf(whyStrace !== null)('serves while PostgreSQL takes 200 ms to flush its log', async () => {
      const load = await startLoad(patient.service.core, patient.apikey)
      const tracer = trace(await stores.postgres.children(), 'delay_exit=200000')
      await until(() => tracer.said().includes('(DELAYED)'))
      const since = performance.now()
      const served = () => load.answers.filter(({ askedAt, status }) => askedAt >= since && status === 200).length
      await until(() => served() > 50)
      await tracer.stop()
      await load.stop()
      wellBehaved(patient, load.answers)
      figure('F11', await audit(patient, load), 'serves, acknowledged N of N', true)
    })
  })
})

/** Injects a fault into the fsync calls of these processes. */
function trace(pids: readonly number[], fault: string) {
  const options = ['-e', 'trace=fsync,fdatasync', '-e', `inject=fsync,fdatasync:${fault}`]
  const tracer: ChildProcess = startChild('strace', [...options, ...pids.flatMap((pid) => ['-p', String(pid)])], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  tracer.stderr?.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  const ended = async () => {
    if (tracer.exitCode === null && tracer.signalCode === null) await once(tracer, 'exit')
  }
  return {
    said: () => said,
    ended,
    stop() {
      tracer.kill('SIGINT')
      return ended()
    },
  }
}

/** A small disk. Only root can mount it; otherwise the test is skipped. */
const smallDisk = mkdtempSync(join(tmpdir(), 'keystride-small-disk-'))
const mount = (...args: string[]) => spawnSync('mount', args).status === 0
const onSmallDisk = mount('-t', 'tmpfs', '-o', 'size=160m,mode=0700', 'tmpfs', smallDisk)
if (!onSmallDisk) console.warn('\n*** NO SMALL DISK: a full one is SKIPPED (root may mount one) ***\n')
afterAll(() => {
  if (onSmallDisk) spawnSync('umount', [smallDisk])
  rmSync(smallDisk, { recursive: true, force: true })
})

describe.skipIf(!onSmallDisk)('a service whose PostgreSQL', () => {
  it('has a full disk refuses, and serves again with everything acknowledged once there is room', async () => {
    const server = await startOwnPostgres(join(smallDisk, 'data'))
    const filler = join(smallDisk, 'filler')
    let service: ServiceProcess | undefined
    try {
      const { env, apikey } = await deployment(server.url)
      service = await startProcess({ ...env, DATABASE_URL: server.url, STORE_PATIENCE: '1' })
      const victim: Victim = { name: 'PostgreSQL alone', service, apikey, databaseUrl: () => server.url }
      figure('F10', await injectFault([victim], fullDisk(server, filler)), PROMISED, true)
    } finally {
      await service?.stop()
      rmSync(filler, { force: true })
      await server.close()
    }
  })
})

const fullDisk = (server: OwnPostgres, filler: string): Fault => ({
  name: 'disk full',
  async hurt() {
    spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=1M'])
    const junk = postgres(server.url, { max: 1, onnotice: () => {} })
    await junk`create table junk (text text)`.catch(() => {})
    let full = false
    while (!full)
      await junk`insert into junk select repeat('x', 1000) from generate_series(1, 1000)`.catch(() => {
        full = true
      })
    await junk.end({ timeout: 1 })
  },
  async heal() {
    rmSync(filler)
    await server.restart()
  },
})
