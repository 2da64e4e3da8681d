import { beforeAll, expect, it } from 'vitest'
import { freePort } from '../../../src/storage/postgres/embedded/embedded-running.js'
import { sharedService, type TestService } from '../../harness/service.js'
import { benchLoad } from './bench-load.js'

const FEW = ['--people', '8', '--warmup', '500ms', '--impostors', '0.1']

let service: TestService
beforeAll(async () => {
  service = await sharedService()
})
const load = (...args: string[]) => benchLoad({ KEYSTRIDE_APIKEY: service.apikey }, ['--url', service.core, ...args])

it('a load test at a fixed rate signs people in without failures, reports by itself, and deletes its people', async () => {
  const kinds = ['--enroll', '0.05', '--codes', '1', '--by-code', '0.15']
  const open = ['--rate', '12', '--arrivals', 'even', '--duration', '4s']
  // A load generator on a busy machine drops what it cannot begin, and times out late.
  const patient = ['--timeout', '60s']
  const { report, status, html, stderr } = await load(...FEW, ...open, ...kinds, ...patient, '--fail-if', 'errors>0%')
  const [step] = report?.steps ?? []
  if (step === undefined) throw new Error(stderr)
  expect(step.errors).toMatchObject({ share: 0, wrong: 0, unwanted: 0, transport: 0, dropped: 0 })
  expect(step.arrivals).toBe(48)
  const { signin, create, enroll, 'set-code': setCode } = step.operations
  const { accuracy } = step
  expect(accuracy.people_enrolled).toBeGreaterThan(0)
  expect((signin?.answers ?? 0) + accuracy.people_enrolled).toBe(48)
  expect(create?.answers).toBe(accuracy.people_enrolled)
  expect(enroll?.answers).toBeGreaterThanOrEqual(5 * accuracy.people_enrolled)
  expect(setCode?.statuses['200']).toBe(accuracy.people_enrolled)
  expect(accuracy.codes).toBeGreaterThan(0)
  expect(accuracy.codes_accepted).toBe(accuracy.codes)
  // The status is 0, or 3 if the machine was too busy for the generator.
  expect(report?.thresholds.map(({ passed }) => passed)).toEqual([true])
  expect(status).toBe(step.health.sound ? 0 : 3)
  expect(html).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`)
  expect(html).not.toMatch(/<script|<link|<img|\ssrc=|\shref=|url\(|@import|NaN|undefined/)
  expect(html + JSON.stringify(report)).not.toContain(service.apikey)
  expect((await service.call('GET', '/organization')).json.nUsers).toBe(0)
})

it('a load test reports the figures so far when interrupted: status 130', async () => {
  let interrupted = false
  const { status, report } = await benchLoad(
    { KEYSTRIDE_APIKEY: service.apikey },
    ['--url', service.core, ...FEW, '--rate', '10', '--duration', '10m'],
    (said, kill) => {
      if (interrupted || !said.includes('10 sign-ins/s: ')) return
      interrupted = true
      kill('SIGINT')
    },
  )
  expect([status, report?.ended]).toEqual([130, 'interrupted'])
})

it('a load test ends with status 2 and the reason if there is no service, no metrics, or an unknown key', async () => {
  const unknown = await benchLoad({ KEYSTRIDE_APIKEY: 'ks_unknown' }, ['--url', service.core])
  expect(unknown).toMatchObject({ status: 2, report: null, stderr: expect.stringContaining('does not know the key') })
  const noMetrics = await load('--metrics', service.core.replace('/core', '/livez'))
  expect(noMetrics).toMatchObject({ status: 2, stderr: expect.stringContaining('--metrics: no metrics') })
  const nobody = await load('--url', `http://127.0.0.1:${await freePort()}`)
  expect(nobody).toMatchObject({ status: 2, stderr: expect.stringContaining('cannot be reached: ECONNREFUSED') })
})
