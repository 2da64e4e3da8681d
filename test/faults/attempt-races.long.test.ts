import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { figure, LONG } from '../trust/figure.js'
import { type FlushedRedis, startFlushedRedis } from './flushed-redis.js'
import {
  backEndsOfOurOwn,
  enrolled,
  overConnections,
  startTwo,
  strangers,
  type TwoServices,
  withCode,
} from './two-services.js'

const ATTEMPTS = 10_000
/** Attempts of a run that repeats another one; the long form runs all of them in full. */
const FEWER = LONG ? ATTEMPTS : 2_500
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
    text: () => [...seen].map(([what, n]) => `${n} ${what}`).join(', '),
  }
}

describe.each(backEndsOfOurOwn)('ten thousand attempts over two processes on $name', ({ withRedis }) => {
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
  const say = async (userRef: string, answers: ReturnType<typeof tally>, begun: number) => {
    const seconds = ((performance.now() - begun) / 1000).toFixed(1)
    console.log(`${userRef}: ${answers.text()}; ${await two.recorded(userRef)} on record; ${seconds} s`)
  }
  const wrongCodes = Array.from({ length: 100 }, (_, i) => ({ securityCode: String(200_100 + i * 7) }))

  /**
   * Sends all attempts in one session. A loaded machine may answer some with 503, which returns no attempt to the
   * session.
   */
  async function race(userRef: string, bodies: readonly unknown[], attempts = ATTEMPTS) {
    const session = await two.bootstrap(userRef)
    const requests = bodies.map((body) => verify(userRef, session, body))
    const answers = tally()
    const begun = performance.now()
    let sent = 0
    await overConnections(two, CONNECTIONS, async (connection) => {
      while (sent < attempts) {
        const answer = await connection.send(requests[sent++ % requests.length] as Buffer)
        answers.add(answer.status, answer.body)
      }
    })
    await say(userRef, answers, begun)
    expect(answers.of('rejected')).toBeGreaterThan(0)
    const judged = await two.recorded(userRef)
    expect(judged).toBeGreaterThanOrEqual(answers.of('rejected'))
    const found = `${userRef}: ${judged} judged of ${attempts.toLocaleString('en')} over ${CONNECTIONS} connections`
    figure('T11', found, `${BUDGET} at the most`, judged <= BUDGET)
    expect(answers.of('rejected') + answers.of('refused') + answers.of('503')).toBe(attempts)
  }

  it('judge three typing patterns of one session', async () => {
    await enrolled(two, 'typing')
    await race('typing', strangers(50))
  }, 240_000)

  it('compare three security codes of one session', async () => {
    await withCode(two, 'code', '749205')
    await race('code', wrongCodes, withRedis ? ATTEMPTS : FEWER)
  }, 240_000)

  /**
   * The same with a flush of Redis every 50 ms. A client that loses its session begins a new one, so the budget of a
   * session does not limit the attempts; the lock ladder in the member's row does. Returns the duration, s.
   */
  async function raceUnderFlushes(
    flushed: FlushedRedis,
    userRef: string,
    bodies: readonly unknown[],
    attempts: number,
  ) {
    const answers = tally()
    const begun = performance.now()
    let sessions = 0
    let sent = 0
    let over = false
    const flushing = (async () => {
      for (; !over; await new Promise((resolve) => setTimeout(resolve, FLUSH_EVERY_MS))) await flushed.flush()
    })()
    await overConnections(two, CONNECTIONS, async (connection) => {
      for (; sent < attempts; sessions++) {
        const { session } = await connection.send(two.bytes('GET', `/users/${userRef}`))
        for (let status = 200; status !== 400 && sent < attempts; ) {
          const answer = await connection.send(verify(userRef, session, bodies[sent++ % bodies.length]))
          answers.add(answer.status, answer.body)
          status = answer.status
        }
      }
    })
    over = true
    await flushing
    console.log(`${sessions} sessions`)
    await say(userRef, answers, begun)
    expect(answers.of('rejected')).toBeGreaterThan(0)
    expect(await two.recorded(userRef)).toBeGreaterThanOrEqual(answers.of('rejected'))
    return (performance.now() - begun) / 1000
  }

  it.runIf(withRedis)(
    'judge five typing patterns, then one each 30 s, with a flush of Redis every 50 ms',
    async () => {
      await enrolled(two, 'flushed')
      const seconds = await raceUnderFlushes(redis as FlushedRedis, 'flushed', strangers(50), ATTEMPTS)
      const [judged, most] = [await two.recorded('flushed'), 5 + Math.floor(seconds / 30)]
      const found = `typing: ${judged} judged of ${ATTEMPTS.toLocaleString('en')} under flushes`
      figure('T11', found, '5, and one each 30 s', judged <= most)
    },
    240_000,
  )

  it.runIf(withRedis)(
    'compare three security codes with a flush of Redis every 50 ms',
    async () => {
      await withCode(two, 'flushed-code', '749205')
      await raceUnderFlushes(redis as FlushedRedis, 'flushed-code', wrongCodes, FEWER)
      const judged = await two.recorded('flushed-code')
      figure(
        'T11',
        `codes: ${judged} judged of ${FEWER.toLocaleString('en')} under flushes`,
        `${BUDGET} at the most`,
        judged <= BUDGET,
      )
    },
    240_000,
  )
})
