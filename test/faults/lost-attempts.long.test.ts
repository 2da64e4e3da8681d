import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sha256Hex } from '../../src/flows/process/tokens.js'
import { figure, LONG } from '../harness/figure.js'
import { type FlushedRedis, startFlushedRedis } from '../harness/flushed-redis.js'
import { until } from '../harness/patience.js'
import { startProxy, type TcpProxy } from '../harness/tcp-proxy.js'
import {
  enrolled,
  type On,
  ownBackEnds,
  startTwo,
  strangers,
  type TwoServices,
  withCode,
} from '../harness/two-services.js'

const BUDGET = 3
const STOPS = LONG ? 100 : 5
const PEOPLE = LONG ? 10 : 3
/** A statement that waits for a row holds the lock of its tuple. */
const WAITS_FOR_A_ROW = `
  select from pg_locks
  where locktype = 'tuple' and database = (select oid from pg_database where datname = current_database())`

describe.each(ownBackEnds)('an attempt on $name', ({ withRedis }) => {
  let redis: FlushedRedis | null = null
  let lane: TcpProxy | null = null
  let two: TwoServices
  beforeAll(async () => {
    redis = withRedis ? await startFlushedRedis() : null
    lane = redis === null ? null : await startProxy(redis.port)
    two = await startTwo(lane === null ? null : `redis://127.0.0.1:${lane.port}`, { STORE_PATIENCE: '3' })
  })
  afterAll(async () => {
    await two.close()
    await lane?.close()
    await redis?.stop()
  })

  const verify = (userRef: string, session: string, body: unknown, on: On = 0) =>
    two.call(on, 'POST', `/users/${userRef}/verify`, session, body)
  const used = async (userRef: string, session: string) =>
    (await two.stores.sessions.find(two.organizationId, userRef, sha256Hex(session)))?.used
  /** Sends patterns until one is reserved. Returns the status of its answer, or `lost` if its process died. */
  async function reserveOne(userRef: string, session: string): Promise<number | 'lost'> {
    for (const body of strangers(50)) {
      const answer = await verify(userRef, session, body).catch(() => null)
      if (answer === null) return 'lost'
      if ((await used(userRef, session))?.biometric === 1) return answer.status
    }
    throw new Error('never reserved')
  }
  /**
   * Tries on process 1, which is never killed, until the session has no attempt left; `judged` of them must be judged.
   * A loaded machine may answer 503, which also uses up an attempt.
   */
  async function leaves(judged: number, userRef: string, session: string, bodies = strangers(60).slice(50)) {
    const before = await two.recorded(userRef)
    let unheard = 0
    for (let n = 0; ; n++) {
      const { status, json } = await verify(userRef, session, bodies[n % bodies.length], 1)
      expect([200, 503]).toContain(status)
      if (status === 503) unheard++
      else if (json.action === 'refused') break
    }
    const after = await two.recorded(userRef)
    expect(after - before).toBeLessThanOrEqual(judged)
    expect(after - before + unheard).toBeGreaterThanOrEqual(judged)
  }
  /** Blocks reads of references: after the reservation and before the score. */
  const withoutReferences = (work: () => Promise<void>) =>
    two.holding('lock table keystride.reference_pattern in access exclusive mode', work)

  it('is used up if its process dies between the reservation and the record', async () => {
    await enrolled(two, 'dies')
    const session = await two.bootstrap('dies')
    await withoutReferences(async () => {
      const lost = reserveOne('dies', session)
      await until(async () => (await used('dies', session))?.biometric === 1)
      await two.services[0].kill()
      expect(await lost).toBe('lost')
    })
    expect(await two.recorded('dies')).toBe(0)
    await leaves(BUDGET - 1, 'dies', session)
    await two.restart(0)
  })

  it('is used up if its process dies while the code waits for its comparison', async () => {
    const people = Array.from({ length: 8 }, (_, i) => `waits-${i}`)
    const wrong = Array.from({ length: 10 }, (_, i) => ({ securityCode: String(200_100 + i * 7) }))
    const sessions = await Promise.all(
      people.map(async (userRef) => {
        await withCode(two, userRef, '749205')
        return two.bootstrap(userRef, 1)
      }),
    )
    const lost = people.map((userRef, i) => verify(userRef, sessions[i] ?? '', wrong[0]).catch(() => 'lost'))
    const reservations = () => Promise.all(people.map((userRef, i) => used(userRef, sessions[i] ?? '')))
    await until(async () => (await reservations()).some((one) => one?.security_code === 1))
    await two.services[0].kill()
    await Promise.all(lost)
    for (const [i, userRef] of people.entries()) {
      const session = sessions[i] ?? ''
      const reserved = (await used(userRef, session))?.security_code ?? 0
      await leaves(BUDGET - reserved, userRef, session, wrong)
      expect(await two.recorded(userRef)).toBeLessThanOrEqual(BUDGET)
    }
    await two.restart(0)
  })

  it('is used up if the references arrive too late from the store', async () => {
    await enrolled(two, 'late')
    const session = await two.bootstrap('late')
    await withoutReferences(async () => {
      expect(await reserveOne('late', session)).toBe(503)
    })
    expect(await two.recorded('late')).toBe(0)
    await leaves(BUDGET - 1, 'late', session)
  })

  it.runIf(withRedis)('is used up if the answer to its reservation arrives too late', async () => {
    await enrolled(two, 'unheard')
    const session = await two.bootstrap('unheard')
    // Field and budget are the last arguments of a reservation.
    lane?.holdAnswerTo(`$1\r\nb\r\n$1\r\n${BUDGET}\r\n`)
    expect(await reserveOne('unheard', session)).toBe(503)
    lane?.pass()
    expect(await two.recorded('unheard')).toBe(0)
    await leaves(BUDGET - 1, 'unheard', session)
  })

  it.runIf(!withRedis)('is not used up without a reservation, and nothing is scored', async () => {
    await enrolled(two, 'unmade')
    const session = await two.bootstrap('unmade')
    await two.holding("select from keystride.session where user_ref = 'unmade' for update", async () => {
      expect((await verify('unmade', session, strangers(1)[0])).status).toBe(503)
      // The client gives up before PostgreSQL cancels the statement, which would reserve if it got the lock now.
      await until(async () => (await two.query(WAITS_FOR_A_ROW)).length === 0)
    })
    expect((await used('unmade', session))?.biometric).toBe(0)
    expect(await two.recorded('unmade')).toBe(0)
  })

  it('is judged for each of three concurrent patterns by the right person', async () => {
    for (let i = 0; i < PEOPLE; i++) {
      const userRef = `right-${i}`
      const { types } = await enrolled(two, userRef)
      const session = await two.bootstrap(userRef)
      const answers = await Promise.all([0, 1, 0].map((on) => verify(userRef, session, types(), on as On)))
      // A loaded machine may answer 503; a lock may not refuse.
      const heard = answers.filter(({ status }) => status !== 503)
      for (const { json } of heard) expect(['verified', 'rejected']).toContain(json.action)
      expect(await two.recorded(userRef)).toBeGreaterThanOrEqual(heard.length)
    }
  })

  it(`is judged at most three times a session if a process halts for a while, ${STOPS} times`, async () => {
    const bodies = strangers(24)
    let beyond = 0
    for (let round = 0; round < STOPS; round++) {
      const userRef = `stopped-${round}`
      await enrolled(two, userRef)
      const session = await two.bootstrap(userRef)
      const all = bodies.map((body, n) => verify(userRef, session, body, (n % 2) as On))
      const [running, stopped] = [all.filter((_, n) => n % 2 === 0), all.filter((_, n) => n % 2 === 1)]
      await new Promise((resolve) => setTimeout(resolve, (round * 7) % 40))
      two.services[1].process.kill('SIGSTOP')
      await Promise.all(running)
      two.services[1].process.kill('SIGCONT')
      await Promise.all(stopped)
      const recorded = await two.recorded(userRef)
      beyond += Math.max(0, recorded - BUDGET)
    }
    const found = `${beyond} beyond the budget over ${STOPS} halts of a process`
    figure('T11', found, '0 beyond', beyond === 0)
  })
})
