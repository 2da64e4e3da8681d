import { beforeAll, describe, expect, it } from 'vitest'
import { INVALID_PATTERNS_MAX } from '../../src/domain/invalid-patterns.js'
import { DEFAULT_POLICY } from '../../src/domain/policy.js'
import { person } from '../../src/typist/made-up-person.js'
import { linkTo, sincere, text, typeBy } from '../harness/enrolled.js'
import { sharedService, type TestService } from '../harness/service.js'
import { ownRows } from './own-rows.js'

const HOURS = 20
const SECONDS = HOURS * 3600
const service = await sharedService()

async function setHours(minHoursBetween: number): Promise<void> {
  const { id } = (await service.dashboard('GET', '/default-policy')).json.data
  const body = { ...DEFAULT_POLICY, enrollment: { minHoursBetween }, groups: [] }
  expect((await service.dashboard('PUT', `/policies/${id}`, { body })).json.data.enrollment).toEqual({
    minHoursBetween,
  })
}

describe('a policy with hours between the patterns of an enrollment', () => {
  beforeAll(() => setHours(HOURS))

  const hoursPass = (userRef: string, hours: number) =>
    ownRows(service)(
      (sql) => sql`
        update keystride.reference_pattern r set created_at = r.created_at - ${`${hours} hours`}::interval
        from keystride.member m where m.id = r.member_id and m.member_ref = ${userRef}`,
    )
  let typed = 0
  const fresh = (who: number, words = text(typed + 1)) => person(who).types(words, ++typed)
  const type = (who: number, send: (body: unknown) => ReturnType<TestService['call']>) =>
    sincere(send, () => fresh(who))
  const typeByLink = (who: number, key: string) => typeBy(service, key, (words) => fresh(who, words))
  const enrolls = (userRef: string) => async (body: unknown) => {
    const { session } = await service.bootstrap(userRef)
    return service.call('POST', `/users/${userRef}/typing-patterns`, { session, body })
  }

  it('takes one pattern, says when the next is taken, refuses an earlier one, and loses nothing', async () => {
    await service.call('POST', '/users/ann')
    const enroll = () => type(1, enrolls('ann'))
    for (let day = 1; day <= 5; day++) {
      const { status, json } = await enroll()
      expect([status, json.created, json.nPatternsRef]).toEqual([200, true, day])
      expect(json.retryAfterSeconds).toBe(day < 5 ? SECONDS : 0)
      if (day === 5) break
      const early = await enroll()
      expect([early.status, early.json.reason]).toEqual([429, 'quota-exceeded'])
      expect(early.json.message).toMatch(/time between the patterns of an enrollment: the next one from 20..-..-..T/)
      expect(Number(early.headers.get('retry-after'))).toBeGreaterThan(SECONDS - 600)
      expect(Number(early.headers.get('retry-after'))).toBeLessThanOrEqual(SECONDS)
      await hoursPass('ann', HOURS)
    }
    const { json } = await service.bootstrap('ann')
    expect(json).toMatchObject({ biometricStatus: 'ok', nPatternsRef: 5 })
  })

  it('holds for a profile link too, where several patterns at once come to one', async () => {
    const key = await linkTo(service, 'create', 'bob')
    const answers = await Promise.all([1, 2, 3, 4].map(() => typeByLink(2, key)))
    const [taken, ...refused] = answers.toSorted((a, b) => a.status - b.status)
    expect(taken?.status).toBe(200)
    // A pattern that is read after the first was stored types words that are used up.
    for (const { status, json } of refused)
      expect(`${status} ${json.message}`).toMatch(/^429 .*time between the patterns|^422 type the words of the page/)
    expect(taken?.json).toMatchObject({ nPatterns: 1, completed: false, retryAfterSeconds: SECONDS })
    await hoursPass('bob', HOURS)
    expect((await typeByLink(2, key)).json).toMatchObject({ nPatterns: 2, retryAfterSeconds: SECONDS })
  })

  it('asks for no time between the patterns that fill a complete profile by a link', async () => {
    const first = await linkTo(service, 'create', 'cy')
    for (let day = 1; day <= 5; day++) {
      expect((await typeByLink(3, first)).json).toMatchObject({
        nPatterns: day,
        retryAfterSeconds: day < 5 ? SECONDS : 0,
      })
      await hoursPass('cy', HOURS)
    }
    const more = await linkTo(service, 'complete', 'cy')
    for (let n = 6; n <= 10; n++)
      expect((await typeByLink(3, more)).json).toMatchObject({
        nPatterns: n,
        completed: n === 10,
        retryAfterSeconds: 0,
      })
  })

  it('remembers a pattern that came too early: it cannot be sent again', async () => {
    await service.call('POST', '/users/dee')
    const enroll = enrolls('dee')
    let last: unknown
    const remembering = (body: unknown) => {
      last = body
      return enroll(body)
    }
    expect((await type(4, remembering)).status).toBe(200)
    expect((await type(4, remembering)).status).toBe(429)
    await hoursPass('dee', HOURS)
    expect(await enroll(last)).toMatchObject({ status: 422, json: { reason: 'fraud-detected' } })
    expect((await type(4, enroll)).json).toMatchObject({ created: true, nPatternsRef: 2 })
  })

  it('counts patterns that come too early among those that are refused', async () => {
    await service.call('POST', '/users/eli')
    const send = enrolls('eli')
    expect((await type(5, send)).status).toBe(200)
    const messages = []
    for (let n = 0; n <= INVALID_PATTERNS_MAX; n++) messages.push((await type(5, send)).json.message)
    expect(messages[0]).toMatch(/time between the patterns/)
    expect(messages[INVALID_PATTERNS_MAX]).toMatch(/too many/)
  })

  it('makes links to reset that outlive the hours between their patterns', async () => {
    const reset = (body: object) => service.callLinks('POST', '/api/links/reset-profile/cy', { body })
    expect((await reset({})).json.expiresIn).toBe(4 * SECONDS + 86_400)
    expect((await reset({ validity: 4 * SECONDS + 1 })).json.expiresIn).toBe(4 * SECONDS + 1)
    const short = await reset({ validity: 4 * SECONDS })
    expect([short.status, short.json.reason]).toEqual([422, 'invalid-data'])
    expect(short.json.message).toBe(
      "validity: the policy's hours between patterns make a reset by link take 288000 s, got 288000 s",
    )
    await setHours(42)
    expect(await reset({})).toMatchObject({
      status: 422,
      json: { message: expect.stringContaining('a link lives for at most 604800 s') },
    })
    await setHours(HOURS)
  })
})
