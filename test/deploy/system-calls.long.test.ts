import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, inject, it } from 'vitest'
import { freePort } from '../../src/storage/postgres/embedded/embedded-running.js'
import { deployment } from '../faults/deployment.js'
import { client, newPerson } from '../faults/load.js'
import { until } from '../patience.js'
import { startChild } from '../servers/child.js'
import { freshDatabase } from '../servers/database.js'
import { whyNoStrace } from '../servers/strace.js'
import { whyNoSystemdAnalyze } from '../servers/systemd.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

const why = whyNoSystemdAnalyze() ?? whyNoStrace()
if (why !== null) console.warn(`\n*** ${why} ***\n`)

/** System calls of a filter set such as `@system-service`, and of the sets that it contains. */
function callsOf(set: string): string[] {
  if (!set.startsWith('@')) return [set]
  const lines = execFileSync('systemd-analyze', ['--no-pager', 'syscall-filter', set], { encoding: 'utf8' }).split('\n')
  const members = lines.slice(1).map((line) => line.trim())
  return members.filter((name) => /^@?\w/.test(name)).flatMap(callsOf)
}

/** The calls that the lines of SystemCallFilter allow, in their order: each line adds, or with ~ removes. */
function allowedBy(lines: readonly string[]): Set<string> {
  const allowed = new Set<string>()
  for (const line of lines) {
    const removes = line.startsWith('~')
    for (const name of line.replace('~', '').split(' ').flatMap(callsOf)) {
      if (removes) allowed.delete(name)
      else allowed.add(name)
    }
  }
  return allowed
}

/** The system calls that the service made from its start to its end: two processes, a sign-in by typing and by code. */
async function callsOfService(): Promise<string[]> {
  const place = mkdtempSync(join(tmpdir(), 'keystride-calls-'))
  const fresh = await freshDatabase()
  const { env, apikey } = await deployment(fresh.url)
  const [port, metricsPort] = [await freePort(), await freePort()]
  const counts = join(place, 'calls')
  const traced = ['-f', '-qq', '-c', '-o', counts, process.execPath, join(root, 'bin/keystride.mjs'), 'serve']
  const service = startChild('strace', traced, {
    env: {
      PATH: process.env.PATH ?? '',
      ...env,
      REDIS_URL: inject('redisUrl') ?? '',
      PORT: String(port),
      METRICS_PORT: String(metricsPort),
      PROCESSES: '2',
      QUEUE_MS: '20000',
      STORE_PATIENCE: '10',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  service.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  const gone = once(service, 'exit')
  await until(async () => output.includes('"processes":2') || service.exitCode !== null)
  const ask = client(`http://127.0.0.1:${port}/core`, apikey)
  const person = newPerson()
  await person.enroll(ask)
  const { session } = await ask('bootstrap', 'GET', `/users/${person.userRef}`)
  const call = (method: string, path: string, body: unknown) =>
    ask(path, method, `/users/${person.userRef}/${path}`, { session, body })
  const statuses = [
    await call('POST', 'verify', person.next()),
    await call('PUT', 'security-code', { securityCode: '738291' }),
  ].map(({ status }) => status)
  expect(statuses).toEqual([200, 200])
  expect((await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).status).toBe(200)
  ask.end()
  process.kill(Number(readFileSync(`/proc/${service.pid}/task/${service.pid}/children`, 'utf8').trim()), 'SIGTERM')
  await gone
  await fresh.drop()
  const rows = readFileSync(counts, 'utf8').split('\n')
  rmSync(place, { recursive: true })
  const calls = rows.filter((row) => /^ *\d+\.\d+ /.test(row)).map((row) => row.trim().split(/\s+/).at(-1) ?? '')
  return calls.filter((name) => name !== 'total')
}

describe.skipIf(why !== null)('the system calls of the service', { timeout: 180_000 }, () => {
  it('are all allowed by SystemCallFilter', async () => {
    const filters = [
      ...readFileSync(join(root, 'deploy/systemd/keystride.service'), 'utf8').matchAll(/^SystemCallFilter=(.*)$/gm),
    ].map(([, line = '']) => line)
    const made = await callsOfService()
    expect(made.length).toBeGreaterThan(40)
    const deniedBy = (lines: readonly string[]) => made.filter((name) => !allowedBy(lines).has(name))
    expect(deniedBy(filters)).toEqual([])
    // Without its last line the filter would deny what the threads for security codes need.
    expect(deniedBy(filters.slice(0, -1))).toContain('setpriority')
  })
})
