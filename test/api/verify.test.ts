import { describe, expect, it } from 'vitest'
import { person } from '../../src/typist/made-up-person.js'
import { enroll, machine, stranger, text, verifyOf } from '../harness/enrolled.js'
import { sharedService } from '../harness/service.js'

const service = await sharedService()
const verify = (userRef: string, session: string, body: unknown) => verifyOf(service, userRef, body, session)

describe('POST /users/{userRef}/verify', () => {
  it('answers authenticated true exactly if the action is auth', async () => {
    const who = await enroll(service, 'fields')
    const { status, json } = await verify('fields', who.session, who.fresh())
    expect(json.authentication.authenticated).toBe(json.authentication.recommendedAction === 'auth')
    expect(json.authentication).toMatchObject({ authMethod: 'biometric', nPatternsRef: 5, nPatternsRefUsed: 5 })
    expect(json.refPatternsStatus).toEqual({ textVisible: 'ok', textSensitive: 'none' })
    expect([status, json]).toMatchObject([200, { biometricStatus: 'ok', enrollmentRequired: false, reason: '' }])
  })

  it('distinguishes owners from strangers', async () => {
    const own: number[] = []
    const strange: number[] = []
    for (let i = 0; i < 12; i++) {
      const { userRef, session, fresh } = await enroll(service, `pair-${i}`)
      const other = person(800 + i).types(text(i), i)
      own.push((await verify(userRef, session, fresh())).json.authentication.confidenceBiometrics)
      strange.push((await verify(userRef, session, other)).json.authentication.confidenceBiometrics)
    }
    const wins = own.flatMap((mine) => strange.map((theirs) => (mine > theirs ? 1 : mine === theirs ? 0.5 : 0)))
    expect(wins.reduce<number>((a, b) => a + b, 0) / wins.length).toBeGreaterThan(0.9)
  })

  it('blocks a replay with fraud-detected, in this session or another, also of a reference', async () => {
    const who = await enroll(service, 'replay')
    const body = who.fresh()
    await verify('replay', who.session, body)
    const another = (await service.bootstrap('replay')).session
    for (const [session, sent] of [
      [who.session, body],
      [another, body],
      [another, who.first],
    ] as const) {
      const { status, json } = await verify('replay', session, sent)
      expect([status, json.reason, json.authentication.recommendedAction]).toEqual([200, 'fraud-detected', 'block'])
      expect(json.authentication.authenticated).toBe(false)
    }
  })

  it('blocks a machine with detection-bot', async () => {
    const who = await enroll(service, 'bot')
    const { status, json } = await verify('bot', who.session, machine(100))
    expect([status, json.reason, json.authentication.recommendedAction]).toEqual([200, 'detection-bot', 'block'])
  })

  it('requires enrollment if the profile is not complete, and scores nothing', async () => {
    const who = await enroll(service, 'half', 3)
    const { json } = await verify('half', who.session, who.fresh())
    expect(json).toMatchObject({ action: 'enroll', actions: ['enroll'], enrollmentRequired: true })
    expect(json).toMatchObject({ biometricStatus: 'in-progress', refusedBecause: null, nextAttempt: null })
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

  it('"refused is free": a correct pattern under the lock of a member uses no attempt', async () => {
    const who = await enroll(service, 'free')
    for (let i = 0; i < 3; i++) await verify('free', who.session, stranger())
    const { session } = await service.bootstrap('free')
    for (let i = 0; i < 2; i++) await verify('free', session, stranger())
    for (let i = 0; i < 4; i++) {
      const { json } = await verify('free', session, who.fresh())
      expect(json).toMatchObject({ action: 'refused', actions: ['wait'], refusedBecause: 'typing-locked' })
      expect(json.nextAttempt).toMatchObject({ mode: 'locked', remainingBiometricAttempts: 1 })
    }
    const state = (await service.call('GET', '/users/free', { session })).json
    expect(state).toMatchObject({ sessionId: session, nextAttempt: { mode: 'locked', remainingBiometricAttempts: 1 } })
    expect((await service.bootstrap('free')).json.nextAttempt).toMatchObject({ remainingBiometricAttempts: 3 })
    expect((await service.dashboard('POST', '/users/free/actions', { body: { action: 'unlock' } })).status).toBe(200)
    expect((await service.bootstrap('free')).json.nextAttempt).toBeNull()
    expect((await verify('free', session, stranger())).json).toMatchObject({ action: 'rejected', refusedBecause: null })
    expect((await verify('free', session, who.fresh())).json.refusedBecause).toBe('session-used-up')
  })

  it("does not count an invalid pattern, nor one with another person's member_ref", async () => {
    const who = await enroll(service, 'garbage')
    for (const [body, status] of [
      [{ no: 'pattern' }, 422],
      [{ ...(who.fresh() as object), member_ref: 'else' }, 400],
    ] as const) {
      const answer = await verify('garbage', who.session, body)
      expect([answer.status, answer.json.reason]).toEqual([status, 'invalid-data'])
    }
    const { json } = await verify('garbage', who.session, stranger())
    expect(json.nextAttempt.remainingBiometricAttempts).toBe(2)
  })
})
