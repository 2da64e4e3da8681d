import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { request } from '../../bench/shared/drive.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'
import { deployment } from './deployment.js'
import { type Heard, ofStatus, openLoop } from './open-loop.js'
import { type ServiceProcess, startProcess } from './service-process.js'

const RATE = 40
const BURST = 16
const SECONDS = 3
const OVER = 5

let fresh: FreshDatabase
let made: Awaited<ReturnType<typeof deployment>>
beforeAll(async () => {
  fresh = await freshDatabase()
  made = await deployment(fresh.url)
})
afterAll(async () => fresh.drop())

const limits = { KEY_RATE: String(RATE), KEY_BURST: String(BURST) }

/** Sends five times the allowed rate of one key, to the services in turn. */
function flood(services: readonly ServiceProcess[]): Promise<Heard[]> {
  const bytes = request('GET', '/core/organization', { apikey: made.apikey }, '')
  const ports = services.map(({ core }) => Number(new URL(core).port))
  const next = () => ({ kind: 'organization', bytes })
  return openLoop({ ports, connections: 24, perSecond: OVER * RATE, seconds: SECONDS, next })
}

function holds(heard: readonly Heard[], processes: number): void {
  const letIn = ofStatus(heard, 200).length
  const refused = ofStatus(heard, 429)
  // A loaded machine answers 503 now and then; the rate limit had admitted those requests.
  expect(letIn + refused.length + ofStatus(heard, 503).length).toBe(heard.length)
  for (const { body } of refused) expect(JSON.parse(body)).toMatchObject({ success: false, reason: 'quota-exceeded' })
  // A request may be admitted when it is answered, not when it was due. Not yet shared between processes: the calls of
  // a tenth of a second and of a round trip, which takes a quarter of a second at most on a loaded machine.
  const tookS = Math.max(...heard.map(({ dueAt, ms }) => dueAt + ms)) / 1000
  const unshared = (processes - 1) * (Math.max(BURST / 8, RATE / 10) + OVER * RATE * 0.25)
  expect(letIn).toBeLessThanOrEqual(BURST + RATE * tookS + unshared)
  expect(letIn).toBeGreaterThanOrEqual(RATE * SECONDS * 0.25)
}

describe('the rate of a key', { timeout: 90_000 }, () => {
  it('holds over all processes of a machine', async () => {
    const service = await startProcess({ ...made.env, ...limits, PROCESSES: '2' })
    holds(await flood([service]), 2)
    await service.stop()
  })

  it.skipIf(inject('redisUrl') === null)('holds over all processes that share a Redis', async () => {
    const env = { ...made.env, ...limits, REDIS_URL: inject('redisUrl') ?? '' }
    const services = await Promise.all([startProcess(env), startProcess(env)])
    holds(await flood(services), 2)
    await Promise.all(services.map((one) => one.stop()))
  })
})
