import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readingOf, secondBetween } from '../../../bench/load/service-metrics.js'
import { createMetrics } from '../../../src/http/metrics.js'
import { deployment } from '../../faults/deployment.js'
import { type ServiceProcess, startProcess } from '../../faults/service-process.js'
import { type FreshDatabase, freshDatabase } from '../../servers/database.js'
import { benchLoad } from './bench-load.js'

describe('the metrics of a service, as the load tester reads them', () => {
  it('give the verifies of a second, their p99 and what was shed', async () => {
    const provider = { name: 'uws', version: '20', native: true, sha256: null }
    const metrics = createMetrics({ version: '0.1.0', provider: provider as never })
    metrics.gauge('keystride_http_requests_in_flight', 'in flight', () => 7)
    metrics.gauge('keystride_http_requests_waiting', 'waiting', () => 3)
    const answered = (route: string, durationMs: number) =>
      metrics.onAnswer({ api: 'core', route, method: 'post', status: 200, durationMs } as never)
    const reading = async (at: number) => {
      const found = readingOf(await metrics.text(), at)
      if (found === null) throw new Error('no reading')
      return found
    }
    for (let i = 0; i < 10; i++) answered('/users/{userRef}/verify', 900)
    const before = await reading(10)
    // 98 of 100 in the bucket up to 5 ms, 2 in that of 25 to 50 ms; p99 is the middle of the latter.
    for (let i = 0; i < 98; i++) answered('/users/{userRef}/verify', 4)
    for (let i = 0; i < 2; i++) answered('/users/{userRef}/verify', 30)
    answered('/users/{userRef}', 2000)
    metrics.onRefused('verify')
    expect(secondBetween(4, before, await reading(12))).toEqual({
      second: 4,
      cpu_cores: expect.any(Number),
      in_flight: 7,
      waiting: 3,
      shed: 1,
      verifies: 100,
      verify_p99_ms: expect.closeTo(37.5),
    })
  })

  it('are not read from another program', () => {
    expect(readingOf('process_cpu_seconds_total 4\n', 0)).toBeNull()
    expect(readingOf('<html>', 0)).toBeNull()
  })
})

describe('a load test of a service whose metrics can be read', () => {
  let database: FreshDatabase
  let service: ServiceProcess
  let apikey: string
  beforeAll(async () => {
    database = await freshDatabase()
    const made = await deployment(database.url)
    apikey = made.apikey
    service = await startProcess({ ...made.env, PROCESSES: '2' })
  })
  afterAll(async () => {
    await service.stop()
    await database.drop()
  })
  const load = (...args: string[]) =>
    benchLoad({ KEYSTRIDE_APIKEY: apikey }, ['--url', service.core, '--people', '4', '--warmup', '500ms', ...args])

  it('draws them next to its own figures', { timeout: 120_000 }, async () => {
    const { report, html } = await load('--rate', '8', '--arrivals', 'even', '--duration', '5s', '--enroll', '0')
    expect(report?.service.metrics).toBe(service.core.replace('/core', '/metrics'))
    const [step] = report?.steps ?? []
    const seconds = step?.service_series ?? []
    expect(seconds.map(({ second }) => second)).toEqual([0, 1, 2, 3, 4].slice(0, seconds.length))
    expect(seconds.length).toBeGreaterThanOrEqual(3)
    const verifies = seconds.reduce((sum, second) => sum + second.verifies, 0)
    expect(verifies).toBeGreaterThanOrEqual(16)
    expect(verifies).toBeLessThanOrEqual(1.2 * (step?.operations.verify?.answers ?? 0))
    expect(seconds.every(({ cpu_cores }) => cpu_cores > 0 && cpu_cores < 64)).toBe(true)
    expect(html.match(/<svg /g)).toHaveLength(5)
    expect(html).toContain('verify p99 by the service')
  })

  it('ends with status 2 and the reason if the URL has no metrics', async () => {
    const { status, stderr } = await load('--metrics', service.core.replace('/core', '/livez'))
    expect(status).toBe(2)
    expect(stderr).toMatch(/--metrics: no metrics of the service at http/)
  })
})
