import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { person } from '../../src/typist/made-up-person.js'
import { enroll, stranger, text, verifyOf } from '../harness/enrolled.js'
import { until } from '../harness/patience.js'
import { type Answer, sharedService, type TestService } from '../harness/service.js'
import { ownRows } from './own-rows.js'
import { secondService } from './second-service.js'

/**
 * Concurrent calls without a session, over two services that share only their stores. On a busy machine, calls may get 503
 * because a store is slow. An attempt or a reference beyond its limit is an error.
 */
describe('legacy calls at once', async () => {
  const first = await sharedService()
  const second = await secondService(first)
  const rows = ownRows(first)
  /** The previous test may have left a service degraded for a moment. */
  beforeEach(async () => {
    for (const service of [first, second])
      await until(async () => (await service.call('GET', '/status')).json.status === 'OK')
  })
  afterAll(() => second.close())

  const all = async (count: number, call: (service: TestService, i: number) => Promise<Answer>) => {
    const answers = await Promise.all(Array.from({ length: count }, (_, i) => call(i % 2 === 0 ? first : second, i)))
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
    rows(async (sql) => {
      const [row] = await sql<[{ attempts: number; successes: number }]>`
        select count(*)::int as attempts, count(*) filter (where authenticated)::int as successes
        from keystride.authentication where user_ref = ${userRef}`
      return { ...row }
    })
  const rejected = (answers: Answer[]) => answers.filter(({ json }) => json.action === 'rejected').length

  it('score three of 60 patterns of strangers on one member, and none of those that follow', async () => {
    await enroll(first, 'storm')
    // So slow that none is accepted: at the default tempo one was, and its success gave the others three more attempts.
    const bodies = Array.from({ length: 91 }, () => stranger(2.3))
    const before = await answered(() => userVerify(second, 'storm', bodies[90]))
    const storm = await all(60, (service, i) => userVerify(service, 'storm', bodies[i]))
    expect(rejected([before, ...storm])).toBeLessThanOrEqual(3)
    // A timed-out attempt is used up, so the budget is empty by now, or one of these empties it.
    for (const service of [first, second]) await answered(() => userVerify(service, 'storm', stranger(2.3)))
    const { attempts } = await recorded('storm')
    const later = await all(30, (service, i) => userVerify(service, 'storm', bodies[60 + i]))
    expect(later.map(({ json }) => json.action)).toEqual(Array(later.length).fill('refused'))
    expect(await recorded('storm')).toEqual({ attempts, successes: 0 })
    expect([1, 2, 3]).toContain(attempts)
  })

  it('create one user and one complete profile for many concurrent enrollments', async () => {
    const who = person(9_033)
    const join = (service: TestService, i: number) =>
      userVerify(service, 'crowd', who.types(text(i), i), { 'x-enrollment': 'USER' })
    const calls = await all(40, join)
    expect(calls.filter(({ json }) => json.action === 'enroll').length).toBeLessThanOrEqual(5)
    for (let i = 40, complete = false; !complete; i++)
      complete = (await answered(() => join(first, i))).json.biometricStatus === 'ok'
    const { json } = await answered(() => second.bootstrap('crowd'))
    expect(json).toMatchObject({ biometricStatus: 'ok', nPatternsRef: 5 })
  })

  it('link a tested pattern once for many concurrent calls', async () => {
    const who = await enroll(first, 'once')
    const { json } = await verifyOf(first, 'once', who.fresh())
    const patternId: string = json.authentication.patternTestId
    await answered(() => first.call('DELETE', '/users/once/typing-patterns'))
    const body = { action: 'LINK_PATTERN_ID', patternId }
    const link = (service: TestService) => service.call('POST', '/user-action/once', { body })
    const links = [...(await all(20, link)), await answered(() => link(first))]
    for (const { json } of links) expect(json).toMatchObject({ patternId, nPatternsRef: 1 })
  })

  it('link no sixth reference by an id requested concurrently with the fifth', async () => {
    const who = await enroll(first, 'sixth')
    const ids: string[] = []
    while (ids.length < 3) {
      const { json } = await verifyOf(first, 'sixth', ids.length === 0 ? who.fresh() : stranger())
      if (json.reason === '') ids.push(json.authentication.patternTestId)
    }
    await first.call('DELETE', '/users/sixth/typing-patterns')
    for (let stored = 0; stored < 4; ) {
      const body = { action: 'LINK_PATTERN', pattern: who.fresh() }
      if ((await first.call('POST', '/user-action/sixth', { body })).status === 200) stored++
    }
    const link = (service: TestService, i: number) =>
      service.call('POST', '/user-action/sixth', { body: { action: 'LINK_PATTERN_ID', patternId: ids[i % 3] } })
    const links = await Promise.all(Array.from({ length: 30 }, (_, i) => link(i % 2 === 0 ? first : second, i)))
    // After the fifth reference, a call without a session gets 409; 422 if a stranger is taken for a machine before.
    for (const { status } of links) expect([200, 409, 422, 503]).toContain(status)
    const { json } = await answered(() => second.bootstrap('sixth'))
    expect(json).toMatchObject({ nPatternsRef: 5, biometricStatus: 'ok' })
  })
})
