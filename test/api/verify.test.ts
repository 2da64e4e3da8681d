import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { person, wirePattern } from '../../src/typist/made-up-person.js'
import { sharedService, type TestService } from '../service.js'
import { enroll, stranger, text } from './enrolled.js'

let service: TestService
beforeAll(async () => {
  service = await sharedService()
})
afterAll(() => service.close())

const verify = (userRef: string, session: string, body: unknown) =>
  service.call('POST', `/users/${userRef}/verify`, { session, body })

/** Another person with typical typing. */
const other = (i: number) => person(800 + i).types(text(i), i)

describe('POST /users/{userRef}/verify', () => {
  it('answers every field, with authenticated true exactly if the action is auth', async () => {
    const who = await enroll(service, 'fields')
    const { status, json } = await verify('fields', who.session, who.fresh())
    expect(status).toBe(200)
    expect(json.authentication.authenticated).toBe(json.authentication.recommendedAction === 'auth')
    expect(json.authentication).toMatchObject({ authMethod: 'biometric', nPatternsRef: 5, nPatternsRefUsed: 5 })
    expect(json.refPatternsStatus).toEqual({ textVisible: 'ok', textSensitive: 'none' })
    expect(json).toMatchObject({ biometricStatus: 'ok', enrollmentRequired: false, reason: '' })
  })

  it('distinguishes owners from strangers', async () => {
    const own: number[] = []
    const strange: number[] = []
    for (let i = 0; i < 12; i++) {
      const who = await enroll(service, `pair-${i}`)
      own.push((await verify(who.userRef, who.session, who.fresh())).json.authentication.confidenceBiometrics)
      strange.push((await verify(who.userRef, who.session, other(i))).json.authentication.confidenceBiometrics)
    }
    const wins = own.flatMap((mine) => strange.map((theirs) => (mine > theirs ? 1 : mine === theirs ? 0.5 : 0)))
    expect(wins.reduce<number>((a, b) => a + b, 0) / wins.length).toBeGreaterThan(0.9)
  })

  it('blocks a replay with fraud-detected, in this session or another', async () => {
    const who = await enroll(service, 'replay')
    const body = who.fresh()
    await verify('replay', who.session, body)
    for (const session of [who.session, (await service.bootstrap('replay')).session]) {
      const { status, json } = await verify('replay', session, body)
      expect([status, json.reason, json.authentication.recommendedAction]).toEqual([200, 'fraud-detected', 'block'])
      expect(json.authentication.authenticated).toBe(false)
    }
  })

  it('blocks a replayed reference', async () => {
    const who = await enroll(service, 'replay-ref')
    const { json } = await verify('replay-ref', who.session, who.first)
    expect([json.reason, json.authentication.recommendedAction]).toEqual(['fraud-detected', 'block'])
  })

  it('blocks a machine with detection-bot', async () => {
    const who = await enroll(service, 'bot')
    const even = wirePattern([...text(3)].map((letter, i) => [letter, i * 100, i * 100 + 60]))
    const { status, json } = await verify('bot', who.session, even)
    expect([status, json.reason, json.authentication.recommendedAction]).toEqual([200, 'detection-bot', 'block'])
  })

  it('requires enrollment if the profile is not complete, and scores nothing', async () => {
    const who = await enroll(service, 'half', 3)
    const { status, json } = await verify('half', who.session, who.fresh())
    expect(status).toBe(200)
    expect(json).toMatchObject({
      action: 'enroll',
      actions: ['enroll'],
      enrollmentRequired: true,
      biometricStatus: 'in-progress',
      refusedBecause: null,
      nextAttempt: null,
    })
    expect(json.authentication).toMatchObject({ authenticated: false, recommendedAction: 'challenge' })
  })

  it('gives a session three attempts, with the remaining number, then locks', async () => {
    const who = await enroll(service, 'budget')
    for (const remaining of [2, 1, 0]) {
      const { json } = await verify('budget', who.session, stranger())
      expect(json.action).toBe('rejected')
      expect(json.nextAttempt).toMatchObject({
        mode: remaining > 0 ? 'biometric' : 'locked',
        remainingBiometricAttempts: remaining,
        suggestedWordsLanguage: 'en',
      })
    }
    const { json } = await verify('budget', who.session, who.fresh())
    expect(json).toMatchObject({ action: 'refused', nextAttempt: { mode: 'locked' } })
    expect(json.authentication.authenticated).toBe(false)
  })

  it('keeps the member-wide lock over new sessions, and does not score a correct pattern under it', async () => {
    const who = await enroll(service, 'ladder')
    let failures = 0
    while (failures < 5) {
      const { session } = await service.bootstrap('ladder')
      for (let i = 0; i < 3 && failures < 5; i++) {
        const { json } = await verify('ladder', session, stranger())
        expect(json.action).toBe('rejected')
        failures++
      }
    }
    const { session } = await service.bootstrap('ladder')
    const { json } = await verify('ladder', session, who.fresh())
    expect(json).toMatchObject({ action: 'refused', actions: ['wait'], nextAttempt: { mode: 'locked' } })
    expect(json.nextAttempt.retryAfterSeconds).toBeGreaterThan(0)
    expect(json.nextAttempt.retryAfterSeconds).toBeLessThanOrEqual(30)
  })

  it('"refused is free": a correct pattern under a lock uses no attempt, and signs in after the lock', async () => {
    const who = await enroll(service, 'free')
    for (let i = 0; i < 3; i++) await verify('free', who.session, stranger())
    const { session } = await service.bootstrap('free')
    for (let i = 0; i < 2; i++) await verify('free', session, stranger())
    for (let i = 0; i < 4; i++) {
      const { json } = await verify('free', session, who.fresh())
      expect(json).toMatchObject({ action: 'refused', refusedBecause: 'typing-locked' })
      expect(json.nextAttempt).toMatchObject({ mode: 'locked', remainingBiometricAttempts: 1 })
      expect(json.nextAttempt.retryAfterSeconds).toBeGreaterThan(0)
    }
    expect((await verify('free', who.session, who.fresh())).json.refusedBecause).toBe('typing-locked')
    const state = (await service.call('GET', '/users/free', { session })).json
    expect(state).toMatchObject({
      sessionId: session,
      nextAttempt: { mode: 'locked', remainingBiometricAttempts: 1 },
    })
    expect(state.nextAttempt.retryAfterSeconds).toBeGreaterThan(0)
    expect((await service.bootstrap('free')).json.nextAttempt).toMatchObject({ remainingBiometricAttempts: 3 })
    expect((await service.dashboard('POST', '/users/free/actions', { body: { action: 'unlock' } })).status).toBe(200)
    expect((await service.bootstrap('free')).json.nextAttempt).toBeNull()
    expect((await verify('free', session, stranger())).json).toMatchObject({
      action: 'rejected',
      refusedBecause: null,
    })
    expect((await verify('free', session, who.fresh())).json).toMatchObject({
      action: 'refused',
      refusedBecause: 'session-used-up',
    })
  })

  it('does not count an invalid pattern', async () => {
    const who = await enroll(service, 'garbage')
    for (let i = 0; i < 5; i++) expect((await verify('garbage', who.session, { no: 'pattern' })).status).toBe(422)
    const { json } = await verify('garbage', who.session, stranger())
    expect(json.nextAttempt.remainingBiometricAttempts).toBe(2)
  })

  it("refuses a pattern with another person's member_ref with 400, and does not count it", async () => {
    const who = await enroll(service, 'member-ref')
    const { status, json } = await verify('member-ref', who.session, {
      ...(who.fresh() as object),
      member_ref: 'else',
    })
    expect([status, json.reason]).toEqual([400, 'invalid-data'])
    expect((await verify('member-ref', who.session, stranger())).json.nextAttempt.remainingBiometricAttempts).toBe(2)
  })

  it('scores at most the budget out of 60 parallel attempts in one session', async () => {
    const who = await enroll(service, 'storm')
    const all = await Promise.all(Array.from({ length: 60 }, () => verify('storm', who.session, stranger())))
    expect(all.every(({ status }) => status === 200)).toBe(true)
    expect(all.filter(({ json }) => json.action === 'rejected')).toHaveLength(3)
    expect(all.filter(({ json }) => json.authentication.authenticated)).toHaveLength(0)
  })

  it('scores at most five parallel attempts over twenty sessions, then the lock applies', async () => {
    await enroll(service, 'flood')
    const sessions = await Promise.all(
      Array.from({ length: 20 }, async () => (await service.bootstrap('flood')).session),
    )
    const all = await Promise.all(
      sessions.flatMap((session) => [1, 2, 3].map(() => verify('flood', session, stranger()))),
    )
    expect(all.filter(({ json }) => json.action === 'rejected')).toHaveLength(5)
  })
})
