import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../patience.js'
import { backEnds } from '../service.js'
import { figure } from '../trust/figure.js'
import { deployment } from './deployment.js'
import {
  allHeld,
  audit,
  type Fault,
  type Figures,
  figureText,
  injectFault,
  noiseOf,
  type Victim,
  watchStatus,
  wellBehaved,
} from './fault.js'
import { quantile, table } from './figures.js'
import { type Load, startLoad } from './load.js'
import { type ServiceProcess, startProcess } from './service-process.js'
import { type OwnPostgres, startOwnPostgres } from './stores.js'
import { startProxy, type TcpProxy } from './tcp-proxy.js'

/** Default number of connections of a process to PostgreSQL. */
const POOL = 10
const KILLED = 'NOK within 1 s, 99 % of 503s in 50 ms, OK within 2 s, none hung for 1 s, acknowledged N of N'

/** Both kinds of deployment share one server and get each fault at the same time. */
describe('services whose PostgreSQL', { timeout: 90_000 }, () => {
  let server: OwnPostgres
  let proxy: TcpProxy
  let victims: Victim[]
  const figures: Figures[] = []
  const faulty = async (fault: Fault) => {
    const rows = await injectFault(victims, fault)
    figures.push(...rows)
    return rows
  }

  beforeAll(async () => {
    server = await startOwnPostgres()
    proxy = await startProxy(server.port)
    const proxied = new URL(server.url)
    proxied.port = String(proxy.port)
    const { env, apikey } = await deployment(server.url)
    victims = await Promise.all(
      backEnds.map(async ({ name, redisUrl }) => ({
        name,
        service: await startProcess({
          STORE_PATIENCE: '1',
          ...env,
          DATABASE_URL: proxied.href,
          ...(redisUrl === null ? {} : { REDIS_URL: redisUrl }),
        }),
        apikey,
        databaseUrl: () => server.url,
      })),
    )
  })
  afterAll(async () => {
    console.log(table('faults of PostgreSQL', figures))
    for (const { service } of victims) await service.stop()
    await proxy.close()
    await server.close()
  })

  it('loses a backend to kill -9 and restarts itself recover', async () => {
    const rows = await faulty({
      name: 'backend kill -9',
      holdMs: 0,
      async hurt() {
        const backends = await server.backends()
        const at = performance.now()
        const [one] = backends
        if (one === undefined) throw new Error('no service has a connection')
        process.kill(one, 'SIGKILL')
        // Until the postmaster notices it and ends the other backends, it accepts connections.
        await until(async () => !(await server.backends()).some((pid) => backends.includes(pid)))
        return at
      },
      heal: () => until(server.accepts),
    })
    figure('F06', figureText(rows), KILLED, allHeld(rows))
  })

  it('is killed with kill -9 refuse and recover', async () => {
    // The lines of the test before are written 5 s late.
    await delay(5500)
    const before = victims.map(({ service }) => service.output().length)
    const rows = await faulty({
      name: 'postmaster kill -9',
      hurt: server.kill,
      heal: server.restart,
    })
    const [lost, back] = [
      'degraded  why=degraded: PostgreSQL out of reach  reason=',
      'all stores answer again  awayMs=',
    ]
    for (const [i, { service }] of victims.entries()) {
      const since = () => service.output().slice(before[i])
      await until(async () => since().split(lost).length === since().split(back).length)
      const said = since()
      const lines = said.split('\n').filter((line) => line !== '')
      expect(lines.filter((line) => ![lost, back, 'WARN  postgres: '].some((text) => line.includes(text)))).toEqual([])
      expect(said.split(lost)).toHaveLength(said.split(back).length)
      expect(said).toMatch(/degraded {2}why=.*reason=.*\n[\s\S]*again {2}awayMs=\d+ {2}failures=\d+/)
    }
    figure('F06', figureText(rows), KILLED, allHeld(rows))
  })

  it('is halted for 5 s refuse and recover', async () => {
    await faulty({
      name: 'SIGSTOP 5 s',
      slowMs: 400,
      holdMs: 4500,
      hurt: () => server.signalAll('SIGSTOP'),
      heal: () => server.signalAll('SIGCONT'),
    })
  })

  it('is slow by 500 ms refuse and recover', async () => {
    const rows = await faulty({
      name: '+500 ms',
      slowMs: 400,
      hurt: () => proxy.delay(500),
      heal: () => proxy.pass(),
      answersLate: true,
    })
    figure('F11', figureText(rows), KILLED, allHeld(rows))
  })

  it.each(['both', 'up', 'down'] as const)('is behind a stalled line (%s) refuse and recover', async (way) => {
    await faulty({ name: `stalled ${way}`, slowMs: 400, hurt: () => proxy.stall(way), heal: () => proxy.pass() })
  })

  it('has a table locked for 2 s refuse and recover', async () => {
    const loads = await Promise.all(victims.map(({ service, apikey }) => startLoad(service.core, apikey)))
    const watches = victims.map(watchStatus)
    const locker = postgres(server.url, { max: 1 })
    const begunAt = performance.now()
    await locker.begin(async (sql) => {
      await sql`set local role keystride_system`
      await sql`lock table keystride.member in access exclusive mode`
      await sql`select pg_sleep(2)`
    })
    await delay(500)
    await Promise.all([...loads, ...watches].map((running) => running.stop()))
    await locker.end()
    for (const [i, victim] of victims.entries()) {
      const [load, { seen }] = [loads[i] as Load, watches[i] as ReturnType<typeof watchStatus>]
      const noise = noiseOf(seen.filter(({ askedAt }) => askedAt >= begunAt))
      const since = load.answers.filter(({ askedAt }) => askedAt >= begunAt)
      // Calls that were under way when the lock began are refused too.
      const refused = load.answers
        .filter(({ status, askedAt, ms }) => status === 503 && askedAt + ms >= begunAt)
        .map((answer) => answer.ms)
      const audited = await audit(victim, load)
      wellBehaved(victim, since)
      expect(refused.length).toBeGreaterThan(0)
      // A statement may take 1 s, and the wait for a connection 200 ms more.
      const p99 = Math.round(quantile(refused, 0.99))
      figure(
        'F11',
        `LOCK TABLE 2 s (${victim.name}): p99 of ${refused.length} 503s ${p99} ms`,
        '1300 ms',
        p99 < 1300 + noise,
      )
      figures.push({
        fault: 'LOCK TABLE 2 s',
        sessions: victim.name,
        '503s': String(refused.length),
        'p99 of all': `${Math.round(quantile(refused, 0.99))} ms`,
        slowest: `${Math.round(Math.max(...since.map((answer) => answer.ms)))} ms`,
        ...audited,
      })
    }
  })

  it('is replaced by a closed port refuse and recover', async () => {
    await faulty({ name: 'refused', hurt: proxy.refuse, heal: proxy.accept })
  })

  it('recovers have no more connections than the size of their pools', async () => {
    const most = victims.length * POOL
    let backends: number[] = []
    // An abandoned statement ends within 5 s.
    const few = until(async () => {
      backends = await server.backends()
      return backends.length <= most
    })
    await few.catch(() => {})
    expect(backends.length, `connections, for ${most} of the pools`).toBeLessThanOrEqual(most)
  })
})

/** A small disk. Only root can mount it; otherwise the test is skipped. */
const smallDisk = mkdtempSync(join(tmpdir(), 'keystride-small-disk-'))
const mount = (...args: string[]) => spawnSync('mount', args).status === 0
const onSmallDisk = mount('-t', 'tmpfs', '-o', 'size=160m,mode=0700', 'tmpfs', smallDisk)
if (!onSmallDisk) console.warn('\n*** NO SMALL DISK: a full one is SKIPPED (root may mount one) ***\n')
afterAll(() => {
  if (onSmallDisk) spawnSync('umount', [smallDisk])
  rmSync(smallDisk, { recursive: true, force: true })
})

describe.skipIf(!onSmallDisk)('a service whose PostgreSQL', { timeout: 180_000 }, () => {
  it('has a full disk refuses, and serves again with everything acknowledged once there is room', async () => {
    const server = await startOwnPostgres(join(smallDisk, 'data'))
    const filler = join(smallDisk, 'filler')
    let service: ServiceProcess | undefined
    try {
      const { env, apikey } = await deployment(server.url)
      service = await startProcess({ ...env, DATABASE_URL: server.url, STORE_PATIENCE: '1' })
      const victim: Victim = { name: 'PostgreSQL alone', service, apikey, databaseUrl: () => server.url }
      const figures = await injectFault([victim], fullDisk(server, filler))
      console.log(table('disk full', figures))
      figure('F10', figureText(figures), KILLED, allHeld(figures))
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
    const at = performance.now()
    await junk.end({ timeout: 1 })
    return at
  },
  async heal() {
    rmSync(filler)
    await server.restart()
  },
})
