import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../storage/fixtures.js'
import { figure } from '../trust/figure.js'
import { deployment } from './deployment.js'
import { allHeld, suffer, told, type Victim } from './fault.js'
import { startProcess } from './service-process.js'
import { type OwnPostgres, startOwnPostgres } from './stores.js'

/** Null where strace may look into other processes; else why the test is skipped. Throws instead under `REQUIRE_STRACE=1`. */
function whyNoStrace(): string | null {
  if (spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0) return null
  const line = "NO STRACE: a failing fsync is SKIPPED (install Debian's strace, and let it trace)"
  if (process.env.REQUIRE_STRACE === '1') throw new Error(line)
  return line
}
const why = whyNoStrace()
if (why !== null) console.warn(`\n*** ${why} ***\n`)

describe.skipIf(why !== null)('a service whose PostgreSQL', { timeout: 120_000 }, () => {
  let server: OwnPostgres
  let victim: Victim
  beforeAll(async () => {
    server = await startOwnPostgres()
    const { env, apikey } = await deployment(server.url)
    const service = await startProcess({ ...env, DATABASE_URL: server.url })
    victim = { name: 'PostgreSQL alone', service, apikey, databaseUrl: () => server.url }
  })
  afterAll(async () => {
    await victim?.service.stop()
    await server?.close()
  })

  it('cannot bring its log to the disk, panics and recovers, has everything that was acknowledged', async () => {
    let tracer: ChildProcess | undefined
    let said = ''
    const rows = await suffer([victim], {
      name: 'fdatasync: EIO',
      holdMs: 0,
      async hurt() {
        // Not the postmaster: what it starts in their place finds the disk well.
        const pids = (await server.children()).flatMap((pid) => ['-p', String(pid)])
        const faults = ['-e', 'trace=fsync,fdatasync', '-e', 'inject=fsync,fdatasync:error=EIO']
        tracer = spawn('strace', [...faults, ...pids], { stdio: ['ignore', 'ignore', 'pipe'] })
        tracer.stderr?.on('data', (chunk: Buffer) => {
          said += chunk.toString()
        })
        await until(async () => said.includes('(INJECTED)'), 20_000)
        return performance.now()
      },
      async heal() {
        if (tracer !== undefined && tracer.exitCode === null && tracer.signalCode === null) await once(tracer, 'exit')
        await until(server.accepts, 30_000)
      },
    })
    expect(said).toContain('EIO (Input/output error) (INJECTED)')
    figure('F12', told(rows), 'every acknowledged enrolment and attempt there', allHeld(rows))
  })
})
