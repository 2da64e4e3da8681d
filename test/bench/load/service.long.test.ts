import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../../../src/storage/postgres/embedded/embedded-running.js'
import { startProxy } from '../../faults/tcp-proxy.js'
import { type FreshDatabase, freshDatabase } from '../../servers/database.js'
import { backEnds, startService, type TestService } from '../../service.js'
import { benchLoad, type LoadRun } from './bench-load.js'

const LONG_MS = 120_000
const FEW = ['--people', '8', '--warmup', '500ms', '--impostors', '0.1']

describe.each(backEnds)('a load test of the service on $name', ({ redisUrl }) => {
  let database: FreshDatabase
  let service: TestService
  const load = (...args: string[]) =>
    benchLoad({ KEYSTRIDE_APIKEY: service.apikey }, ['--url', service.core, ...FEW, ...args])
  const users = async () => (await service.call('GET', '/organization')).json.nUsers

  beforeAll(async () => {
    database = await freshDatabase()
    service = await startService(database.url, { redisUrl })
  })
  afterAll(async () => {
    await service.close()
    await database.drop()
  })

  describe('at a fixed rate', () => {
    let run: LoadRun
    beforeAll(async () => {
      const kinds = ['--enroll', '0.05', '--codes', '1', '--by-code', '0.15']
      const open = ['--rate', '12', '--arrivals', 'even', '--duration', '4s']
      run = await load(...open, ...kinds, '--fail-if', 'errors>0%,p99>10s,false-accepts>50%')
    }, LONG_MS)

    it('signs people in without failures', () => {
      expect(run.stderr).not.toContain('bench load:')
      const [step] = run.report?.steps ?? []
      if (step === undefined) throw new Error(run.stderr)
      expect(step.errors, run.stdout).toMatchObject({ share: 0, wrong: 0, unwanted: 0, transport: 0, dropped: 0 })
      expect(step.arrivals).toBe(48)
      const { verify, bootstrap, signin, create, enroll, code, 'set-code': setCode } = step.operations
      expect(step.accuracy.people_enrolled).toBeGreaterThan(0)
      expect((signin?.answers ?? 0) + step.accuracy.people_enrolled).toBe(48)
      expect((verify?.statuses['200'] ?? 0) + (code?.statuses['200'] ?? 0)).toBeGreaterThanOrEqual(
        signin?.answers ?? 99,
      )
      expect(bootstrap?.answers).toBeGreaterThanOrEqual(48)
      expect(create?.answers).toBe(step.accuracy.people_enrolled)
      expect(enroll?.answers).toBeGreaterThanOrEqual(5 * step.accuracy.people_enrolled)
      expect(step.accuracy.codes).toBeGreaterThan(0)
      expect(step.accuracy.codes_accepted).toBe(step.accuracy.codes)
      expect(setCode?.statuses['200']).toBe(step.accuracy.people_enrolled)
    })

    it('accepts owners and rejects others', () => {
      const accuracy = run.report?.steps[0]?.accuracy
      // Synthetic people are accepted 98 of 100 times, strangers rarely; the rest is chance.
      expect(accuracy?.genuine_signins_authenticated).toBeGreaterThan(0.8 * (accuracy?.genuine_signins ?? 0))
      expect(accuracy?.impostor_accepted).toBeLessThanOrEqual(1)
    })

    it('keeps its thresholds and ends with 0, or with 3 if the generator was strained', () => {
      expect(run.report?.thresholds.map(({ passed }) => passed)).toEqual([true, true, true])
      const sound = run.report?.steps[0]?.health.sound
      expect(run.status).toBe(sound ? 0 : 3)
      expect(run.stdout.includes('inconclusive')).toBe(!sound)
    })

    it('writes a report without external references', () => {
      expect(run.html).toContain(`<h1>Load test of ${service.core}</h1>`)
      expect(run.html.match(/<svg /g)).toHaveLength(5)
      expect(run.html).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`)
      expect(run.html).not.toMatch(/<script|<link|<img|\ssrc=|\shref=|url\(|@import|NaN|undefined/)
      expect(run.html).not.toContain(service.apikey)
      expect(JSON.stringify(run.report)).not.toContain(service.apikey)
    })

    it('deletes all its people', async () => {
      expect(run.stderr).not.toContain('could not be deleted')
      expect(await users()).toBe(0)
    })
  })

  it('fails if a threshold is broken: status 1, or 3 if the generator was strained', {
    timeout: LONG_MS,
  }, async () => {
    const { status, report, stdout } = await load(
      '--connections',
      '2',
      '--duration',
      '1s',
      '--fail-if',
      'goodput<100000',
    )
    expect(status).toBe(report?.steps[0]?.health.sound ? 1 : 3)
    expect(report?.thresholds).toMatchObject([{ text: 'goodput<100000', passed: false }])
    expect(stdout).toContain('FAILS  fail if goodput<100000')
    expect(report?.steps[0]?.rate).toBeNull()
  })
})

describe('a load test', () => {
  let database: FreshDatabase
  let service: TestService
  beforeAll(async () => {
    database = await freshDatabase()
    service = await startService(database.url)
  })
  afterAll(async () => {
    await service.close()
    await database.drop()
  })
  const env = () => ({ KEYSTRIDE_APIKEY: service.apikey })

  it('keeps its schedule while the service stalls, and shows the stall', { timeout: LONG_MS }, async () => {
    const line = await startProxy(Number(new URL(service.core).port))
    let stalls = 0
    const args = ['--url', `http://127.0.0.1:${line.port}`, ...FEW, '--warmup', '0s', '--connections', '6']
    const { report, stdout } = await benchLoad(
      env(),
      [...args, '--rate', '20', '--arrivals', 'even', '--duration', '4s', '--enroll', '0'],
      (said) => {
        if (stalls > 0 || !said.includes('20 sign-ins/s: ')) return
        stalls++
        line.stall()
        setTimeout(line.pass, 1500)
      },
    )
    await line.close()
    const [step] = report?.steps ?? []
    expect(stalls).toBe(1)
    expect(step?.arrivals).toBe(80)
    expect(step?.operations.signin?.answers, stdout).toBe(80)
    // 30 of 80 arrived in the stall and waited 0 to 1.5 s: a tenth of all waited more than 1.1 s.
    const { latency_ms: latency, service_ms: sent } = step?.operations.bootstrap ?? {}
    expect(latency?.p90).toBeGreaterThan(900)
    // A tool that sends the next request after an answer would have measured only the six in progress.
    expect(sent?.p90).toBeLessThan(latency?.p90 ?? 0)
    expect(Math.max(...(step?.series ?? []).map(({ signin_p99_ms }) => signin_p99_ms ?? 0))).toBeGreaterThan(1000)
  })

  it('reports the figures so far when interrupted: status 130', { timeout: LONG_MS }, async () => {
    let interrupted = false
    const { status, report, stderr } = await benchLoad(
      env(),
      ['--url', service.core, ...FEW, '--rate', '10', '--duration', '10m'],
      (said, kill) => {
        if (interrupted || !said.includes('10 sign-ins/s: ')) return
        interrupted = true
        kill('SIGINT')
      },
    )
    expect(status).toBe(130)
    expect(stderr).toContain('stopping: requests in flight finish and are reported')
    expect(report).toMatchObject({ ended: 'interrupted', steps: [{ errors: { share: 0 } }] })
  })

  it(
    'ends with status 2 and the reason if there is no service, or it does not know the key',
    async () => {
      const unknown = await benchLoad({ KEYSTRIDE_APIKEY: 'ks_unknown' }, ['--url', service.core])
      expect(unknown).toMatchObject({ status: 2, report: null, html: '' })
      expect(unknown.stderr).toMatch(/does not know the key \(401\)/)
      const nobody = await benchLoad(env(), ['--url', `http://127.0.0.1:${await freePort()}`])
      expect(nobody.status).toBe(2)
      expect(nobody.stderr).toMatch(/cannot be reached: ECONNREFUSED/)
      const misread = await benchLoad(env(), ['--fail-if', 'p99'])
      expect(misread.status).toBe(2)
    },
    LONG_MS,
  )
})
