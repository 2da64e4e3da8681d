import { v7 as uuid } from 'uuid'
import { describe, expect, it } from 'vitest'
import { person } from '../../src/typist/made-up-person.js'
import { type Enrolled, enroll, machine, sincere, stranger, text, verifyOf } from '../harness/enrolled.js'
import { redisUrl, sharedService, type TestService } from '../harness/service.js'
import { ownRows } from './own-rows.js'
import { speakingFor } from './second-service.js'

const CODE = '749205'
const OTHER = '480653'
const USER = { 'x-enrollment': 'USER' }
const RESET = { action: 'RESET_BIOMETRIC_PROFILE' }

const service = await sharedService()
const rows = ownRows(service)

type Options = Parameters<TestService['call']>[2]
const userVerify = (userRef: string, body: unknown, options: Options = {}) =>
  service.call('POST', `/user-verify/${userRef}`, { body, ...options })
const userAction = (userRef: string, body: unknown, options: Options = {}) =>
  service.call('POST', `/user-action/${userRef}`, { body, ...options })
const state = async (userRef: string) => (await service.bootstrap(userRef)).json
/** A person who types, without an account. */
function typist(seed: number) {
  const who = person(seed)
  let n = 0
  return () => who.types(text(++n), n)
}

/** Number of recorded attempts. */
const recorded = async (userRef: string) =>
  (await rows((sql) => sql`select 1 from keystride.authentication where user_ref = ${userRef}`)).length

/** Repeats the owner's typing until it is recognized, at most three times. */
async function recognized({ userRef, fresh }: Pick<Enrolled, 'userRef' | 'fresh'>, options: Options = {}) {
  for (let tries = 1; ; tries++) {
    const answer = await userVerify(userRef, fresh(), options)
    if (answer.json.authentication.authenticated || tries === 3) return answer
  }
}

/** A session in which the owner has just authenticated. */
async function authenticated(who: Enrolled): Promise<string> {
  const { session } = await service.bootstrap(who.userRef)
  expect((await recognized(who, { session })).json.action).toBe('verified')
  return session
}

/** Enrolls by the action, in a session or without one. */
const linkPattern = ({ userRef, fresh }: Pick<Enrolled, 'userRef' | 'fresh'>, session?: string) =>
  sincere((pattern) => userAction(userRef, { action: 'LINK_PATTERN', pattern }, { session }), fresh)
const link = (userRef: string, patternId: string, session?: string) =>
  userAction(userRef, { action: 'LINK_PATTERN_ID', patternId }, { session })
/** The id of a tested pattern of this member that is neither a bot's nor a replay. */
async function testedBy({ userRef, fresh }: Enrolled): Promise<string> {
  const { session } = await service.bootstrap(userRef)
  const { json } = await sincere((body) => userVerify(userRef, body, { session }), fresh)
  return json.authentication.patternTestId
}

describe('POST /user-verify/{userRef}', () => {
  it('"needs no prior bootstrap": it verifies the owner, and records it as verify does', async () => {
    const who = await enroll(service, 'legacy')
    const { headers, json } = await recognized(who)
    expect(json).toMatchObject({ action: 'verified', nextAttempt: null, reason: '', biometricStatus: 'ok' })
    expect(json.authentication).toMatchObject({ authMethod: 'biometric', nPatternsRef: 5, nPatternsRefUsed: 5 })
    expect(headers.get('link')).toBe('<../users/legacy/verify>; rel="successor-version"')
    const [row] = await rows(
      (sql) => sql`select authenticated, session_id from keystride.authentication
          where id = ${json.authentication.id as string}`,
    )
    expect(row).toMatchObject({ authenticated: true, session_id: expect.stringMatching(/^[0-9a-f]{16}$/) })
  })

  it('"can create the user when the request header x-enrollment has the value USER", up to a verified sign-in', async () => {
    const newcomer = { userRef: 'newcomer', fresh: typist(9_031) }
    for (let stored = 1; stored <= 5; stored++) {
      const { json } = await sincere((body) => userVerify('newcomer', body, { headers: USER }), newcomer.fresh)
      const complete = stored === 5
      expect(json).toMatchObject({
        action: 'enroll',
        reason: '',
        biometricStatus: complete ? 'ok' : 'in-progress',
        enrollmentRequired: !complete,
        actions: complete ? ['retry-biometric'] : ['enroll'],
        // Regression: the attempt was locked, without a wait.
        nextAttempt: { mode: 'biometric', retryAfterSeconds: 0 },
      })
      const { authentication } = json
      expect(authentication).toMatchObject({ authenticated: false, recommendedAction: 'challenge' })
      expect([authentication.nPatternsRef, authentication.patternTestId === '']).toEqual([stored, false])
    }
    expect((await recognized(newcomer, { headers: USER })).json).toMatchObject({
      action: 'verified',
      enrollmentRequired: false,
      authentication: { authenticated: true, recommendedAction: 'auth' },
    })
    expect(await state('newcomer')).toMatchObject({ nPatternsRef: 5, biometricStatus: 'ok' })
  })

  it('creates no user without x-enrollment, by another value of it, by a code, or for another member', async () => {
    const wrong: [unknown, Record<string, string>, string, number][] = [
      [stranger(), {}, '', 404],
      [{ securityCode: CODE }, {}, '', 404],
      [{ securityCode: CODE }, USER, '', 404],
      [stranger(), USER, '?member_ref=else', 400],
      ...['user', 'ADMIN', 'USER,USER', 'true'].map((value): [unknown, Record<string, string>, string, number] => [
        stranger(),
        { 'x-enrollment': value },
        '',
        422,
      ]),
    ]
    for (const [body, headers, query, status] of wrong)
      expect((await userVerify(`unknown${query}`, body, { headers })).status).toBe(status)
    expect((await service.bootstrap('unknown')).status).toBe(404)
  })

  it('answers an incomplete profile as verify does without x-enrollment', async () => {
    const who = await enroll(service, 'half', 3)
    const { json } = await userVerify('half', who.fresh())
    expect(json).toMatchObject({ action: 'enroll', actions: ['enroll'], enrollmentRequired: true })
    expect(json.authentication).toMatchObject({ authenticated: false, recommendedAction: 'challenge' })
    expect(await state('half')).toMatchObject({ nPatternsRef: 3 })
  })

  it('answers a bot and a replay with 200 and the reason, to be verified or enrolled, and stores neither', async () => {
    const who = await enroll(service, 'machine')
    for (const [userRef, headers] of [
      ['machine', {}],
      ['machine-new', USER],
    ] as const) {
      for (const [body, reason] of [
        [machine(userRef.length * 10), 'detection-bot'],
        [who.first, 'fraud-detected'],
      ] as const) {
        const { status, json } = await userVerify(userRef, body, { headers })
        expect([status, json.action, json.reason]).toEqual([200, 'rejected', reason])
        expect(json.authentication).toMatchObject({ authenticated: false, recommendedAction: 'block' })
      }
    }
    expect(await state('machine-new')).toMatchObject({ nPatternsRef: 0 })
  })

  it('gives three attempts in 900 seconds without a session, and does not count an invalid pattern', async () => {
    const who = await enroll(service, 'budget')
    expect((await userVerify('budget', { no: 'pattern' })).status).toBe(422)
    for (const remaining of [2, 1, 0]) {
      const { json } = await userVerify('budget', stranger())
      expect(json).toMatchObject({ action: 'rejected', nextAttempt: { remainingBiometricAttempts: remaining } })
    }
    for (const options of [{}, { headers: USER }]) {
      const { json } = await userVerify('budget', who.fresh(), options)
      expect(json).toMatchObject({ action: 'refused', actions: ['wait'], nextAttempt: { mode: 'locked' } })
      expect(json.nextAttempt.retryAfterSeconds).toBeGreaterThan(600)
      expect(json.nextAttempt.retryAfterSeconds).toBeLessThanOrEqual(900)
    }
    expect(await recorded('budget')).toBe(3)
  })

  it('uses the session of the header if given, and is 400 if it is dead', async () => {
    await enroll(service, 'header')
    const { session } = await service.bootstrap('header')
    await verifyOf(service, 'header', stranger(), session)
    const left = async (options: Options) =>
      (await userVerify('header', stranger(), options)).json.nextAttempt.remainingBiometricAttempts
    expect([await left({ session }), await left({})]).toEqual([1, 2])
    await service.call('POST', '/users/elsewhere')
    for (const dead of [(await service.bootstrap('elsewhere')).session, 'made-up'.repeat(6)]) {
      const { status, json } = await userVerify('header', stranger(), { session: dead, headers: USER })
      expect([status, json.reason]).toEqual([400, 'invalid-data'])
    }
  })

  it('judges security codes too, within the budget of its session', async () => {
    await service.call('POST', '/users/coded')
    const { session } = await service.bootstrap('coded')
    await service.call('PUT', '/users/coded/security-code', { session, body: { securityCode: CODE } })
    expect((await userVerify('coded', { securityCode: OTHER })).json).toMatchObject({
      action: 'rejected',
      nextAttempt: { mode: 'security_code', remainingCodeAttempts: 2 },
    })
    expect((await userVerify('coded', { securityCode: CODE, member_ref: 'CODED' })).json).toMatchObject({
      action: 'verified',
      enrollmentRequired: true,
      authentication: { authenticated: true, authMethod: 'security_code' },
    })
    for (let i = 0; i < 3; i++) await userVerify('coded', { securityCode: OTHER })
    expect((await userVerify('coded', { securityCode: CODE })).json).toMatchObject({ action: 'refused' })
    expect((await userVerify('coded', { securityCode: CODE, member_ref: 'else' })).status).toBe(400)
    expect(await recorded('coded')).toBe(5)
  })

  it('keeps the members of a shared account separate, who must be named', async () => {
    for (const member_ref of ['ann', 'bo'])
      await service.call('POST', '/users/desk', { body: { type: 'generic', member_ref } })
    expect((await userVerify('desk', stranger(), { headers: USER })).status).toBe(400)
    expect((await userVerify('desk?member_ref=cy', stranger(), { headers: USER })).status).toBe(404)
    for (const [i, member] of ['ann', 'bo'].entries()) {
      const fresh = typist(9_040 + i)
      for (let complete = false; !complete; ) {
        const { json } = await userVerify(`desk?member_ref=${member}`, fresh(), { headers: USER })
        complete = json.biometricStatus === 'ok'
      }
    }
    for (let i = 0; i < 3; i++) await userVerify('desk', { ...stranger(), member_ref: 'ANN' })
    expect((await userVerify('desk?member_ref=ann', stranger())).json.action).toBe('refused')
    const { json } = await userVerify('desk?member_ref=bo', stranger())
    expect(json).toMatchObject({ action: 'rejected', nextAttempt: { remainingBiometricAttempts: 2 } })
    const ofAnn = { ...RESET, member_ref: 'Ann' }
    expect((await userAction('desk', ofAnn)).json).toMatchObject({ memberRef: 'ann', nPatternsRef: 0 })
    const pattern = { ...person(9_042).types(text(1), 1), member_ref: 'ann' }
    const enrolled = (await userAction('desk', { action: 'LINK_PATTERN', pattern })).json
    expect(enrolled).toMatchObject({ memberRef: 'ann', nPatternsRef: 1 })
    for (const [path, body] of [
      ['desk?member_ref=bo', ofAnn],
      ['desk?member_ref=bo', { action: 'LINK_PATTERN', pattern }],
      ['desk', { action: 'LINK_PATTERN', pattern, member_ref: 'bo' }],
      ['desk', RESET],
    ] as const)
      expect((await userAction(path, body)).status).toBe(400)
    // A session is bound to the first member that a call names.
    const { session } = await service.bootstrap('desk')
    const unknown = { action: 'LINK_PATTERN_ID', patternId: uuid() }
    expect((await userAction('desk?member_ref=ann', unknown, { session })).status).toBe(404)
    expect((await userAction('desk?member_ref=bo', unknown, { session })).status).toBe(400)
    expect((await userVerify('desk?member_ref=bo', stranger(), { session })).status).toBe(400)
  })

  it.skipIf(redisUrl !== null)('has no session that a caller can send', async () => {
    await enroll(service, 'bearer')
    await userVerify('bearer', stranger())
    const [row] = await rows(
      (sql) => sql<{ sha256: Buffer }[]>`
        select sha256 from keystride.session where user_ref = 'bearer' and implicit`,
    )
    const hash = Buffer.from(row?.sha256 ?? '')
    expect(hash).toHaveLength(32)
    for (const session of [hash.toString('hex'), hash.toString('base64url'), hash.toString('hex').slice(0, 16)])
      expect((await userVerify('bearer', stranger(), { session })).status).toBe(400)
  })
})

describe('POST /user-action/{userRef}', () => {
  it('is 422 for an unknown action, and names the known ones', async () => {
    await service.call('POST', '/users/actions')
    for (const body of [{ action: 'DELETE' }, {}, { action: 1 }, []]) {
      const { status, json } = await userAction('actions', body)
      expect([status, json.reason]).toEqual([422, 'invalid-data'])
      if (!Array.isArray(body))
        for (const action of ['LINK_PATTERN', 'LINK_PATTERN_ID', 'UNLINK_PATTERN_ID', 'RESET_BIOMETRIC_PROFILE'])
          expect(json.message).toContain(action)
    }
    expect((await userAction('nobody-here', RESET)).status).toBe(404)
  })

  it('LINK_PATTERN enrolls a pattern, up to a complete profile that verifies', async () => {
    await service.call('POST', '/users/linked')
    const owner = { userRef: 'linked', fresh: typist(9_032) }
    for (let stored = 1; stored <= 5; stored++)
      expect((await linkPattern(owner)).json).toMatchObject({
        memberRef: 'linked',
        nPatternsRef: stored,
        biometricStatus: stored < 5 ? 'in-progress' : 'ok',
        patternId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      })
    expect((await recognized(owner)).json.action).toBe('verified')
  })

  it('LINK_PATTERN refuses every pattern that enroll refuses', async () => {
    const who = await enroll(service, 'refusing', 1)
    const invalid = [{ no: 'pattern' }, 'text', null, 5, undefined]
    for (const [pattern, status, reason] of [
      [machine(110), 422, 'detection-bot'],
      [who.first, 422, 'fraud-detected'],
      ...invalid.map((one) => [one, 422, 'invalid-data'] as const),
      [{ ...(who.fresh() as object), member_ref: 'else' }, 400, 'invalid-data'],
      [{ pad: 'x'.repeat(512 * 1024) }, 413, 'invalid-data'],
    ] as const) {
      const answer = await userAction('refusing', { action: 'LINK_PATTERN', pattern })
      expect([answer.status, answer.json.reason]).toEqual([status, reason])
    }
    expect((await userAction('refusing', { ...RESET, pad: 'x'.repeat(17_000) })).status).toBe(413)
    expect(await state('refusing')).toMatchObject({ nPatternsRef: 1 })
  })

  it('adds nothing to a complete profile without authentication, nor after a success without a session', async () => {
    const who = await enroll(service, 'finished')
    const tested = await testedBy(who)
    const { session } = await service.bootstrap('finished')
    expect((await recognized(who)).json.action).toBe('verified')
    for (const given of [undefined, session])
      for (const answer of [await linkPattern(who, given), await link('finished', tested, given)])
        expect([answer.status, answer.json.reason]).toEqual([409, 'invalid-action'])
    expect(await state('finished')).toMatchObject({ nPatternsRef: 5, biometricStatus: 'ok' })
  })

  it('LINK_PATTERN_ID makes a tested pattern a reference and is idempotent; UNLINK_PATTERN_ID removes it', async () => {
    const who = await enroll(service, 'tested')
    const patternId = await testedBy(who)
    const session = await authenticated(who)
    for (const given of [session, session, undefined])
      expect((await link('tested', patternId, given)).json).toMatchObject({ nPatternsRef: 6, patternId })
    // The sample is readable in its new place: six references are used, and possibly an adaptive one.
    expect([6, 7]).toContain((await recognized(who)).json.authentication.nPatternsRefUsed)
    const unlink = () => userAction('tested', { action: 'UNLINK_PATTERN_ID', patternId })
    const { json, headers } = await unlink()
    expect(json).toMatchObject({ nPatternsRef: 5, biometricStatus: 'ok', patternId })
    expect(headers.get('link')).toBe(`<../users/tested/typing-patterns/${patternId}>; rel="successor-version"`)
    expect(await unlink()).toMatchObject({ status: 404, json: { reason: 'invalid-data' } })
    expect((await link('tested', patternId)).status).toBe(409)
  })

  it('LINK_PATTERN_ID links a pattern of an earlier generation of the same member', async () => {
    const who = await enroll(service, 'generations')
    const patternId = await testedBy(who)
    for (let i = 0; i < 3; i++) await service.call('DELETE', '/users/generations/typing-patterns')
    const linked = (await link('generations', patternId)).json
    expect(linked).toMatchObject({ nPatternsRef: 1, biometricStatus: 'in-progress', patternId })
    for (let stored = 2; stored <= 5; stored++) expect((await linkPattern(who)).json.nPatternsRef).toBe(stored)
    expect((await recognized(who)).json.authentication).toMatchObject({ nPatternsRef: 5, nPatternsRefUsed: 5 })
  })

  it('LINK_PATTERN_ID links no pattern that was classified as a bot or a replay', async () => {
    const who = await enroll(service, 'unfit')
    const bot = (await userVerify('unfit', machine(120))).json
    const replay = (await userVerify('unfit', who.first)).json
    await userAction('unfit', RESET)
    for (const { reason, authentication } of [bot, replay]) {
      const { status, json } = await link('unfit', authentication.patternTestId)
      expect([status, json.reason]).toEqual([422, reason])
    }
    expect(await state('unfit')).toMatchObject({ nPatternsRef: 0 })
  })

  it('LINK_PATTERN_ID finds no pattern of another member or organization, and no invented id', async () => {
    await service.call('POST', '/users/mine')
    const theirs = await testedBy(await enroll(service, 'theirs'))
    const { organizationId, apikey } = await service.another()
    const elsewhere = await enroll(speakingFor(service, organizationId, apikey), 'mine')
    const headers = { ...USER, apikey }
    const foreign = await sincere((body) => userVerify('mine', body, { headers }), elsewhere.fresh)
    for (const patternId of [theirs, foreign.json.authentication.patternTestId, uuid()])
      for (const action of ['LINK_PATTERN_ID', 'UNLINK_PATTERN_ID']) {
        const { status, json } = await userAction('mine', { action, patternId })
        expect([status, json.reason]).toEqual([404, 'invalid-data'])
      }
    expect((await link('mine', 'no-id')).status).toBe(422)
    expect(await state('mine')).toMatchObject({ nPatternsRef: 0 })
  })

  it('RESET_BIOMETRIC_PROFILE empties the profile and ends the sessions, as DELETE typing-patterns does', async () => {
    const who = await enroll(service, 'emptied')
    const { json } = await userAction('emptied', RESET)
    expect(json).toMatchObject({ nPatternsRef: 0, biometricStatus: 'reset', patternId: null, memberRef: 'emptied' })
    expect((await userVerify('emptied', who.fresh(), { session: who.session })).status).toBe(400)
  })
})

describe('the other legacy endpoints', () => {
  it('DELETE /user-delete/{userRef} deletes as DELETE /users/{userRef} does', async () => {
    await enroll(service, 'gone', 2)
    const remove = (query = '') => service.call('DELETE', `/user-delete/gone${query}`)
    expect((await remove('?member_ref=else')).status).toBe(400)
    const { json, headers } = await remove('?member_ref=GONE')
    expect(json).toMatchObject({ user_id: 'gone', n_patterns_deleted: 2 })
    expect(headers.get('link')).toBe('<../users/gone>; rel="successor-version"')
    expect((await service.bootstrap('gone')).status).toBe(404)
    expect((await remove()).status).toBe(404)
  })

  it('POST /feedback/{authenticationId} does nothing, and returns the id', async () => {
    const id = uuid()
    for (const body of [undefined, {}, { verdict: 'good' }])
      expect((await service.call('POST', `/feedback/${id}`, { body })).json.authenticationId).toBe(id)
    expect((await service.call('POST', '/feedback/no-id')).status).toBe(422)
  })

  it('announce their deprecation and end in every answer, to any caller', async () => {
    const asked: [string, string, RequestInit][] = [
      ['POST', '/user-verify/ann', {}],
      ['POST', '/user-verify/ann', { headers: { apikey: 'unknown' } }],
      ['GET', '/user-action/ann', { headers: { apikey: service.apikey } }],
      ['DELETE', '/user-delete/%2f', { headers: { apikey: service.apikey } }],
      ['POST', '/feedback/1', { headers: { apikey: service.apikey }, body: '{' }],
    ]
    const statuses: number[] = []
    for (const [method, path, init] of asked) {
      const { status, headers } = await fetch(service.core + path, { method, ...init })
      statuses.push(status)
      expect(headers.get('deprecation')).toMatch(/^@\d+$/)
      expect(new Date(headers.get('sunset') ?? '').toUTCString()).toBe(headers.get('sunset'))
      expect(headers.get('link')).toMatch(/^<\.\.\/[^<>]+>; rel="successor-version"$/)
    }
    expect(statuses).toEqual([401, 401, 405, 422, 415])
  })
})
