import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { suggestWords } from '../../src/domain/typing-words.js'
import { ALLOCATOR, HEAP_FLAGS } from '../../src/process/heap.js'
import { freePort, readPidFile } from '../../src/storage/postgres/embedded/embedded-running.js'
import { person } from '../../src/typist/made-up-person.js'
import { metric } from '../harness/fault.js'
import { LONG } from '../harness/figure.js'
import { until } from '../harness/patience.js'
import { type ServiceProcess, startProcess } from '../harness/service-process.js'
import { startChild } from '../servers/child.js'

const folder = mkdtempSync(join(tmpdir(), 'keystride-processes-'))
const env = { KEYSTRIDE_DATA: folder, PROCESSES: '2', LOG_LEVEL: 'error' }
/** The supervisor waits this long for the other processes after a change of a setting. */
const FORGET_MS = 150
let service: ServiceProcess
let headers: Record<string, string>

beforeAll(async () => {
  service = await startProcess(env)
  headers = { apikey: service.demo().apikey, 'content-type': 'application/json', connection: 'close' }
})
afterAll(async () => {
  await service.kill()
  rmSync(folder, { recursive: true, force: true })
})

/** Node processes whose parent is this one. */
const fronts = (parent = service.process.pid): number[] =>
  execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, ppid, , ...args]) => Number(ppid) === parent && args.some((one) => one.endsWith('start.mjs')))
    .map(([pid]) => Number(pid))
const running = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
const status = async (): Promise<number> => (await fetch(`${service.core}/status`, { headers })).status

/** Number of answers 200 to `/status`, of all processes. A process that answers its supervisor late has its last counts. */
async function countedStatuses(): Promise<number> {
  let text = ''
  await until(async () => {
    const answer = await fetch(new URL('/metrics', service.core), { headers })
    text = await answer.text()
    return answer.status === 200
  })
  const line = /^keystride_http_requests_total\{[^}]*route="\/status"[^}]*status_class="2xx"[^}]*\} (\d+)/m.exec(text)
  return Number(line?.[1] ?? 0)
}
/** Waits until all processes together have counted this many. */
async function countedUntil(count: number): Promise<void> {
  await until(async () => (await countedStatuses()) === count)
}

describe('two processes on one port', () => {
  it('share the requests and report their metrics as one service', async () => {
    expect(fronts()).toHaveLength(2)
    for (let n = 0; n < 60; n++) expect(await status()).toBe(200)
    await countedUntil(60)
    // Both processes report the same.
    for (let n = 0; n < 6; n++) expect(await countedStatuses()).toBe(60)
  })

  it('are known to each other, with their restarts, and a restart takes nothing from the counters', async () => {
    const [killed = 0] = fronts()
    const restarts = async () => {
      const answer = await fetch(new URL('/dashboard/system', service.core), { headers })
      const { data } = (await answer.json()) as { data: { processes: { n_restarts: number }[] } }
      return data.processes.map(({ n_restarts }) => n_restarts)
    }
    expect(await restarts()).toEqual([0, 0])
    process.kill(killed, 'SIGKILL')
    await until(async () => {
      const now = await restarts().catch(() => [])
      return now.length === 2 && now.some((n) => n === 1)
    })
    await countedUntil(60)
  })

  it('keep their heaps small', () => {
    const allocator = Object.entries(ALLOCATOR).map(([name, value]) => `${name}=${value}`)
    for (const pid of fronts()) {
      expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')).toEqual(expect.arrayContaining([...HEAP_FLAGS]))
      expect(readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')).toEqual(expect.arrayContaining(allocator))
    }
  })

  it('all have a changed setting when the change is answered', async () => {
    for (const language of ['fr', 'de']) {
      const read = async () =>
        (
          (await (await fetch(`${service.core}/organization/language`, { headers })).json()) as {
            default_language: string
          }
        ).default_language
      const readings = () => Promise.all(Array.from({ length: 8 }, read))
      await readings()
      const askedAt = performance.now()
      const changed = await fetch(`${service.core}/organization/language`, {
        method: 'PATCH',
        headers,
        body: JSON.stringify({ default_language: language }),
      })
      expect(changed.status).toBe(200)
      // On a loaded machine a process may get the change after the answer, which waits no longer than this.
      if (performance.now() - askedAt > FORGET_MS)
        await until(async () => (await readings()).every((one) => one === language))
      else expect(await readings()).toEqual(Array(8).fill(language))
    }
  })

  // Regression: each process kept the person until other people needed the place.
  it('forget a person whom one of them deletes', async () => {
    const call = async (method: string, path: string, session = '', body?: unknown) => {
      const more = session === '' ? {} : { 'x-service-session': session }
      const given = { method, headers: { ...headers, ...more }, ...(body ? { body: JSON.stringify(body) } : {}) }
      const answer = await fetch(`${service.core}/users/${path}`, given)
      expect(answer.status, `${method} ${path}`).toBeLessThan(300)
      return answer.headers.get('x-service-session') ?? ''
    }
    const typed = (n: number) => person(41).types(suggestWords('en', n).join(' '), n)
    const cachedBytes = () => metric(service, 'keystride_person_cache_bytes')
    await call('POST', 'ann', '', {})
    const session = await call('GET', 'ann')
    for (let n = 0; n < 5; n++) await call('POST', 'ann/typing-patterns', session, typed(n))
    let tried = 5
    const verify = async () => call('POST', 'ann/verify', await call('GET', 'ann'), typed(tried++))
    const verifiedUntil = (bytesMin: number) =>
      until(async () => {
        await verify()
        return (await cachedBytes()) > bytesMin
      })
    // The first verify is learned, which drops the person from the cache again.
    await verifiedUntil(0)
    await verifiedUntil(1.5 * (await cachedBytes()))
    await call('DELETE', 'ann')
    await until(async () => (await cachedBytes()) === 0)
    // The processes report the delays of their event loops together, once they have had work.
    await until(async () => (await metric(service, 'keystride_event_loop_delay_seconds_count')) > 0)
  })

  it('continue if one is killed and restarted, and lose nothing acknowledged', async () => {
    const [first = 0] = fronts()
    const made: string[] = []
    let killed = false
    for (let n = 0; n < 80; n++) {
      if (n === 20) {
        process.kill(first, 'SIGKILL')
        killed = true
      }
      try {
        const answer = await fetch(`${service.core}/users/n${n}`, { method: 'POST', headers, body: '{}' })
        if (answer.ok) made.push(`n${n}`)
      } catch {
        // The connection led to the killed process.
      }
    }
    expect(killed && made.length).toBeGreaterThan(70)
    await until(() => fronts().length === 2)
    expect(fronts()).not.toContain(first)
    for (const name of made) {
      const answer = await fetch(`${service.core}/users/${name}/members`, { headers })
      expect([name, answer.status]).toEqual([name, 200])
    }
  })

  it('continue if one is killed just before its supervisor asks it for metrics', async () => {
    for (let round = 0; round < (LONG ? 3 : 1); round++) {
      const [killed = 0] = fronts()
      service.process.kill('SIGSTOP')
      const scrapes = Array.from({ length: 6 }, () => countedStatuses().catch(() => null))
      await delay(300)
      process.kill(killed, 'SIGKILL')
      service.process.kill('SIGCONT')
      await Promise.all(scrapes)
      await until(() => fronts().length === 2 && !fronts().includes(killed))
      await until(() =>
        status()
          .then((found) => found === 200)
          .catch(() => false),
      )
    }
    expect(service.process.exitCode).toBe(null)
    expect(service.output()).not.toContain('uncaughtException')
  })

  it('answer a scrape with 503 while their supervisor is silent, and never with the counts of one', async () => {
    const before = await countedStatuses()
    service.process.kill('SIGSTOP')
    const silent = await fetch(new URL('/metrics', service.core), { headers })
    service.process.kill('SIGCONT')
    expect([silent.status, await silent.text()]).toEqual([
      503,
      expect.stringContaining('the supervisor has not answered'),
    ])
    await countedUntil(before)
  })

  it('continue if one hangs, which is killed and restarted', async () => {
    const before = fronts()
    const [hung = 0, other] = before
    process.kill(hung, 'SIGSTOP')
    await until(() => !running(hung))
    await until(() => fronts().length === 2)
    expect(fronts()).toContain(other)
    expect(fronts()).not.toContain(hung)
    expect(service.output()).toContain('a process of the service hangs: killing it')
    await until(async () => (await status()) === 200)
  })

  it('continue if their embedded PostgreSQL is killed, which the supervisor restarts', async () => {
    const postmaster = () => readPidFile(join(folder, 'postgres'))?.pid
    const killed = postmaster() ?? 0
    process.kill(killed, 'SIGKILL')
    let tries = 0
    const create = () =>
      fetch(`${service.core}/users/after-postgres-${tries++}`, { method: 'POST', headers, body: '{}' })
    await until(async () => (await create()).status === 201)
    expect(postmaster()).not.toBe(killed)
  })

  it('stop together, with status 0', async () => {
    const all = fronts()
    expect((await service.stop()).status).toBe(0)
    expect(all.filter(running)).toEqual([])
  })

  it('stop with status 0 and without an error if the signal comes while they start', async () => {
    const program = fileURLToPath(new URL('../../bin/start.mjs', import.meta.url))
    const { PATH = '', HOME = '' } = process.env
    const child = startChild(process.execPath, [program], {
      env: { ...env, PATH, HOME, PORT: String(await freePort()) },
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
    const gone = once(child, 'exit')
    await until(() => fronts(child.pid).length > 0)
    const all = fronts(child.pid)
    child.kill('SIGTERM')
    expect([await gone, output]).toEqual([[0, null], ''])
    expect(all.filter(running)).toEqual([])
  })

  it('end if their supervisor is killed, and its next start serves', async () => {
    service = await startProcess(env)
    const all = fronts()
    await service.kill()
    await until(() => all.filter(running).length === 0)
    service = await startProcess(env)
    expect(await status()).toBe(200)
  })
})
