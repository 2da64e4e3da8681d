import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stranger } from '../harness/enrolled.js'
import { figure, LONG } from '../harness/figure.js'
import { type FlushedRedis, startFlushedRedis } from '../harness/flushed-redis.js'
import {
  enrolled,
  type On,
  overConnections,
  ownBackEnds,
  startTwo,
  strangers,
  type TwoServices,
  withCode,
} from '../harness/two-services.js'

const ATTEMPTS = LONG ? 10_000 : 1_500
const CONNECTIONS = 64
const BUDGET = 3
const FLUSH_EVERY_MS = 50

/** Counts answers by status, or by action if the status is 200. */
const tally = () => {
  const seen = new Map<string, number>()
  return {
    add: (status: number, body: string) => {
      const what = status === 200 ? (/"action":"(\w+)"/.exec(body)?.[1] ?? '?') : String(status)
      seen.set(what, (seen.get(what) ?? 0) + 1)
    },
    of: (what: string) => seen.get(what) ?? 0,
  }
}

describe.each(ownBackEnds)('two processes on $name', ({ withRedis }) => {
  let redis: FlushedRedis | null = null
  let two: TwoServices
  beforeAll(async () => {
    redis = withRedis ? await startFlushedRedis() : null
    two = await startTwo(redis?.url ?? null)
  })
  afterAll(async () => {
    await two.close()
    await redis?.stop()
  })

  const verify = (userRef: string, session: string, body: unknown) =>
    two.bytes('POST', `/users/${userRef}/verify`, session, body)
  const wrongCodes = Array.from({ length: 100 }, (_, i) => ({ securityCode: String(200_100 + i * 7) }))

  /**
   * Sends all attempts in one session. A loaded machine may answer some with 503, which returns no attempt to the
   * session.
   */
  async function race(userRef: string, bodies: readonly unknown[]) {
    const session = await two.bootstrap(userRef)
    const requests = bodies.map((body) => verify(userRef, session, body))
    const answers = tally()
    let sent = 0
    await overConnections(two, CONNECTIONS, async (connection) => {
      while (sent < ATTEMPTS) {
        const answer = await connection.send(requests[sent++ % requests.length] as Buffer)
        answers.add(answer.status, answer.body)
      }
    })
    expect(answers.of('rejected')).toBeGreaterThan(0)
    const judged = await two.recorded(userRef)
    expect(judged).toBeGreaterThanOrEqual(answers.of('rejected'))
    const found = `${judged} judged of ${ATTEMPTS.toLocaleString('en')} (bar ${BUDGET})`
    figure('T11', found, `${BUDGET} at the most`, judged <= BUDGET)
    expect(answers.of('rejected') + answers.of('refused') + answers.of('503')).toBe(ATTEMPTS)
  }

  it('judge three of all typing patterns of one session', async () => {
    await enrolled(two, 'typing')
    await race('typing', strangers(50))
  })

  it('compare three of all security codes of one session', async () => {
    await withCode(two, 'code', '749205')
    await race('code', wrongCodes)
  })

  /**
   * A race with a flush of Redis every 50 ms. A client that loses its session begins a new one, so the budget of a
   * session does not limit the attempts; the lock ladder in the member's row does.
   */
  async function raceUnderFlushes(userRef: string, bodies: readonly unknown[]) {
    const answers = tally()
    let sent = 0
    let over = false
    const flushing = (async () => {
      for (; !over; await delay(FLUSH_EVERY_MS)) await redis?.flush()
    })()
    await overConnections(two, CONNECTIONS, async (connection) => {
      while (sent < ATTEMPTS) {
        const { session } = await connection.send(two.bytes('GET', `/users/${userRef}`))
        for (let status = 200; status !== 400 && sent < ATTEMPTS; ) {
          const answer = await connection.send(verify(userRef, session, bodies[sent++ % bodies.length]))
          answers.add(answer.status, answer.body)
          status = answer.status
        }
      }
    })
    over = true
    await flushing
    expect(answers.of('rejected')).toBeGreaterThan(0)
    expect(await two.recorded(userRef)).toBeGreaterThanOrEqual(answers.of('rejected'))
  }

  it.runIf(withRedis)('judge five typing patterns, then one each 30 s, with a flush of Redis every 50 ms', async () => {
    await enrolled(two, 'flushed')
    await raceUnderFlushes('flushed', strangers(50))
    const rows = await two.query(
      "select extract(epoch from created_at)::float8 as at from keystride.authentication where user_ref = 'flushed' order by 1",
    )
    const apart = rows.slice(5).map(({ at }, n) => Number(at) - Number(rows[n + 4]?.at))
    const found = `${rows.length} judged of ${ATTEMPTS.toLocaleString('en')} in the flushes of Redis (bar 5)`
    figure(
      'T11',
      found,
      '5, and one each 30 s',
      apart.every((seconds) => seconds >= 30),
    )
  })

  it.runIf(withRedis)('compare three security codes with a flush of Redis every 50 ms', async () => {
    await withCode(two, 'flushed-code', '749205')
    await raceUnderFlushes('flushed-code', wrongCodes)
    const judged = await two.recorded('flushed-code')
    const found = `${judged} codes compared of ${ATTEMPTS.toLocaleString('en')} in the flushes (bar ${BUDGET})`
    figure('T11', found, `${BUDGET} at the most`, judged <= BUDGET)
  })

  it('continue a sign-in that the other began, with one replay index', async () => {
    await enrolled(two, 'ann')
    const session = await two.bootstrap('ann')
    for (const on of [0, 1] as const) {
      const state = await two.sure(on, 'GET', '/users/ann', session)
      expect([state.session, state.json]).toMatchObject([session, { biometricStatus: 'ok', nPatternsRef: 5 }])
    }
    await two.sure(1, 'POST', '/users/bob')
    const bobs = await two.bootstrap('bob', 1)
    const enroll = (on: On, body: unknown) => two.call(on, 'POST', '/users/bob/typing-patterns', bobs, body)
    // A made-up person is sometimes taken for a machine.
    let body = stranger()
    for (let n = 0; n < 10 && (await enroll(0, body)).status !== 200; n++) body = stranger()
    expect((await enroll(1, body)).json.reason).toBe('fraud-detected')
  })

  it('end a session on both when its account is deleted', async () => {
    await enrolled(two, 'carl')
    const session = await two.bootstrap('carl')
    await two.sure(1, 'DELETE', '/users/carl')
    for (const on of [0, 1] as const)
      expect((await two.call(on, 'POST', '/users/carl/verify', session, strangers(1)[0])).status).toBe(400)
  })
})
