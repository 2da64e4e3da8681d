import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../patience.js'
import { startChild } from '../servers/child.js'
import { whyNoStrace } from '../servers/strace.js'
import { figure, LONG } from '../trust/figure.js'
import { deployment } from './deployment.js'
import { allHeld, audit, figureText, injectFault, type Victim, wellBehaved } from './fault.js'
import { quantile } from './figures.js'
import { startLoad } from './load.js'
import { startProcess } from './service-process.js'
import { type OwnPostgres, startOwnPostgres } from './stores.js'

const SLOW_MS = LONG ? 30_000 : 5000
/** STORE_PATIENCE of the service on a slow disk. The long form measures the limits of the default. */
const [PATIENCE, SLOWEST_MS] = LONG ? ['1', 2000] : ['3', 5000]

const why = whyNoStrace()
if (why !== null) console.warn(`\n*** ${why} ***\n`)

describe.skipIf(why !== null)('a service whose PostgreSQL', { timeout: 120_000 }, () => {
  let server: OwnPostgres
  let env: Record<string, string>
  let victim: Victim
  beforeAll(async () => {
    server = await startOwnPostgres()
    const made = await deployment(server.url)
    env = { ...made.env, DATABASE_URL: server.url }
    const service = await startProcess({ ...env, STORE_PATIENCE: '1' })
    victim = { name: 'PostgreSQL alone', service, apikey: made.apikey, databaseUrl: () => server.url }
  })
  afterAll(async () => {
    await victim?.service.stop()
    await server?.close()
  })

  it('flushes its log in 200 ms still serves, later', async () => {
    const service = await startProcess({ ...env, STORE_PATIENCE: PATIENCE })
    const patient = { ...victim, service }
    const load = await startLoad(service.core, victim.apikey)
    await delay(500)
    const pids = (await server.children()).flatMap((pid) => ['-p', String(pid)])
    const slow = ['-e', 'trace=fsync,fdatasync', '-e', 'inject=fsync,fdatasync:delay_exit=200000']
    const tracer = startChild('strace', [...slow, ...pids], { stdio: ['ignore', 'ignore', 'pipe'] })
    let said = ''
    tracer.stderr?.on('data', (chunk: Buffer) => {
      said += chunk.toString()
    })
    const delayed = () => said.split('(DELAYED)').length - 1
    await until(async () => delayed() > 0)
    const since = performance.now()
    await delay(SLOW_MS)
    const [till, syncs] = [performance.now(), delayed()]
    tracer.kill('SIGINT')
    await once(tracer, 'exit')
    await delay(500)
    await load.stop()
    const slowed = load.answers.filter(({ askedAt, ms }) => askedAt >= since && askedAt + ms <= till)
    const refused = slowed.filter(({ status }) => status === 503)
    const audited = await audit(patient, load)
    wellBehaved(patient, load.answers)
    await service.stop()
    const p99 = Math.round(
      quantile(
        slowed.map(({ ms }) => ms),
        0.99,
      ),
    )
    expect(syncs).toBeGreaterThan(SLOW_MS / 1000)
    expect(slowed.length).toBeGreaterThan(20)
    const slowest = Math.round(Math.max(...slowed.map(({ ms }) => ms)))
    const served = `fdatasync + 200 ms, ${syncs} of them: ${refused.length} of ${slowed.length} refused`
    figure(
      'F11',
      `${served}, p99 of all ${p99} ms, slowest ${slowest} ms, enrolments ${audited.enrolments}, attempts ${audited.attempts}`,
      `hardly any refused, none hung for ${SLOWEST_MS / 1000} s; p99 1300 ms on a free machine`,
      refused.length <= slowed.length / 10 && slowest < SLOWEST_MS && (!LONG || p99 < 1300),
    )
  })

  it('cannot flush its log keeps everything acknowledged over the panic and recovery', async () => {
    let tracer: ChildProcess | undefined
    let said = ''
    const rows = await injectFault([victim], {
      name: 'fdatasync: EIO',
      holdMs: 0,
      async hurt() {
        // Not the postmaster: the processes that it starts after the panic must be able to flush.
        const pids = (await server.children()).flatMap((pid) => ['-p', String(pid)])
        const faults = ['-e', 'trace=fsync,fdatasync', '-e', 'inject=fsync,fdatasync:error=EIO']
        tracer = startChild('strace', [...faults, ...pids], { stdio: ['ignore', 'ignore', 'pipe'] })
        tracer.stderr?.on('data', (chunk: Buffer) => {
          said += chunk.toString()
        })
        await until(async () => said.includes('(INJECTED)'))
        return performance.now()
      },
      async heal() {
        if (tracer !== undefined && tracer.exitCode === null && tracer.signalCode === null) await once(tracer, 'exit')
        await until(server.accepts)
      },
    })
    expect(said).toContain('EIO (Input/output error) (INJECTED)')
    figure('F12', figureText(rows), 'every acknowledged enrolment and attempt there', allHeld(rows))
  })
})
