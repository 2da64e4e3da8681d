import { describe, expect, it } from 'vitest'
import { enroll, machine, stranger, verifyOf } from '../harness/enrolled.js'
import { type Answer, sharedService } from '../harness/service.js'

const LIMIT = 20
const NO_PATTERN = { no: 'pattern' }
const service = await sharedService()

describe('patterns that are refused', () => {
  const verify = (userRef: string, session: string, body: unknown) => verifyOf(service, userRef, body, session)
  const enrolls = (userRef: string, session: string, body: unknown) =>
    service.call('POST', `/users/${userRef}/typing-patterns`, { session, body })
  const expectLimited = ({ status, json, headers }: Answer) => {
    expect([status, json.reason], json.message).toEqual([429, 'quota-exceeded'])
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(10 * 60)
    expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(15 * 60)
  }

  it('"do not count but are limited (20 in 15 min a member)": then typing is not scored, but codes and other members are', async () => {
    const { session, fresh } = await enroll(service, 'limited')
    const code = { securityCode: '749205' }
    await service.call('PUT', '/users/limited/security-code', { session, body: code })
    for (let i = 0; i < LIMIT; i++) expect((await verify('limited', session, NO_PATTERN)).status).toBe(422)
    expectLimited(await verify('limited', session, NO_PATTERN))
    expectLimited(await verify('limited', session, fresh()))
    expectLimited(await verifyOf(service, 'limited', fresh()))
    expectLimited(await enrolls('limited', session, fresh()))
    expect((await verify('limited', session, code)).json.action).toBe('verified')
    const other = await enroll(service, 'not-limited')
    expect((await verify('not-limited', other.session, stranger())).json.action).toBe('rejected')
  })

  it('include machines and replays on enroll', async () => {
    const { session, first, fresh } = await enroll(service, 'limited-enroll', 1)
    for (let i = 0; i < LIMIT; i++) {
      const [body, wanted] = [
        [NO_PATTERN, 'invalid-data'],
        [machine(100 + i), 'detection-bot'],
        [first, 'fraud-detected'],
      ][i % 3] as [unknown, string]
      const { status, json } = await enrolls('limited-enroll', session, body)
      expect([status, json.reason]).toEqual([422, wanted])
    }
    expectLimited(await enrolls('limited-enroll', session, fresh()))
    expect((await service.bootstrap('limited-enroll')).json.nPatternsRef).toBe(1)
  })
})
