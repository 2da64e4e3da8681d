import { describe, expect, it } from 'vitest'
import { enroll, stranger, verifyOf } from '../harness/enrolled.js'
import { sharedService } from '../harness/service.js'
import { ownRows } from './own-rows.js'

const CODE = '749205'
const OTHER = '480653'

const service = await sharedService()
const rows = ownRows(service)

const path = (userRef: string) => `/users/${userRef}/security-code`
const put = (userRef: string, session: string, securityCode: unknown) =>
  service.call('PUT', path(userRef), { session, body: { securityCode } })
const verify = (userRef: string, session: string, securityCode: unknown) =>
  verifyOf(service, userRef, { securityCode }, session)
const session = async (userRef: string) => (await service.bootstrap(userRef)).session
const state = async (userRef: string) => (await service.bootstrap(userRef)).json

/** Creates an account and a session, and sets a code if given. */
async function account(userRef: string, code?: string): Promise<string> {
  await service.call('POST', `/users/${userRef}`)
  const token = await session(userRef)
  if (code !== undefined) expect((await put(userRef, token, code)).status).toBe(200)
  return token
}

/** Changes the counters of a member's code, and ends its lock. */
const counted = (userRef: string, counters: { streak?: number } = {}) =>
  rows(
    (sql) => sql`
      update keystride.member set attempts_version = attempts_version + 1, attempts = jsonb_set(attempts, '{security_code}',
        attempts -> 'security_code' || ${JSON.stringify({ closedUntil: 0, ...counters })}::text::jsonb)
      where member_ref = ${userRef}`,
  )

/** An answer without its varying parts: id, times, words and wait. */
const comparable = ({ status, json }: { status: number; json: Record<string, unknown> }) => {
  const { timestamp: _, authentication, nextAttempt, ...rest } = json
  const facts = { ...(authentication as object), id: '', timestamp: '' }
  const next = { ...(nextAttempt as object), suggestedWords: [], retryAfterSeconds: 0 }
  return { status, rest, facts, next }
}

describe('PUT /users/{userRef}/security-code', () => {
  it('"sets or replaces a user-chosen code", and refuses the current one and the previous one', async () => {
    const token = await account('put')
    expect(await state('put')).toMatchObject({ requiresSecurityCode: true, securityCodeSet: false, codeLength: 6 })
    const { status, json } = await put('put', token, CODE)
    expect([status, json]).toMatchObject([200, { codeLength: 6, securityCodeSet: true, securityCodeTemporary: false }])
    expect((await put('put', token, CODE)).json.message).toContain('previous code')
    expect((await put('put', token, OTHER)).status).toBe(200)
    expect((await put('put', token, CODE)).status).toBe(422)
    expect((await verify('put', token, CODE)).json.action).toBe('rejected')
    expect((await verify('put', token, OTHER)).json.action).toBe('verified')
    await service.call('DELETE', path('put'), { session: token })
    expect((await put('put', token, OTHER)).status).toBe(422)
  })

  it('"weak or common codes refused with 422", naming the rule and not the code', async () => {
    const token = await account('weak7492')
    for (const code of ['111111', '123456', '12', 'abcdef', '7492051234567', CODE]) {
      const { status, json } = await put('weak7492', token, code)
      expect([status, json.reason], code).toEqual([422, 'invalid-data'])
      expect(json.message).toMatch(/^securityCode: (must|is) /)
      expect(json.message).not.toContain(code)
    }
    for (const body of [{}, { securityCode: 749205 }, { securityCode: null }, [], 'x'])
      expect((await service.call('PUT', path('weak7492'), { session: token, body })).status).toBe(422)
    expect((await state('weak7492')).securityCodeSet).toBe(false)
  })
})

describe('a call that changes a security code', () => {
  const METHODS = ['PUT', 'POST', 'DELETE']
  const change = (method: string, userRef: string, token?: string) =>
    service.call(method, path(userRef), {
      session: token,
      ...(method === 'PUT' ? { body: { securityCode: CODE } } : {}),
    })

  it('ends the other sessions of the member, and not its own', async () => {
    const token = await account('others')
    for (const method of METHODS) {
      const other = await session('others')
      expect((await change(method, 'others', token)).status, method).toBe(200)
      expect((await verify('others', other, OTHER)).status, method).toBe(400)
      expect((await service.call('GET', '/users/others', { session: token })).json.sessionId).toBe(token)
    }
  })

  it('"A missing or expired session yields 400, with a message telling the caller to bootstrap"', async () => {
    const token = await account('no-session')
    const foreign = await session('somebody')
    for (const method of METHODS) {
      for (const given of [undefined, 'made-up', foreign]) {
        const { status, json } = await change(method, 'no-session', given)
        expect([status, json.reason]).toEqual([400, 'invalid-data'])
        expect(json.message).toContain('GET /users/{userRef}')
      }
      expect((await change(method, 'somebody', foreign)).json.reason).toBe('user-not-found')
    }
    const other = await service.call('POST', `${path('no-session')}?member_ref=else`, { session: token })
    expect([other.status, other.json.reason]).toEqual([400, 'invalid-data'])
  })

  it('"clears the code", set or not; then no code attempt is open', async () => {
    const token = await account('clear', CODE)
    for (let i = 0; i < 2; i++)
      expect(await change('DELETE', 'clear', token)).toMatchObject({ status: 200, json: { securityCodeSet: false } })
    const { json } = await verify('clear', token, CODE)
    expect(json).toMatchObject({ action: 'refused', refusedBecause: 'code-not-set' })
    expect(json.nextAttempt).toMatchObject({ mode: 'locked', remainingCodeAttempts: 0 })
    expect(json.authentication).toMatchObject({ authenticated: false, authMethod: 'security_code' })
  })
})

describe('a temporary security code', () => {
  const issue = (userRef: string, token: string) => service.call('POST', path(userRef), { session: token })

  it('"generates a temporary code; plaintext returned once in the response, user must replace it"', async () => {
    const token = await account('temp', CODE)
    const { json } = await issue('temp', token)
    expect(json).toMatchObject({ codeLength: 6, securityCodeSet: true, securityCodeTemporary: true })
    expect(json.securityCode).toMatch(/^\d{6}$/)
    const shown = await state('temp')
    expect(shown).toMatchObject({ securityCodeSet: true, securityCodeTemporary: true })
    expect(JSON.stringify(shown)).not.toContain(`"${json.securityCode}"`)

    const first = await verify('temp', token, json.securityCode)
    expect(first.json).toMatchObject({ action: 'verified', actions: ['enroll', 'change-security-code'] })
    const second = await verify('temp', await session('temp'), json.securityCode)
    expect(second.json).toMatchObject({ action: 'refused', refusedBecause: 'code-used' })
    expect(second.json.authentication.authenticated).toBe(false)

    expect((await put('temp', token, json.securityCode)).status).toBe(422)
    expect((await put('temp', token, OTHER)).status).toBe(200)
    expect((await verify('temp', token, OTHER)).json).toMatchObject({ action: 'verified', actions: ['enroll'] })
  })

  it('is issued at most five times an hour, then 429 with the time to wait', async () => {
    const token = await account('five')
    for (let i = 0; i < 5; i++) expect((await issue('five', token)).status).toBe(200)
    const { status, json, headers } = await issue('five', token)
    expect([status, json.reason]).toEqual([429, 'quota-exceeded'])
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(3000)
  })

  it('"is generated and returned once as `securityCode`" of a new account with rotate_security_code', async () => {
    const { session: early } = await service.bootstrap('rotated')
    const create = (userRef = 'rotated') =>
      service.call('POST', `/users/${userRef}`, { body: { rotate_security_code: true } })
    const all = await Promise.all(Array.from({ length: 10 }, () => create()))
    const codes = all.flatMap(({ json }) => json.securityCode ?? [])
    expect(codes).toEqual([expect.stringMatching(/^\d{6}$/)])
    const fields = { securityCodeSet: true, securityCodeTemporary: true, codeLength: 6, requiresSecurityCode: true }
    expect(all.find(({ json }) => json.securityCode !== undefined)?.json).toMatchObject(fields)
    expect(await state('rotated')).toMatchObject(fields)
    expect((await verify('rotated', early, codes[0])).json.action).toBe('verified')
    await account('rotated-later')
    expect((await create('rotated-later')).json.securityCode).toMatch(/^\d{6}$/)
  })
})

describe('POST /users/{userRef}/verify with a security code', () => {
  it('answers a right code as an authentication that never counts as typing, and asks to enroll', async () => {
    const token = await account('right', CODE)
    expect((await verify('right', token, OTHER)).json.enrollmentRequired).toBe(false)
    const { json } = await verify('right', token, CODE)
    expect(json).toMatchObject({ action: 'verified', actions: ['enroll'], enrollmentRequired: true, nextAttempt: null })
    expect(json).toMatchObject({ reason: '', refusedBecause: null })
    expect(json.authentication).toMatchObject({
      authenticated: true,
      authMethod: 'security_code',
      recommendedAction: 'auth',
      confidence: 0,
      confidenceBiometrics: 0,
      recognizedUser: false,
      patternTestId: '',
    })
    const who = await enroll(service, 'whole')
    await put('whole', who.session, CODE)
    const whole = (await verify('whole', who.session, CODE)).json
    expect(whole).toMatchObject({ action: 'verified', actions: [], enrollmentRequired: false, biometricStatus: 'ok' })
  })

  it('goes from typing to the code to locked', async () => {
    const who = await enroll(service, 'path')
    await put('path', who.session, CODE)
    for (const mode of ['biometric', 'biometric', 'security_code']) {
      const { json } = await verifyOf(service, 'path', stranger(), who.session)
      expect(json.nextAttempt).toMatchObject({ mode, remainingCodeAttempts: 3 })
    }
    for (const [mode, remaining] of [
      ['security_code', 2],
      ['security_code', 1],
      ['locked', 0],
    ] as const) {
      const { json } = await verify('path', who.session, OTHER)
      expect(json).toMatchObject({ action: 'rejected', nextAttempt: { mode, remainingCodeAttempts: remaining } })
      expect(json.authentication).toMatchObject({ authenticated: false, authMethod: 'security_code' })
    }
    // Regression: the wait was 0, because typing is open in a new session.
    const { json } = await verify('path', await session('path'), CODE)
    expect(json).toMatchObject({ refusedBecause: 'code-locked', nextAttempt: { mode: 'biometric' } })
    expect(json.nextAttempt.retryAfterSeconds).toBeGreaterThan(600)
  })

  it('keeps the lock over new sessions and a new code, and answers a correct code like a wrong one', async () => {
    const token = await account('lock', CODE)
    for (let i = 0; i < 3; i++) await verify('lock', token, OTHER)
    const fresh = await session('lock')
    const [right, wrong] = [await verify('lock', fresh, CODE), await verify('lock', fresh, OTHER)]
    expect(right.json).toMatchObject({ action: 'refused', actions: ['wait'], refusedBecause: 'code-locked' })
    expect(right.json.nextAttempt.mode).toBe('locked')
    expect(right.json.nextAttempt.retryAfterSeconds).toBeGreaterThan(600)
    expect(comparable(right)).toEqual(comparable(wrong))
    await put('lock', token, '918357')
    const next = await session('lock')
    expect((await verify('lock', next, '918357')).json.action).toBe('refused')
    await counted('lock')
    expect((await verify('lock', token, '918357')).json.refusedBecause).toBe('session-used-up')
    expect((await verify('lock', next, '918357')).json.action).toBe('verified')
  })

  it('disables the code at the tenth failure until a new code is set', async () => {
    const token = await account('dead', CODE)
    await counted('dead', { streak: 9 })
    expect((await verify('dead', token, OTHER)).json.action).toBe('rejected')
    await counted('dead')
    const { json } = await verify('dead', await session('dead'), CODE)
    expect(json).toMatchObject({ action: 'refused', nextAttempt: { mode: 'locked', retryAfterSeconds: null } })
    await put('dead', token, '918357')
    expect((await verify('dead', token, '918357')).json.action).toBe('verified')
  })

  it('does not count a body that cannot be a code, nor one of another account', async () => {
    const token = await account('shape', CODE)
    for (const wrong of ['abc', '', 749205, null, {}, '1'.repeat(500)]) {
      const { status, json } = await verify('shape', token, wrong)
      expect([status, json.reason]).toEqual([422, 'invalid-data'])
    }
    const of = (member_ref: string, securityCode: string) =>
      verifyOf(service, 'shape', { securityCode, member_ref }, token)
    expect((await of('else', CODE)).status).toBe(400)
    expect((await of(' Shape ', OTHER)).json.nextAttempt.remainingCodeAttempts).toBe(2)
  })

  it('stores neither the code nor a hash that can be tested without the pepper', async () => {
    await account('kept', CODE)
    const [row] = await rows((sql) => sql`select m.* from keystride.member m where member_ref = 'kept'`)
    expect(row?.code_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    expect(JSON.stringify(row)).not.toContain(CODE)
  })
})

it('the policy requires its own length and lists, and may close codes or ask for typing first', async () => {
  const token = await account('policy', CODE)
  const { id, ...policy } = (await service.dashboard('GET', '/default-policy')).json.data
  const change = async (fallback: object) => {
    const body = { ...policy, security_code_fallback: { ...policy.security_code_fallback, ...fallback } }
    expect((await service.dashboard('PUT', `/policies/${id}`, { body })).status).toBe(200)
  }
  await change({ code_length: 8, weak_codes: ['74920518'] })
  expect(await state('policy')).toMatchObject({ codeLength: 8 })
  for (const refused of ['74920518', OTHER]) expect((await put('policy', token, refused)).status).toBe(422)
  expect((await verify('policy', token, CODE)).json.action).toBe('verified')
  await change({ enabled: false })
  expect(await state('policy')).toMatchObject({ requiresSecurityCode: false })
  const { json } = await verify('policy', token, CODE)
  expect(json).toMatchObject({ refusedBecause: 'fallback-off', nextAttempt: { remainingCodeAttempts: 0 } })
  await change({ require_biometric_first: true })
  const who = await enroll(service, 'typing-first')
  await put('typing-first', who.session, CODE)
  expect((await verify('typing-first', who.session, CODE)).json.refusedBecause).toBe('typing-first')
  await verifyOf(service, 'typing-first', stranger(), who.session)
  expect((await verify('typing-first', who.session, CODE)).json.action).toBe('verified')
})
