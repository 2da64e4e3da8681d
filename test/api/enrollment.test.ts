import { describe, expect, it } from 'vitest'
import { person } from '../../src/typist/made-up-person.js'
import { authenticated, enroll, enrollOne, machine, sincere, text, verifyOf } from '../harness/enrolled.js'
import { sharedService } from '../harness/service.js'

const service = await sharedService()

describe('GET /users/{userRef}', () => {
  it('answers an unknown user with 404, the onboarding state, words and a session', async () => {
    const { status, json, session } = await service.bootstrap('nobody')
    expect([status, json.reason]).toEqual([404, 'user-not-found'])
    expect(json).toMatchObject({ userRef: 'nobody', biometricStatus: 'not-ready', nPatternsRef: 0 })
    expect(json.suggestedWords.join(' ').length).toBeGreaterThanOrEqual(40)
    expect(session).toMatch(/^[A-Za-z0-9_-]{43}$/)
    expect(json.sessionId).toBe(session)
  })

  it('refuses another member_ref on a nominative account with 400', async () => {
    await service.call('POST', '/users/echo-a')
    const answer = await service.call('GET', '/users/echo-a?member_ref=else')
    expect([answer.status, answer.json.reason]).toEqual([400, 'invalid-data'])
    expect((await service.call('GET', '/users/echo-a?member_ref=Echo-A')).status).toBe(200)
  })
})

describe('POST /users/{userRef}', () => {
  it('creates with 201 and answers 200 with the same account afterwards', async () => {
    const made = await service.call('POST', '/users/Once%20Only', { body: { user_display_name: 'Once' } })
    const again = await service.call('POST', '/users/once-only', { body: {} })
    expect([made.status, made.json.created, again.status, again.json.created]).toEqual([201, true, 200, false])
    expect(again.json.accountRef).toBe(made.json.accountRef)
    expect(made.json).toMatchObject({ userRef: 'once-only', memberRef: 'once-only', accountType: 'nominative' })
  })
})

describe('POST /users/{userRef}/typing-patterns', () => {
  it('counts up to ok at five patterns, in the session of the onboarding state', async () => {
    const { session } = await service.bootstrap('five')
    await service.call('POST', '/users/five')
    let typed = 0
    const fresh = () => person(902).types(text(++typed), typed)
    for (let n = 1; n <= 5; n++) {
      const send = (body: unknown) => service.call('POST', '/users/five/typing-patterns', { session, body })
      const { json } = await sincere(send, fresh)
      expect(json).toMatchObject({ nPatternsRef: n, created: true, biometricStatus: n < 5 ? 'in-progress' : 'ok' })
    }
    expect((await service.bootstrap('five')).json).toMatchObject({ biometricStatus: 'ok', nPatternsRef: 5 })
  })

  it('refuses a sixth with 409 unless typing has just succeeded in the session: a code does not suffice', async () => {
    const who = await enroll(service, 'sixth')
    const code = { securityCode: '749205' }
    await service.call('PUT', '/users/sixth/security-code', { session: who.session, body: code })
    for (const prove of [async () => {}, () => verifyOf(service, 'sixth', code, who.session)]) {
      await prove()
      const { status, json } = await enrollOne(service, who)
      expect([status, json.reason]).toEqual([409, 'invalid-action'])
    }
    const { json } = await enrollOne(service, who, await authenticated(service, who))
    expect(json).toMatchObject({ created: true, nPatternsRef: 6 })
  })

  it('refuses a machine and an invalid pattern with 422, and stores nothing', async () => {
    await service.call('POST', '/users/bad')
    const { session } = await service.bootstrap('bad')
    const good = person(907).types(text(1), 1)
    for (const [body, reason] of [
      [machine(130), 'detection-bot'],
      [{}, 'invalid-data'],
      [[], 'invalid-data'],
      [null, 'invalid-data'],
      [{ ...good, version: '2.0.0' }, 'invalid-data'],
      [{ ...good, kevt: [], k: [] }, 'invalid-data'],
      [person(908).types('too short', 1), 'invalid-data'],
    ]) {
      const { status, json } = await service.call('POST', '/users/bad/typing-patterns', { session, body })
      expect([status, json.reason], json.message).toEqual([422, reason])
    }
    expect((await service.bootstrap('bad')).json.nPatternsRef).toBe(0)
  })
})

describe('DELETE', () => {
  it('of the typing patterns resets the profile, ends its sessions and unlocks', async () => {
    const who = await enroll(service, 'wipe')
    await service.dashboard('POST', '/users/wipe/actions', { body: { action: 'lock' } })
    const { json } = await service.call('DELETE', '/users/wipe/typing-patterns')
    expect(json).toMatchObject({ n_patterns_deleted: 5, biometricStatus: 'reset', nPatternsRef: 0 })
    expect((await enrollOne(service, who)).status).toBe(400)
    const { session } = await service.bootstrap('wipe')
    for (let n = 1; n <= 5; n++) expect((await enrollOne(service, who, session)).json.nPatternsRef).toBe(n)
    expect((await verifyOf(service, 'wipe', who.fresh())).json.action).toMatch(/^(verified|rejected)$/)
  })

  it('of one pattern takes the profile from ok to in-progress, and an unknown id is 404', async () => {
    const who = await enroll(service, 'one-less', 4)
    const { patternId } = (await enrollOne(service, who)).json
    const remove = () => service.call('DELETE', `/users/one-less/typing-patterns/${patternId}`)
    expect((await remove()).json).toMatchObject({ nPatternsRef: 4, biometricStatus: 'in-progress' })
    expect((await remove()).status).toBe(404)
  })

  it('of the account removes it with its patterns and sessions', async () => {
    const who = await enroll(service, 'leaver', 2)
    const { json } = await service.call('DELETE', '/users/leaver')
    expect(json).toMatchObject({ user_id: 'leaver', n_patterns_deleted: 2 })
    expect((await service.bootstrap('leaver')).status).toBe(404)
    expect((await service.call('DELETE', '/users/leaver')).json.reason).toBe('user-not-found')
    expect((await verifyOf(service, 'leaver', who.fresh(), who.session)).status).toBe(400)
  })
})
