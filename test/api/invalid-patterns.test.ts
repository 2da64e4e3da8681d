import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { wirePattern } from '../../src/typist/made-up-person.js'
import { until } from '../patience.js'
import { type Answer, sharedService, type TestService } from '../service.js'
import { enroll, stranger, text } from './enrolled.js'

const LIMIT = 20
const NO_PATTERN = { no: 'pattern' }

describe('patterns that are refused', () => {
  let service: TestService
  beforeAll(async () => {
    service = await sharedService()
  })
  afterAll(() => service.close())

  const verify = (userRef: string, session: string, body: unknown) =>
    service.call('POST', `/users/${userRef}/verify`, { session, body })
  const enrollOne = (userRef: string, session: string, body: unknown) =>
    service.call('POST', `/users/${userRef}/typing-patterns`, { session, body })
  const expectLimited = ({ status, json, headers }: Answer) => {
    expect([status, json.reason], json.message).toEqual([429, 'quota-exceeded'])
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(14 * 60)
    expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(15 * 60)
  }

  it('"do not count but are limited (20 in 15 min a member)": after that a valid one is not scored either', async () => {
    const who = await enroll(service, 'limited')
    for (let i = 0; i < LIMIT; i++) expect((await verify('limited', who.session, NO_PATTERN)).status).toBe(422)
    expectLimited(await verify('limited', who.session, NO_PATTERN))
    expectLimited(await verify('limited', who.session, who.fresh()))
    const { session } = await service.bootstrap('limited')
    expectLimited(await verify('limited', session, who.fresh()))
    expectLimited(await enrollOne('limited', session, who.fresh()))
  })

  it('do not limit the code or other members', async () => {
    const who = await enroll(service, 'limited-typing')
    const code = { securityCode: '749205' }
    await service.call('PUT', '/users/limited-typing/security-code', { session: who.session, body: code })
    for (let i = 0; i < LIMIT; i++) await verify('limited-typing', who.session, NO_PATTERN)
    expectLimited(await verify('limited-typing', who.session, who.fresh()))
    expect((await verify('limited-typing', who.session, code)).json.action).toBe('verified')
    const other = await enroll(service, 'not-limited')
    expect((await verify('not-limited', other.session, stranger())).json.action).toBe('rejected')
  })

  it('include machines and replays on enroll', async () => {
    const who = await enroll(service, 'limited-enroll', 1)
    const even = (ms: number) => wirePattern([...text(1)].map((letter, i) => [letter, i * ms, i * ms + 60]))
    for (let i = 0; i < LIMIT; i++) {
      const [body, wanted] = [
        [NO_PATTERN, 'invalid-data'],
        [even(100 + i), 'detection-bot'],
        [who.first, 'fraud-detected'],
      ][i % 3] as [unknown, string]
      const { status, json } = await enrollOne('limited-enroll', who.session, body)
      expect([status, json.reason]).toEqual([422, wanted])
    }
    expectLimited(await enrollOne('limited-enroll', who.session, who.fresh()))
    expect((await service.bootstrap('limited-enroll')).json.nPatternsRef).toBe(1)
  })

  it('are answered with 422 at most twenty times of 100 at once', async () => {
    const who = await enroll(service, 'limited-storm', 1)
    const all = await Promise.all(
      Array.from({ length: 100 }, () => enrollOne('limited-storm', who.session, NO_PATTERN)),
    )
    const answers = (wanted: number) => all.filter(({ status }) => status === wanted).length
    // A busy machine may answer 503.
    expect(answers(422)).toBeLessThanOrEqual(LIMIT)
    expect(answers(422) + answers(503)).toBeGreaterThanOrEqual(LIMIT)
    expect(answers(422) + answers(429) + answers(503)).toBe(100)
    await until(async () => (await enrollOne('limited-storm', who.session, NO_PATTERN)).status === 429)
  })
})
