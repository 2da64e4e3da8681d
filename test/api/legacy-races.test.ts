import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { connectPostgres, type Database } from '../../src/storage/postgres/connection/client.js'
import { person } from '../../src/typist/made-up-person.js'
import { until } from '../patience.js'
import { freshDatabase } from '../servers/database.js'
import { type Answer, startService, type TestService } from '../service.js'
import { enroll, stranger, text } from './enrolled.js'

/**
 * Concurrent calls without a session, over two services that share only their stores. On a busy machine, calls may get 503
 * because a store is slow. An attempt or a reference beyond its limit is an error.
 */
describe('legacy calls at once', () => {
  let both: [TestService, TestService]
  let database: Database
  beforeAll(async () => {
    const { url } = await freshDatabase()
    both = [await startService(url), await startService(url)]
    database = connectPostgres({ url, max: 2, patience: 10 })
  })
  /** The previous test may have left a service degraded for a moment. */
  beforeEach(async () => {
    for (const service of both) await until(async () => (await service.call('GET', '/status')).json.status === 'OK')
  })
  afterAll(async () => {
    for (const service of both) await service.close()
    await database.close()
  })

  const all = async (count: number, call: (service: TestService, i: number) => Promise<Answer>) => {
    const answers = await Promise.all(Array.from({ length: count }, (_, i) => call(both[i % 2] ?? both[0], i)))
    for (const { status, json } of answers) expect([200, 503], JSON.stringify(json)).toContain(status)
    return answers.filter(({ status }) => status === 200)
  }
  /** The answer of a call, retried while the stores are too busy. */
  const answered = async (call: () => Promise<Answer>): Promise<Answer> => {
    let answer = await call()
    await until(async () => {
      if (answer.status === 503) answer = await call()
      return answer.status !== 503
    })
    return answer
  }
  const userVerify = (service: TestService, userRef: string, body: unknown, headers = {}) =>
    service.call('POST', `/user-verify/${userRef}`, { body, headers })
  const recorded = (userRef: string) =>
    database.asSystem(async (sql) => {
      const [row] = await sql<{ attempts: string; successes: string }[]>`
        select count(*) as attempts, count(*) filter (where authenticated) as successes
        from keystride.authentication where user_ref = ${userRef}`
      return { attempts: Number(row?.attempts), successes: Number(row?.successes) }
    })
  const rejected = (answers: Answer[]) => answers.filter(({ json }) => json.action === 'rejected').length

  it('score three of 200 patterns of strangers on one member, and none of those that follow', async () => {
    await enroll(both[0], 'storm')
    // So slow that none is accepted: at the default tempo one was, and its success gave the others three more attempts.
    const bodies = Array.from({ length: 231 }, () => stranger(2.3))
    const first = await answered(() => userVerify(both[1], 'storm', bodies[230]))
    const storm = await all(200, (service, i) => userVerify(service, 'storm', bodies[i]))
    expect(rejected([first, ...storm])).toBeLessThanOrEqual(3)
    // A timed-out attempt is used up, so the budget is empty by now, or one of these empties it.
    for (let i = 0; i < 2; i++) await answered(() => userVerify(both[i % 2] ?? both[0], 'storm', stranger(2.3)))
    const { attempts } = await recorded('storm')
    const later = await all(30, (service, i) => userVerify(service, 'storm', bodies[200 + i]))
    expect(later.map(({ json }) => json.action)).toEqual(Array(later.length).fill('refused'))
    expect(await recorded('storm')).toEqual({ attempts, successes: 0 })
    expect([1, 2, 3]).toContain(attempts)
  }, 60_000)

  it('compare three of 60 security codes of one member', async () => {
    await both[0].call('POST', '/users/codes')
    const { session } = await both[0].bootstrap('codes')
    const put = { session, body: { securityCode: '749205' } }
    expect((await answered(() => both[0].call('PUT', '/users/codes/security-code', put))).status).toBe(200)
    const wrong = { securityCode: '480653' }
    const first = await answered(() => userVerify(both[1], 'codes', wrong))
    const guesses = await all(60, (service) => userVerify(service, 'codes', wrong))
    expect(rejected([first, ...guesses])).toBeLessThanOrEqual(3)
    expect([1, 2, 3]).toContain((await recorded('codes')).attempts)
  }, 60_000)

  it('give strangers at most three attempts per concurrent success of the owner', async () => {
    const who = await enroll(both[0], 'beside')
    const bodies = Array.from({ length: 80 }, (_, i) => (i % 20 === 0 ? who.fresh() : stranger()))
    await all(80, (service, i) => userVerify(service, 'beside', bodies[i]))
    const { attempts, successes } = await recorded('beside')
    expect(attempts).toBeLessThanOrEqual(3 * (successes + 1))
  }, 60_000)

  it('create one user and one complete profile for many concurrent enrollments', async () => {
    const who = person(9_033)
    const join = (service: TestService, i: number) =>
      userVerify(service, 'crowd', who.types(text(i), i), { 'x-enrollment': 'USER' })
    const calls = await all(40, join)
    expect(calls.filter(({ json }) => json.action === 'enroll').length).toBeLessThanOrEqual(5)
    for (let i = 40, complete = false; !complete; i++)
      complete = (await answered(() => join(both[0], i))).json.biometricStatus === 'ok'
    const { json } = await answered(() => both[1].bootstrap('crowd'))
    expect(json).toMatchObject({ biometricStatus: 'ok', nPatternsRef: 5 })
  }, 60_000)

  it('link a tested pattern once for many concurrent calls', async () => {
    const who = await enroll(both[0], 'once')
    const { json } = await answered(() => userVerify(both[0], 'once', who.fresh()))
    const patternId: string = json.authentication.patternTestId
    await answered(() => both[0].call('DELETE', '/users/once/typing-patterns'))
    const body = { action: 'LINK_PATTERN_ID', patternId }
    const link = (service: TestService) => service.call('POST', '/user-action/once', { body })
    const links = [...(await all(20, link)), await answered(() => link(both[0]))]
    for (const { json } of links) expect(json).toMatchObject({ patternId, nPatternsRef: 1 })
  }, 60_000)

  it('link no sixth reference by an id requested concurrently with the fifth', async () => {
    const who = await enroll(both[0], 'sixth')
    const ids: string[] = []
    while (ids.length < 3) {
      const { session } = await both[0].bootstrap('sixth')
      const body = ids.length === 0 ? who.fresh() : stranger()
      const { json } = await both[0].call('POST', '/users/sixth/verify', { session, body })
      if (json.reason === '') ids.push(json.authentication.patternTestId)
    }
    await both[0].call('DELETE', '/users/sixth/typing-patterns')
    for (let stored = 0; stored < 4; ) {
      const body = { action: 'LINK_PATTERN', pattern: who.fresh() }
      if ((await both[0].call('POST', '/user-action/sixth', { body })).status === 200) stored++
    }
    const link = (service: TestService, i: number) =>
      service.call('POST', '/user-action/sixth', { body: { action: 'LINK_PATTERN_ID', patternId: ids[i % 3] } })
    const links = await Promise.all(Array.from({ length: 30 }, (_, i) => link(both[i % 2] ?? both[0], i)))
    // After the fifth reference, a call without a session gets 409; 422 if a stranger is taken for a machine before.
    for (const { status } of links) expect([200, 409, 422, 503]).toContain(status)
    const { json } = await answered(() => both[1].bootstrap('sixth'))
    expect(json).toMatchObject({ nPatternsRef: 5, biometricStatus: 'ok' })
  }, 60_000)
})
