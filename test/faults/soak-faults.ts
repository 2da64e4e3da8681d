import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '../../src/storage/postgres/embedded/embedded-running.js'
import { rawClient } from '../http/raw.js'
import { until } from '../patience.js'
import { deployment } from './deployment.js'
import { type ServiceProcess, startProcess } from './service-process.js'
import type { Asker } from './steady-load.js'
import { type OwnPostgres, type OwnRedis, startOwnPostgres, startOwnRedis } from './stores.js'
import { startProxy, type TcpProxy } from './tcp-proxy.js'

/**
 * Two processes of the service on their own stores. The first reaches the stores through proxies that can stall. The
 * second reaches them directly, so that delays of this process do not affect it.
 */
export interface SoakDeployment {
  readonly apikey: string
  readonly organizationId: string
  /** URL of the database itself, not of a proxy. */
  readonly databaseUrl: string
  readonly redisPort: number
  readonly server: OwnPostgres
  /** The first is killed at times, the second never. */
  readonly services: [mortal: ServiceProcess, lasting: ServiceProcess]
  readonly ports: readonly [mortal: number, lasting: number]
  readonly redis: OwnRedis
  readonly lines: readonly TcpProxy[]
  /** Kills the mortal process and starts it again. */
  revive(): Promise<void>
  /** Restarts Redis with its data, or empty. */
  restartRedis(empty: boolean): Promise<void>
  close(): Promise<void>
}

export async function soakDeployment(more: Record<string, string>): Promise<SoakDeployment> {
  const folder = mkdtempSync(join(tmpdir(), 'keystride-soak-'))
  const server = await startOwnPostgres()
  let redisFolders = 0
  const kept = () => ['--appendonly', 'yes', '--appenddirname', `kept-${redisFolders}`]
  const redis = await startOwnRedis(...kept())
  const lines = await Promise.all([startProxy(server.port), startProxy(redis.port)])
  const [toPostgres, toRedis] = lines
  const database = new URL(server.url)
  database.port = String(toPostgres?.port)
  const { env, apikey, organizationId } = await deployment(server.url)
  const ports = [await freePort(), await freePort()] as const
  const common = { ...env, ...more, KEYSTRIDE_DATA: folder }
  const startMortal = () =>
    startProcess({
      STORE_PATIENCE: '1',
      ...common,
      DATABASE_URL: database.href,
      REDIS_URL: `redis://127.0.0.1:${toRedis?.port}`,
      PORT: String(ports[0]),
    })
  const startLasting = () =>
    startProcess({
      STORE_PATIENCE: '1',
      ...common,
      DATABASE_URL: server.url,
      REDIS_URL: `redis://127.0.0.1:${redis.port}`,
      PORT: String(ports[1]),
    })
  const services: [ServiceProcess, ServiceProcess] = await Promise.all([startMortal(), startLasting()])
  return {
    apikey,
    organizationId,
    databaseUrl: server.url,
    redisPort: redis.port,
    server,
    services,
    ports,
    redis,
    lines,
    async revive() {
      await services[0].kill()
      // A start that finds a store late ends with a message, and a supervisor starts it again.
      for (let n = 1; ; n++)
        try {
          services[0] = await startMortal()
          return
        } catch (error) {
          if (n === STARTS) throw error
        }
    },
    async restartRedis(empty) {
      if (empty) redisFolders += 1
      await redis.restart(...kept())
    },
    async close() {
      await server.signalAll('SIGCONT')
      redis.signal('SIGCONT')
      await Promise.all(services.map((one) => one.kill()))
      await Promise.all(lines.map((line) => line.close()))
      await redis.close()
      await server.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export interface SoakFault {
  readonly name: string
  /** Ports whose failed calls this fault excuses. */
  readonly hits: readonly number[]
  /** Whether it also breaks connections of clients. */
  readonly breaks: boolean
  /** Whether it deletes the sessions. */
  readonly forgets: boolean
  /** Resolves when everything that the fault affected is back. */
  readonly happen: () => Promise<void>
}

const HELD_MS = 2000
/** Time between a kill and the restart, ms. */
const DOWN_MS = 1000
const RUDE = 60
/** Starts of a killed service until it is given up. */
const STARTS = 5

/**
 * All faults of the soak. `random` returns uniform values in (0, 1); `rude` returns the next request of a client that
 * disconnects.
 */
export function soakFaults(on: SoakDeployment, random: () => number, rude: () => Asker): SoakFault[] {
  const { server, redis, ports } = on
  const pick = <T>(of: readonly T[]): T | undefined => of[Math.floor(random() * of.length)]
  const ofStores = (name: string, happen: () => Promise<unknown>, forgets = false): SoakFault => ({
    name,
    hits: ports,
    breaks: false,
    forgets,
    async happen() {
      await happen()
    },
  })
  const halted = async (halt: () => unknown, resume: () => unknown) => {
    await halt()
    await delay(HELD_MS)
    await resume()
  }
  return [
    { name: 'service: kill -9', hits: [ports[0]], breaks: true, forgets: false, happen: on.revive },
    ofStores('PostgreSQL: kill -9 of a backend', async () => {
      const backend = pick(await server.backends())
      if (backend !== undefined) process.kill(backend, 'SIGKILL')
      await until(server.accepts)
    }),
    ofStores('PostgreSQL: kill -9', async () => {
      await server.kill()
      await delay(DOWN_MS)
      await server.restart()
    }),
    ofStores('PostgreSQL: SIGSTOP 2 s', () =>
      halted(
        () => server.signalAll('SIGSTOP'),
        () => server.signalAll('SIGCONT'),
      ),
    ),
    ofStores('Redis: SIGSTOP 2 s', () =>
      halted(
        () => redis.signal('SIGSTOP'),
        () => redis.signal('SIGCONT'),
      ),
    ),
    ofStores('Redis: kill -9, back with its AOF', async () => {
      await redis.kill()
      await delay(DOWN_MS)
      await on.restartRedis(false)
    }),
    ofStores(
      'Redis: kill -9, back empty',
      async () => {
        await redis.kill()
        await delay(DOWN_MS)
        await on.restartRedis(true)
      },
      true,
    ),
    {
      name: 'a line that stalls for 2 s',
      hits: [ports[0]],
      breaks: false,
      forgets: false,
      happen() {
        const line = pick(on.lines)
        return halted(
          () => line?.stall(),
          () => line?.pass(),
        )
      },
    },
    {
      name: `${RUDE} clients that disconnect`,
      hits: [],
      breaks: false,
      forgets: false,
      happen: () => goAway(on, random, rude),
    },
  ]
}

/** Clients that disconnect during a request or while it is served. */
async function goAway({ ports }: SoakDeployment, random: () => number, rude: () => Asker): Promise<void> {
  for (let n = 0; n < RUDE; n++) {
    const asker = rude()
    const { bytes } = asker.next()
    const wholly = random() < 0.5
    const connection = await rawClient(ports[n % 2] ?? 0)
    await connection.send(wholly ? bytes : bytes.subarray(0, Math.floor(random() * bytes.length)))
    if (wholly) await delay(20 * random())
    if (n % 3 === 0) connection.socket.destroy()
    else connection.socket.resetAndDestroy()
    await connection.ended
    asker.heard(0, Buffer.alloc(0))
  }
}

/** Endless rounds of the same items, each round in another order. */
export function* inSeededOrder<T>(things: readonly T[], random: () => number): Generator<T, never> {
  for (;;) {
    const round = [...things]
    while (round.length > 0) {
      const [next] = round.splice(Math.floor(random() * round.length), 1)
      if (next !== undefined) yield next
    }
  }
}
