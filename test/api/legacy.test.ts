import { v7 as uuid } from 'uuid'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '../../src/process/config.js'
import { jsonLog } from '../../src/process/log.js'
import { connectPostgres, type Database } from '../../src/storage/postgres/connection/client.js'
import { person, wirePattern } from '../../src/typist/made-up-person.js'
import { administration, openStores } from '../../src/wiring/open-stores.js'
import { freshDatabase } from '../servers/database.js'
import { type Answer, redisUrl, startService, type TestService } from '../service.js'
import { type Enrolled, enroll, stranger, text } from './enrolled.js'

const CODE = '749205'
const USER = { 'x-enrollment': 'USER' }

let service: TestService
let database: Database
beforeAll(async () => {
  const { url } = await freshDatabase()
  service = await startService(url)
  database = connectPostgres({ url, max: 2, patience: 10 })
})
afterAll(async () => {
  await service.close()
  await database.close()
})

type Options = Parameters<TestService['call']>[2]
const userVerify = (userRef: string, body: unknown, options: Options = {}) =>
  service.call('POST', `/user-verify/${userRef}`, { body, ...options })
const userAction = (userRef: string, body: unknown, options: Options = {}) =>
  service.call('POST', `/user-action/${userRef}`, { body, ...options })
const state = async (userRef: string) => (await service.bootstrap(userRef)).json
const even = (gap: number) => wirePattern([...text(3)].map((letter, i) => [letter, i * gap, i * gap + 60]))

/** Number of recorded attempts. */
const recorded = async (userRef: string) =>
  database.asSystem(async (sql) => {
    const [row] = await sql<{ n: string }[]>`
        select count(*) as n from keystride.authentication where user_ref = ${userRef}`
    return Number(row?.n)
  })

/** Repeats the owner's typing until it is recognized: one pattern in fifty is classified as a machine's. */
async function recognized(who: Enrolled, options: Options = {}): Promise<Answer> {
  for (let tries = 1; ; tries++) {
    const answer = await userVerify(who.userRef, who.fresh(), options)
    if (answer.json.authentication.authenticated || tries === 3) return answer
  }
}

/** A session in which the owner has just authenticated. */
async function authenticated(who: Enrolled): Promise<string> {
  const { session } = await service.bootstrap(who.userRef)
  expect((await recognized(who, { session })).json.action).toBe('verified')
  return session
}

describe('POST /user-verify/{userRef}', () => {
  it('"needs no prior bootstrap": it verifies the owner, and records it as verify does', async () => {
    const who = await enroll(service, 'legacy')
    const { status, headers, json } = await recognized(who)
    expect(status).toBe(200)
    expect(json).toMatchObject({ action: 'verified', nextAttempt: null, reason: '', biometricStatus: 'ok' })
    expect(json.authentication).toMatchObject({ authMethod: 'biometric', nPatternsRef: 5, nPatternsRefUsed: 5 })
    expect(headers.get('link')).toBe('<../users/legacy/verify>; rel="successor-version"')
    const [row] = await database.asSystem(
      (sql) => sql`select authenticated, session_id from keystride.authentication
          where id = ${json.authentication.id as string}`,
    )
    expect(row).toMatchObject({ authenticated: true, session_id: expect.stringMatching(/^[0-9a-f]{16}$/) })
  })

  it('is 404 for an unknown user, and does not create the user', async () => {
    for (const body of [stranger(), { securityCode: CODE }]) {
      const { status, json } = await userVerify('unknown', body)
      expect([status, json.reason]).toEqual([404, 'user-not-found'])
    }
    expect((await service.bootstrap('unknown')).status).toBe(404)
  })

  it('"can create the user when the request header x-enrollment has the value USER", up to a verified sign-in', async () => {
    const who = person(9_031)
    let n = 0
    for (let stored = 0; stored < 5; n++) {
      const { status, json } = await userVerify('newcomer', who.types(text(n), n), { headers: USER })
      expect(status).toBe(200)
      expect(json.authentication.authenticated).toBe(false)
      if (json.reason === 'detection-bot') continue
      stored++
      const complete = stored === 5
      expect(json).toMatchObject({
        action: 'enroll',
        reason: '',
        biometricStatus: complete ? 'ok' : 'in-progress',
        enrollmentRequired: !complete,
        actions: complete ? ['retry-biometric'] : ['enroll'],
        // Regression: locked without a wait.
        nextAttempt: { mode: 'biometric', retryAfterSeconds: 0 },
        refPatternsStatus: { textVisible: complete ? 'ok' : 'in-progress' },
      })
      expect(json.authentication).toMatchObject({ recommendedAction: 'challenge', nPatternsRef: stored })
      expect(json.authentication.patternTestId).not.toBe('')
    }
    const owner = { userRef: 'newcomer', who, session: '', first: null, fresh: () => who.types(text(++n), n) }
    expect((await recognized(owner, { headers: USER })).json).toMatchObject({
      action: 'verified',
      enrollmentRequired: false,
      authentication: { authenticated: true, recommendedAction: 'auth' },
    })
    expect(await state('newcomer')).toMatchObject({ nPatternsRef: 5, biometricStatus: 'ok' })
  })

  it('refuses other values of x-enrollment with 422, and creates no user', async () => {
    for (const value of ['user', 'ADMIN', 'USER,USER', 'true']) {
      const { status, json } = await userVerify('other-value', stranger(), { headers: { 'x-enrollment': value } })
      expect([status, json.reason]).toEqual([422, 'invalid-data'])
    }
    expect((await service.bootstrap('other-value')).status).toBe(404)
  })

  it("creates no user by a security code, or with another person's member_ref", async () => {
    expect((await userVerify('by-code', { securityCode: CODE }, { headers: USER })).status).toBe(404)
    const { status, json } = await userVerify('by-code?member_ref=else', stranger(), { headers: USER })
    expect([status, json.reason]).toEqual([400, 'invalid-data'])
    expect((await service.bootstrap('by-code')).status).toBe(404)
  })

  it('answers an incomplete profile as verify does without x-enrollment', async () => {
    const who = await enroll(service, 'half', 3)
    const { status, json } = await userVerify('half', who.fresh())
    expect(status).toBe(200)
    expect(json).toMatchObject({ action: 'enroll', actions: ['enroll'], enrollmentRequired: true })
    expect(json.authentication).toMatchObject({ authenticated: false, recommendedAction: 'challenge' })
    expect(await state('half')).toMatchObject({ nPatternsRef: 3 })
  })

  it('answers a bot with 200 and detection-bot, to be verified or enrolled', async () => {
    await enroll(service, 'machine')
    for (const [userRef, headers] of [
      ['machine', {}],
      ['machine-new', USER],
    ] as const) {
      const { status, json } = await userVerify(userRef, even(userRef.length * 10), { headers })
      expect([status, json.action, json.reason]).toEqual([200, 'rejected', 'detection-bot'])
      expect(json.authentication).toMatchObject({ authenticated: false, recommendedAction: 'block' })
    }
    expect(await state('machine-new')).toMatchObject({ nPatternsRef: 0 })
  })

  it('answers a replay with 200 and fraud-detected, to be verified or enrolled', async () => {
    const who = await enroll(service, 'replayed')
    for (const [userRef, headers] of [
      ['replayed', {}],
      ['replayed-new', USER],
    ] as const) {
      const { status, json } = await userVerify(userRef, who.first, { headers })
      expect([status, json.action, json.reason]).toEqual([200, 'rejected', 'fraud-detected'])
      expect(json.authentication).toMatchObject({ authenticated: false, recommendedAction: 'block' })
    }
    expect(await state('replayed-new')).toMatchObject({ nPatternsRef: 0 })
  })

  it('refuses an invalid pattern with 422, and does not count it', async () => {
    await enroll(service, 'garbage')
    for (let i = 0; i < 5; i++) expect((await userVerify('garbage', { no: 'pattern' })).status).toBe(422)
    expect((await userVerify('garbage', stranger())).json.nextAttempt.remainingBiometricAttempts).toBe(2)
  })

  it('gives three attempts in 900 seconds without a session, for any kind of attempt', async () => {
    const who = await enroll(service, 'budget')
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

  it('starts again after a success, as with a new bootstrap', async () => {
    const who = await enroll(service, 'anew')
    await userVerify('anew', stranger())
    const first = await recognized(who)
    expect(first.json.action).toBe('verified')
    const { json } = await userVerify('anew', stranger())
    expect(json.nextAttempt).toMatchObject({ mode: 'biometric', remainingBiometricAttempts: 2 })
    const sessions = await database.asSystem(
      (sql) => sql`select distinct session_id from keystride.authentication where user_ref = 'anew'`,
    )
    expect(sessions).toHaveLength(2)
  })

  it('uses the session of the header if given, and is 400 if it is dead', async () => {
    await enroll(service, 'header')
    const { session } = await service.bootstrap('header')
    await service.call('POST', '/users/header/verify', { session, body: stranger() })
    expect((await userVerify('header', stranger(), { session })).json.nextAttempt).toMatchObject({
      remainingBiometricAttempts: 1,
    })
    expect((await userVerify('header', stranger())).json.nextAttempt).toMatchObject({ remainingBiometricAttempts: 2 })
    await service.call('POST', '/users/elsewhere')
    const foreign = (await service.bootstrap('elsewhere')).session
    for (const dead of [foreign, 'made-up'.repeat(6)]) {
      const { status, json } = await userVerify('header', stranger(), { session: dead, headers: USER })
      expect([status, json.reason]).toEqual([400, 'invalid-data'])
    }
  })

  it('judges security codes too, within the budget of its session', async () => {
    await service.call('POST', '/users/coded')
    const { session } = await service.bootstrap('coded')
    await service.call('PUT', '/users/coded/security-code', { session, body: { securityCode: CODE } })
    expect((await userVerify('coded', { securityCode: '480653' })).json).toMatchObject({
      action: 'rejected',
      nextAttempt: { mode: 'security_code', remainingCodeAttempts: 2 },
    })
    expect((await userVerify('coded', { securityCode: CODE, member_ref: 'CODED' })).json).toMatchObject({
      action: 'verified',
      enrollmentRequired: true,
      authentication: { authenticated: true, authMethod: 'security_code' },
    })
    for (let i = 0; i < 3; i++) await userVerify('coded', { securityCode: '480653' })
    expect((await userVerify('coded', { securityCode: CODE })).json).toMatchObject({ action: 'refused' })
    expect((await userVerify('coded', { securityCode: CODE, member_ref: 'else' })).status).toBe(400)
    expect(await recorded('coded')).toBe(5)
  })

  it('is locked with the member by either path, and then scores nothing', async () => {
    const overCore = await enroll(service, 'locked-core')
    for (let failures = 0; failures < 5; ) {
      const { session } = await service.bootstrap('locked-core')
      for (let i = 0; i < 3 && failures < 5; i++, failures++)
        await service.call('POST', '/users/locked-core/verify', { session, body: stranger() })
    }
    const overLegacy = await enroll(service, 'locked-legacy')
    for (let failures = 0; failures < 3; failures++) await userVerify('locked-legacy', stranger())
    const { session } = await service.bootstrap('locked-legacy')
    for (let failures = 0; failures < 2; failures++) await userVerify('locked-legacy', stranger(), { session })

    const fresh = (await service.bootstrap('locked-legacy')).session
    const refused = [
      await userVerify('locked-core', overCore.fresh()),
      await userVerify('locked-core', overCore.fresh(), { headers: USER }),
      await service.call('POST', '/users/locked-legacy/verify', { session: fresh, body: overLegacy.fresh() }),
      await userVerify('locked-legacy', overLegacy.fresh(), { session: fresh }),
      await userVerify('locked-legacy', overLegacy.fresh()),
    ]
    for (const { json } of refused)
      expect(json).toMatchObject({ action: 'refused', nextAttempt: { mode: 'locked' }, actions: ['wait'] })
    // No refused attempt has used an attempt of its session.
    const left = refused.map(({ json }) => json.nextAttempt.remainingBiometricAttempts)
    expect(left).toEqual([3, 3, 3, 3, 0])
    expect([await recorded('locked-core'), await recorded('locked-legacy')]).toEqual([5, 5])
  })

  it('keeps the members of a shared account separate', async () => {
    for (const member_ref of ['ann', 'bo'])
      await service.call('POST', '/users/desk', { body: { type: 'generic', member_ref } })
    expect((await userVerify('desk', stranger(), { headers: USER })).status).toBe(400)
    expect((await userVerify('desk?member_ref=cy', stranger(), { headers: USER })).status).toBe(404)
    for (const [i, member] of ['ann', 'bo'].entries()) {
      const who = person(9_040 + i)
      for (let n = 0, complete = false; !complete; n++) {
        const { json } = await userVerify(`desk?member_ref=${member}`, who.types(text(n), n), { headers: USER })
        complete = json.biometricStatus === 'ok'
      }
    }
    for (let i = 0; i < 3; i++) await userVerify('desk', { ...stranger(), member_ref: 'ANN' })
    expect((await userVerify('desk?member_ref=ann', stranger())).json.action).toBe('refused')
    const { json } = await userVerify('desk?member_ref=bo', stranger())
    expect(json).toMatchObject({ action: 'rejected', nextAttempt: { remainingBiometricAttempts: 2 } })
    const reset = { action: 'RESET_BIOMETRIC_PROFILE', member_ref: 'Ann' }
    expect((await userAction('desk', reset)).json).toMatchObject({
      accountType: 'generic',
      memberRef: 'ann',
      nPatternsRef: 0,
    })
    const pattern = { ...person(9_042).types(text(1), 1), member_ref: 'ann' }
    expect((await userAction('desk', { action: 'LINK_PATTERN', pattern })).json).toMatchObject({
      memberRef: 'ann',
      nPatternsRef: 1,
    })
    for (const [path, body] of [
      ['desk?member_ref=bo', reset],
      ['desk?member_ref=bo', { action: 'LINK_PATTERN', pattern }],
      ['desk', { action: 'LINK_PATTERN', pattern, member_ref: 'bo' }],
    ] as const)
      expect((await userAction(path, body)).status).toBe(400)
    expect((await userAction('desk', { action: 'RESET_BIOMETRIC_PROFILE' })).status).toBe(400)
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
    const [row] = await database.asSystem(
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
    expect((await userAction('nobody-here', { action: 'RESET_BIOMETRIC_PROFILE' })).status).toBe(404)
  })

  it('LINK_PATTERN enrolls a pattern, up to a complete profile that verifies', async () => {
    await service.call('POST', '/users/linked')
    const who = person(9_032)
    let n = 0
    for (let stored = 0; stored < 5; n++) {
      const { status, json } = await userAction('linked', { action: 'LINK_PATTERN', pattern: who.types(text(n), n) })
      if (json.reason === 'detection-bot') continue
      stored++
      expect(status).toBe(200)
      expect(json).toMatchObject({
        userRef: 'linked',
        accountType: 'nominative',
        memberRef: 'linked',
        nPatternsRef: stored,
        targetRefPatterns: 5,
        biometricStatus: stored < 5 ? 'in-progress' : 'ok',
        patternId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      })
    }
    const owner = { userRef: 'linked', who, session: '', first: null, fresh: () => who.types(text(++n), n) }
    expect((await recognized(owner)).json.action).toBe('verified')
  })

  it('LINK_PATTERN refuses every pattern that enroll refuses', async () => {
    const who = await enroll(service, 'refusing', 1)
    const link = (pattern: unknown) => userAction('refusing', { action: 'LINK_PATTERN', pattern })
    const refusalOf = async (pattern: unknown) => {
      const { status, json } = await link(pattern)
      return [status, json.reason]
    }
    expect(await refusalOf(even(110))).toEqual([422, 'detection-bot'])
    expect(await refusalOf(who.first)).toEqual([422, 'fraud-detected'])
    for (const pattern of [{ no: 'pattern' }, 'text', null, 5])
      expect(await refusalOf(pattern)).toEqual([422, 'invalid-data'])
    expect(await refusalOf(undefined)).toEqual([422, 'invalid-data'])
    expect(await refusalOf({ ...(who.fresh() as object), member_ref: 'else' })).toEqual([400, 'invalid-data'])
    expect(await refusalOf({ pad: 'x'.repeat(512 * 1024) })).toEqual([413, 'invalid-data'])
    const { status } = await userAction('refusing', { action: 'RESET_BIOMETRIC_PROFILE', pad: 'x'.repeat(17_000) })
    expect(status).toBe(413)
    expect(await state('refusing')).toMatchObject({ nPatternsRef: 1 })
  })

  it('adds no new or tested pattern to a complete profile without authentication', async () => {
    const who = await enroll(service, 'finished')
    const { json } = await userVerify('finished', stranger())
    const tested: string = json.authentication.patternTestId
    const { session } = await service.bootstrap('finished')
    const tries = Array.from({ length: 50 }, (_, i) => [
      () =>
        userAction(
          'finished',
          { action: 'LINK_PATTERN', pattern: who.fresh() },
          { session: i % 2 ? session : undefined },
        ),
      () =>
        userAction(
          'finished',
          { action: 'LINK_PATTERN_ID', patternId: tested },
          { session: i % 2 ? session : undefined },
        ),
    ]).flat()
    for (const attempt of tries) {
      const { status, json } = await attempt()
      // A synthetic person is sometimes classified as a bot before any other check.
      expect([
        [409, 'invalid-action'],
        [422, 'detection-bot'],
      ]).toContainEqual([status, json.reason])
    }
    expect(await state('finished')).toMatchObject({ nPatternsRef: 5, biometricStatus: 'ok' })
  })

  it('adds to a complete profile in a session that has just authenticated', async () => {
    const who = await enroll(service, 'more')
    const session = await authenticated(who)
    for (let stored = 5; stored < 7; ) {
      const { status, json } = await userAction('more', { action: 'LINK_PATTERN', pattern: who.fresh() }, { session })
      if (json.reason === 'detection-bot') continue
      expect([status, json.nPatternsRef]).toEqual([200, ++stored])
    }
    // A made-up person is sometimes classified as a machine, whose patterns become no references.
    let answer = await userVerify('more', who.fresh())
    while (answer.json.reason === 'detection-bot') answer = await userVerify('more', who.fresh())
    const patternId = answer.json.authentication.patternTestId
    const linked = await userAction('more', { action: 'LINK_PATTERN_ID', patternId }, { session })
    expect(linked.json).toMatchObject({ nPatternsRef: 8, biometricStatus: 'ok', patternId })
  })

  it('LINK_PATTERN is refused for a complete profile after a success without a session', async () => {
    const who = await enroll(service, 'sessionless')
    expect((await recognized(who)).json.action).toBe('verified')
    for (let i = 0; i < 3; i++) {
      const { status } = await userAction('sessionless', { action: 'LINK_PATTERN', pattern: who.fresh() })
      expect([409, 422]).toContain(status)
    }
    expect(await state('sessionless')).toMatchObject({ nPatternsRef: 5 })
  })

  /** The id of a tested pattern of this member that is neither a bot's nor a replay. */
  async function testedBy(who: Enrolled): Promise<string> {
    for (;;) {
      const { session } = await service.bootstrap(who.userRef)
      const { json } = await userVerify(who.userRef, who.fresh(), { session })
      if (json.reason === '') return json.authentication.patternTestId
    }
  }
  const link = (userRef: string, patternId: string, session?: string) =>
    userAction(userRef, { action: 'LINK_PATTERN_ID', patternId }, { session })
  const unlink = (userRef: string, patternId: string) => userAction(userRef, { action: 'UNLINK_PATTERN_ID', patternId })

  it('LINK_PATTERN_ID makes a tested pattern a reference and is idempotent; UNLINK_PATTERN_ID removes it', async () => {
    const who = await enroll(service, 'tested')
    const patternId = await testedBy(who)
    const session = await authenticated(who)
    const linked = await link('tested', patternId, session)
    expect([linked.status, linked.json.nPatternsRef, linked.json.patternId]).toEqual([200, 6, patternId])
    for (const again of [session, undefined])
      expect((await link('tested', patternId, again)).json).toMatchObject({ nPatternsRef: 6, patternId })
    // The sample is readable in its new place: six references are used, and possibly an adaptive one.
    expect([6, 7]).toContain((await recognized(who)).json.authentication.nPatternsRefUsed)
    const { json, headers } = await unlink('tested', patternId)
    expect(json).toMatchObject({ nPatternsRef: 5, biometricStatus: 'ok', patternId })
    expect(headers.get('link')).toBe(`<../users/tested/typing-patterns/${patternId}>; rel="successor-version"`)
    const gone = await unlink('tested', patternId)
    expect([gone.status, gone.json.reason]).toEqual([404, 'invalid-data'])
    expect((await link('tested', patternId)).status).toBe(409)
  })

  it('LINK_PATTERN_ID links a pattern of an earlier generation of the same member', async () => {
    const who = await enroll(service, 'generations')
    const patternId = await testedBy(who)
    for (let i = 0; i < 3; i++) await service.call('DELETE', '/users/generations/typing-patterns')
    const { status, json } = await link('generations', patternId)
    expect([status, json.nPatternsRef, json.biometricStatus, json.patternId]).toEqual([
      200,
      1,
      'in-progress',
      patternId,
    ])
    for (let stored = 1; stored < 5; ) {
      const answer = await userAction('generations', { action: 'LINK_PATTERN', pattern: who.fresh() })
      if (answer.status === 200) stored++
    }
    expect((await recognized(who)).json.authentication).toMatchObject({ nPatternsRef: 5, nPatternsRefUsed: 5 })
  })

  it('LINK_PATTERN_ID links no pattern that was classified as a bot or a replay', async () => {
    const who = await enroll(service, 'unfit')
    const bot = (await userVerify('unfit', even(120))).json
    const replay = (await userVerify('unfit', who.first)).json
    await unlinkAll('unfit')
    for (const { reason, authentication } of [bot, replay]) {
      const { status, json } = await link('unfit', authentication.patternTestId)
      expect([status, json.reason]).toEqual([422, reason])
    }
    expect(await state('unfit')).toMatchObject({ nPatternsRef: 0 })
  })
  const unlinkAll = (userRef: string) => userAction(userRef, { action: 'RESET_BIOMETRIC_PROFILE' })

  it('LINK_PATTERN_ID finds no pattern of another member or organization, and no invented id', async () => {
    const mine = await enroll(service, 'mine')
    const theirs = await enroll(service, 'theirs')
    const foreign = await testedBy(theirs)
    await unlinkAll('mine')
    const other = await otherOrganization('mine', mine)
    for (const patternId of [foreign, other.patternId, uuid()]) {
      for (const action of ['LINK_PATTERN_ID', 'UNLINK_PATTERN_ID']) {
        const { status, json } = await userAction('mine', { action, patternId })
        expect([status, json.reason]).toEqual([404, 'invalid-data'])
      }
    }
    expect((await userAction('mine', { action: 'LINK_PATTERN_ID', patternId: 'no-id' })).status).toBe(422)
    expect(await state('mine')).toMatchObject({ nPatternsRef: 0 })
  })

  /** Creates another organization with a user of the same name, and returns the id of a pattern tested there. */
  async function otherOrganization(userRef: string, { who }: Enrolled): Promise<{ patternId: string }> {
    const stores = await openStores(readConfig(service.env), jsonLog('silent'), { redis: false })
    const flows = administration(stores)
    const { apikey } = await flows.issueKey((await flows.create(`Other ${uuid()}`)).id, 'other')
    await stores.close()
    for (let n = 300; ; n++) {
      const { json } = await userVerify(userRef, who.types(text(n), n), { headers: { ...USER, apikey } })
      if (json.action !== 'enroll' && json.reason === '') return { patternId: json.authentication.patternTestId }
    }
  }

  it('RESET_BIOMETRIC_PROFILE empties the profile and ends the sessions, as DELETE typing-patterns does', async () => {
    const who = await enroll(service, 'emptied')
    const { status, json } = await unlinkAll('emptied')
    expect(status).toBe(200)
    expect(json).toMatchObject({ nPatternsRef: 0, biometricStatus: 'reset', patternId: null, memberRef: 'emptied' })
    expect((await userVerify('emptied', who.fresh(), { session: who.session })).status).toBe(400)
  })
})

describe('the other legacy endpoints', () => {
  it('DELETE /user-delete/{userRef} deletes as DELETE /users/{userRef} does', async () => {
    await enroll(service, 'gone', 2)
    expect((await service.call('DELETE', '/user-delete/gone?member_ref=else')).status).toBe(400)
    const { status, json, headers } = await service.call('DELETE', '/user-delete/gone?member_ref=GONE')
    expect(status).toBe(200)
    expect(json).toMatchObject({ user_id: 'gone', n_patterns_deleted: 2 })
    expect(headers.get('link')).toBe('<../users/gone>; rel="successor-version"')
    expect((await service.bootstrap('gone')).status).toBe(404)
    expect((await service.call('DELETE', '/user-delete/gone')).status).toBe(404)
  })

  it('POST /feedback/{authenticationId} does nothing, and returns the id', async () => {
    const id = uuid()
    for (const body of [undefined, {}, { verdict: 'good' }]) {
      const { status, json } = await service.call('POST', `/feedback/${id}`, { body })
      expect([status, json.authenticationId]).toEqual([200, id])
    }
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
