import postgres from 'postgres'
import { deployment } from '../harness/deployment.js'
import type { Fault } from '../harness/fault.js'
import { until } from '../harness/patience.js'
import { type OwnPostgres, type OwnRedis, startOwnPostgres, startOwnRedis } from '../harness/stores.js'
import { startProxy, type TcpProxy } from '../harness/tcp-proxy.js'

/** Stores of a test behind proxies, with an organization. */
export interface OwnStores {
  readonly postgres: OwnPostgres
  readonly redis: OwnRedis
  readonly toPostgres: TcpProxy
  readonly toRedis: TcpProxy
  /** Settings of a service that reaches the stores through the proxies. It refuses as fast as by default. */
  readonly env: Record<string, string>
  readonly apikey: string
  close(): Promise<void>
}

export async function startOwnStores(): Promise<OwnStores> {
  const [ownPostgres, redis] = await Promise.all([startOwnPostgres(), startOwnRedis()])
  const [toPostgres, toRedis] = await Promise.all([startProxy(ownPostgres.port), startProxy(redis.port)])
  const { env, apikey } = await deployment(ownPostgres.url)
  const proxied = new URL(ownPostgres.url)
  proxied.port = String(toPostgres.port)
  const REDIS_URL = `redis://127.0.0.1:${toRedis.port}`
  return {
    postgres: ownPostgres,
    redis,
    toPostgres,
    toRedis,
    env: { ...env, STORE_PATIENCE: '1', DATABASE_URL: proxied.href, REDIS_URL },
    apikey,
    async close() {
      await Promise.all([toPostgres.close(), toRedis.close()])
      await Promise.all([ownPostgres.close(), redis.close()])
    },
  }
}

export const postgresFaults = ({ postgres: server, toPostgres }: Pick<OwnStores, 'postgres' | 'toPostgres'>) => {
  let locker: postgres.Sql
  return {
    killed: { name: 'postmaster kill -9', hurt: server.kill, heal: server.restart },
    backendKilled: {
      name: 'backend kill -9',
      noticed: 'perhaps',
      async hurt() {
        const backends = await server.backends()
        const [one] = backends
        if (one === undefined) throw new Error('no service has a connection')
        process.kill(one, 'SIGKILL')
        // Until the postmaster notices it and ends the other backends, it accepts connections.
        await until(async () => !(await server.backends()).some((pid) => backends.includes(pid)))
      },
      heal: () => until(server.accepts),
    },
    halted: {
      name: 'SIGSTOP of PostgreSQL',
      hurt: () => server.signalAll('SIGSTOP'),
      heal: () => server.signalAll('SIGCONT'),
    },
    slow: {
      name: 'PostgreSQL +500 ms',
      hurt: () => toPostgres.delay(500),
      heal: () => toPostgres.pass(),
      answersLate: true,
    },
    refused: { name: 'closed port of PostgreSQL', hurt: toPostgres.refuse, heal: toPostgres.accept },
    locked: {
      name: 'LOCK TABLE',
      noticed: 'refusals',
      async hurt() {
        locker = postgres(server.url, { max: 1 })
        await locker`set role keystride_system`
        await locker`begin`
        await locker`lock table keystride.member in access exclusive mode`
      },
      heal: () => locker.end({ timeout: 0 }),
    },
    ...stalls('PostgreSQL', toPostgres),
  } satisfies Record<string, Fault>
}

export const redisFaults = ({ redis, toRedis }: Pick<OwnStores, 'redis' | 'toRedis'>) =>
  ({
    killed: { name: 'Redis kill -9, back empty', hurt: redis.kill, heal: () => redis.restart() },
    killedWithData: {
      name: 'Redis kill -9, back with its data',
      hurt: redis.kill,
      heal: () => redis.restart('--appendonly', 'yes'),
    },
    halted: {
      name: 'SIGSTOP of Redis',
      hurt: () => redis.signal('SIGSTOP'),
      heal: () => redis.signal('SIGCONT'),
    },
    slow: { name: 'Redis +200 ms', hurt: () => toRedis.delay(200), heal: () => toRedis.pass(), answersLate: true },
    full: {
      name: 'Redis full (noeviction)',
      hurt: () => redis.cli('config', 'set', 'maxmemory', '1'),
      heal: () => redis.cli('config', 'set', 'maxmemory', '0'),
    },
    ...stalls('Redis', toRedis),
  }) satisfies Record<string, Fault>

/** Faults of a line that stalls in both directions, for requests only, or for answers only. */
function stalls(name: string, line: TcpProxy) {
  const stall = (way: 'both' | 'up' | 'down'): Fault => ({
    name: `line to ${name} stalled (${way})`,
    hurt: () => line.stall(way),
    heal: () => line.pass(),
  })
  return { stalledBoth: stall('both'), stalledUp: stall('up'), stalledDown: stall('down') }
}
