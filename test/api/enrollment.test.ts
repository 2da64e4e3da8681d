import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { person, wirePattern } from '../../src/typist/made-up-person.js'
import { sharedService, type TestService } from '../service.js'
import { enroll, text } from './enrolled.js'

let service: TestService
beforeAll(async () => {
  service = await sharedService()
})
afterAll(() => service.close())

describe('GET /users/{userRef}', () => {
  it('answers an unknown user with 404, the onboarding state, words and a session', async () => {
    const { status, json, session } = await service.bootstrap('nobody')
    expect(status).toBe(404)
    expect(json).toMatchObject({
      success: false,
      reason: 'user-not-found',
      userRef: 'nobody',
      biometricStatus: 'not-ready',
      nPatternsRef: 0,
      targetRefPatterns: 5,
      suggestedWordsLanguage: 'en',
    })
    expect(json.suggestedWords.join(' ').length).toBeGreaterThanOrEqual(40)
    expect(session).toMatch(/^[A-Za-z0-9_-]{43}$/)
    expect(json.sessionId).toBe(session)
  })

  it('keeps one session from the onboarding state to the enrollment', async () => {
    const { session } = await service.bootstrap('onboard')
    await service.call('POST', '/users/onboard')
    const answer = await service.call('POST', '/users/onboard/typing-patterns', {
      session,
      body: person(901).types(text(1), 1),
    })
    expect(answer.json).toMatchObject({ success: true, nPatternsRef: 1, created: true })
  })

  it('echoes a live session of the same user and replaces any other value', async () => {
    await service.call('POST', '/users/echo-a')
    const { session } = await service.bootstrap('echo-a')
    const again = await service.call('GET', '/users/ECHO-A', { session })
    expect(again.headers.get('x-service-session')).toBe(session)
    for (const foreign of [session, 'x'.repeat(43), '']) {
      const other = await service.call('GET', '/users/echo-b', { session: foreign })
      expect(other.headers.get('x-service-session')).not.toBe(foreign)
    }
  })

  it('gives words in the requested language, and follows Accept-Language by default', async () => {
    const asked = await service.call('GET', '/users/echo-a?language=fr')
    expect(asked.json.suggestedWordsLanguage).toBe('fr')
    const accepted = await service.call('GET', '/users/echo-a', { headers: { 'accept-language': 'de-AT, en;q=0.5' } })
    expect(accepted.json.suggestedWordsLanguage).toBe('de')
  })

  it('refuses another member_ref on a nominative account with 400', async () => {
    const answer = await service.call('GET', '/users/echo-a?member_ref=else')
    expect([answer.status, answer.json.reason]).toEqual([400, 'invalid-data'])
    expect((await service.call('GET', '/users/echo-a?member_ref=Echo-A')).status).toBe(200)
  })
})

describe('POST /users/{userRef}', () => {
  it('creates with 201 and answers 200 with the same account afterwards', async () => {
    const made = await service.call('POST', '/users/Once%20Only', { body: { user_display_name: 'Once' } })
    const again = await service.call('POST', '/users/once-only', { body: {} })
    expect([made.status, again.status]).toEqual([201, 200])
    expect([made.json.created, again.json.created]).toEqual([true, false])
    expect(again.json.accountRef).toBe(made.json.accountRef)
    expect(made.json).toMatchObject({ userRef: 'once-only', memberRef: 'once-only', accountType: 'nominative' })
  })

  it('creates exactly one account for 50 parallel creations', async () => {
    const all = await Promise.all(Array.from({ length: 50 }, () => service.call('POST', '/users/parallel')))
    expect(all.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(new Set(all.map(({ json }) => json.accountRef)).size).toBe(1)
  })
})

describe('POST /users/{userRef}/typing-patterns', () => {
  it('counts up to ok at five patterns', async () => {
    await service.call('POST', '/users/five')
    const { session } = await service.bootstrap('five')
    for (let n = 1; n <= 5; n++) {
      const { json } = await service.call('POST', '/users/five/typing-patterns', {
        session,
        body: person(902).types(text(n), n),
      })
      expect(json).toMatchObject({
        nPatternsRef: n,
        created: true,
        biometricStatus: n < 5 ? 'in-progress' : 'ok',
        accountType: 'nominative',
      })
    }
    expect((await service.bootstrap('five')).json).toMatchObject({ biometricStatus: 'ok', nPatternsRef: 5 })
  })

  it('stores at most five references of 20 parallel ones, and answers each with the current state', async () => {
    await service.call('POST', '/users/race')
    const { session } = await service.bootstrap('race')
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        service.call('POST', '/users/race/typing-patterns', { session, body: person(903).types(text(n), n) }),
      ),
    )
    expect(all.filter(({ status, json }) => status === 200 && json.created)).toHaveLength(5)
    expect((await service.bootstrap('race')).json.nPatternsRef).toBe(5)
  })

  it('refuses a sixth with 409 unless the session has just authenticated', async () => {
    const who = await enroll(service, 'sixth')
    const before = await service.call('POST', '/users/sixth/typing-patterns', {
      session: who.session,
      body: who.fresh(),
    })
    expect([before.status, before.json.reason]).toEqual([409, 'invalid-action'])
    for (let attempt = 0; attempt < 3; attempt++) {
      const { json } = await service.call('POST', '/users/sixth/verify', { session: who.session, body: who.fresh() })
      if (json.authentication.authenticated) break
    }
    const after = await service.call('POST', '/users/sixth/typing-patterns', {
      session: who.session,
      body: who.fresh(),
    })
    expect(after.json).toMatchObject({ success: true, created: true, nPatternsRef: 6 })
  })

  it('refuses a missing, invented or foreign session with a 400 that explains the bootstrap', async () => {
    await service.call('POST', '/users/sess-a')
    const { session: foreign } = await service.bootstrap('sess-b')
    for (const session of [undefined, 'made-up', foreign]) {
      const { status, json } = await service.call('POST', '/users/sess-a/typing-patterns', {
        session,
        body: person(904).types(text(1), 1),
      })
      expect([status, json.reason]).toEqual([400, 'invalid-data'])
      expect(json.message).toContain('GET /users/{userRef}')
    }
  })

  it('answers 404 where the account does not exist', async () => {
    const { session } = await service.bootstrap('ghost')
    const answer = await service.call('POST', '/users/ghost/typing-patterns', {
      session,
      body: person(905).types(text(1), 1),
    })
    expect([answer.status, answer.json.reason]).toEqual([404, 'user-not-found'])
  })

  it('refuses a pattern that was seen before, from any user, with 422 fraud-detected', async () => {
    const body = person(906).types(text(1), 1)
    for (const [userRef, status] of [
      ['seen-a', 200],
      ['seen-a', 422],
      ['seen-b', 422],
    ] as const) {
      await service.call('POST', `/users/${userRef}`)
      const { session } = await service.bootstrap(userRef)
      const answer = await service.call('POST', `/users/${userRef}/typing-patterns`, { session, body })
      expect([answer.status, answer.json.reason]).toEqual([status, status === 422 ? 'fraud-detected' : undefined])
    }
  })

  it('refuses a machine with 422 detection-bot', async () => {
    await service.call('POST', '/users/machine')
    const { session } = await service.bootstrap('machine')
    const body = wirePattern([...text(1)].map((letter, i) => [letter, i * 130, i * 130 + 70]))
    const answer = await service.call('POST', '/users/machine/typing-patterns', { session, body })
    expect([answer.status, answer.json.reason]).toEqual([422, 'detection-bot'])
  })

  it('refuses an invalid pattern with 422 and stores nothing', async () => {
    await service.call('POST', '/users/bad')
    const { session } = await service.bootstrap('bad')
    const good = person(907).types(text(1), 1)
    const bad = [
      {},
      [],
      'x',
      null,
      { ...good, version: '2.0.0' },
      { ...good, kevt: 'x' },
      { ...good, kevt: [], k: [] },
      person(908).types('too short', 1),
    ]
    for (const body of bad) {
      const answer = await service.call('POST', '/users/bad/typing-patterns', { session, body })
      expect([answer.status, answer.json.reason], JSON.stringify(answer.json)).toEqual([422, 'invalid-data'])
    }
    expect((await service.bootstrap('bad')).json.nPatternsRef).toBe(0)
  })
})

describe('DELETE', () => {
  it('of the typing patterns resets the profile and ends its sessions', async () => {
    const who = await enroll(service, 'wipe')
    const { json } = await service.call('DELETE', '/users/wipe/typing-patterns')
    expect(json).toMatchObject({ success: true, n_patterns_deleted: 5, biometricStatus: 'reset' })
    expect((await service.bootstrap('wipe')).json).toMatchObject({ nPatternsRef: 0, biometricStatus: 'reset' })
    const late = await service.call('POST', '/users/wipe/typing-patterns', {
      session: who.session,
      body: who.fresh(),
    })
    expect(late.status).toBe(400)
  })

  it('of one pattern takes the profile from ok to in-progress, and an unknown id is 404', async () => {
    const who = await enroll(service, 'one-less', 4)
    const fifth = await service.call('POST', '/users/one-less/typing-patterns', {
      session: who.session,
      body: who.fresh(),
    })
    const gone = await service.call('DELETE', `/users/one-less/typing-patterns/${fifth.json.patternId}`)
    expect(gone.json).toMatchObject({ success: true, nPatternsRef: 4, biometricStatus: 'in-progress' })
    const again = await service.call('DELETE', `/users/one-less/typing-patterns/${fifth.json.patternId}`)
    expect(again.status).toBe(404)
  })

  it('of the account removes it with its patterns and sessions', async () => {
    const who = await enroll(service, 'leaver', 2)
    const { json } = await service.call('DELETE', '/users/leaver')
    expect(json).toMatchObject({ success: true, user_id: 'leaver', n_patterns_deleted: 2 })
    expect((await service.bootstrap('leaver')).status).toBe(404)
    expect((await service.call('DELETE', '/users/leaver')).json.reason).toBe('user-not-found')
    expect(
      (await service.call('POST', '/users/leaver/verify', { session: who.session, body: who.fresh() })).status,
    ).toBe(400)
  })
})
