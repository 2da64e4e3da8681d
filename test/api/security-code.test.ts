import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectPostgres, type Database } from '../../src/storage/postgres/connection/client.js'
import { until } from '../patience.js'
import { freshDatabase } from '../servers/database.js'
import { startService, type TestService } from '../service.js'
import { enroll, stranger } from './enrolled.js'

const CODE = '749205'
const OTHER = '480653'

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

const path = (userRef: string) => `/users/${userRef}/security-code`
const put = (userRef: string, session: string, securityCode: unknown) =>
  service.call('PUT', path(userRef), { session, body: { securityCode } })
const verify = (userRef: string, session: string, securityCode: unknown) =>
  service.call('POST', `/users/${userRef}/verify`, { session, body: { securityCode } })
const session = async (userRef: string) => (await service.bootstrap(userRef)).session
const state = async (userRef: string) => (await service.bootstrap(userRef)).json

/** Creates an account and a session, and sets a code if given. */
async function account(userRef: string, code?: string): Promise<string> {
  await service.call('POST', `/users/${userRef}`)
  const token = await session(userRef)
  if (code !== undefined) expect((await put(userRef, token, code)).status).toBe(200)
  return token
}

/** Ends the member's code lock; with `expired`, the temporary code expires too. */
const timePasses = (userRef: string, { expired = false } = {}) =>
  database.asSystem(
    (sql) => sql`
      update keystride.member set attempts_version = attempts_version + 1,
        attempts = jsonb_set(attempts, '{security_code,closedUntil}', '0'),
        code_expires_at = case when ${expired} then now() - interval '1 second' else code_expires_at end
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
  it('"sets or replaces a user-chosen code"', async () => {
    const token = await account('put')
    expect(await state('put')).toMatchObject({ requiresSecurityCode: true, securityCodeSet: false, codeLength: 6 })
    const { status, json } = await put('put', token, CODE)
    expect(status).toBe(200)
    expect(json).toMatchObject({ success: true, codeLength: 6, securityCodeSet: true, securityCodeTemporary: false })
    expect(await state('put')).toMatchObject({ securityCodeSet: true, securityCodeTemporary: false })
    expect((await put('put', token, OTHER)).status).toBe(200)
    expect((await verify('put', token, CODE)).json.action).toBe('rejected')
    expect((await verify('put', token, OTHER)).json.action).toBe('verified')
  })

  it('"weak or common codes refused with 422", naming the rule and not the code', async () => {
    const token = await account('weak7492')
    for (const code of ['111111', '123456', '654321', '121212', '123123', '12', 'abcdef', '7492051234567', CODE]) {
      const { status, json } = await put('weak7492', token, code)
      expect([status, json.reason], code).toEqual([422, 'invalid-data'])
      expect(json.message).toMatch(/^securityCode: (must|is) /)
      expect(json.message).not.toContain(code)
    }
    expect((await state('weak7492')).securityCodeSet).toBe(false)
    for (const body of [{}, { securityCode: 749205 }, { securityCode: null }, [], 'x'])
      expect((await service.call('PUT', path('weak7492'), { session: token, body })).status).toBe(422)
  })

  it('refuses the current code and the previous one', async () => {
    const token = await account('before', CODE)
    expect((await put('before', token, CODE)).json.message).toContain('previous code')
    await put('before', token, OTHER)
    expect((await put('before', token, CODE)).status).toBe(422)
    await service.call('DELETE', path('before'), { session: token })
    expect((await put('before', token, OTHER)).status).toBe(422)
    expect((await put('before', token, '918357')).status).toBe(200)
  })

  it('ends the other sessions of the member, and not its own', async () => {
    const token = await account('others')
    for (const method of ['PUT', 'POST', 'DELETE']) {
      const other = await session('others')
      const body = method === 'PUT' ? { securityCode: CODE } : undefined
      expect((await service.call(method, path('others'), { session: token, body })).status, method).toBe(200)
      expect((await verify('others', other, OTHER)).status, method).toBe(400)
      expect((await service.call('GET', '/users/others', { session: token })).json.sessionId).toBe(token)
    }
  })
})

describe('security code calls', () => {
  it('"A missing or expired session yields 400, with a message telling the caller to bootstrap"', async () => {
    await account('no-session')
    const foreign = await session('somebody')
    for (const token of [undefined, 'made-up', foreign])
      for (const method of ['PUT', 'POST', 'DELETE']) {
        const body = method === 'PUT' ? { securityCode: CODE } : undefined
        const { status, json } = await service.call(method, path('no-session'), { session: token, body })
        expect([status, json.reason]).toEqual([400, 'invalid-data'])
        expect(json.message).toContain('GET /users/{userRef}')
      }
  })

  it('answer 404 where the account does not exist, 400 for another member_ref', async () => {
    const ghost = await session('ghost')
    expect((await put('ghost', ghost, CODE)).json.reason).toBe('user-not-found')
    const token = await account('mine')
    const answer = await service.call('POST', `${path('mine')}?member_ref=else`, { session: token })
    expect([answer.status, answer.json.reason]).toEqual([400, 'invalid-data'])
  })
})

describe('DELETE /users/{userRef}/security-code', () => {
  it('"clears the code", set or not; then no code attempt is open', async () => {
    const token = await account('clear', CODE)
    for (let i = 0; i < 2; i++) {
      const { status, json } = await service.call('DELETE', path('clear'), { session: token })
      expect([status, json.securityCodeSet]).toEqual([200, false])
    }
    expect(await state('clear')).toMatchObject({ securityCodeSet: false, securityCodeTemporary: false })
    const { json } = await verify('clear', token, CODE)
    expect(json).toMatchObject({ action: 'refused', nextAttempt: { mode: 'locked', remainingCodeAttempts: 0 } })
    expect(json.authentication).toMatchObject({ authenticated: false, authMethod: 'security_code' })
  })
})

describe('POST /users/{userRef}/security-code', () => {
  it('"generates a temporary code; plaintext returned once in the response, user must replace it"', async () => {
    const token = await account('temp', CODE)
    const { status, json } = await service.call('POST', path('temp'), { session: token })
    expect(status).toBe(200)
    expect(json).toMatchObject({ codeLength: 6, securityCodeSet: true, securityCodeTemporary: true })
    expect(json.securityCode).toMatch(/^\d{6}$/)
    expect(await state('temp')).toMatchObject({ securityCodeSet: true, securityCodeTemporary: true })
    expect(JSON.stringify(await state('temp'))).not.toContain(`"${json.securityCode}"`)

    const first = await verify('temp', token, json.securityCode)
    expect(first.json).toMatchObject({ action: 'verified', actions: ['enroll', 'change-security-code'] })
    const second = await verify('temp', await session('temp'), json.securityCode)
    expect(second.json).toMatchObject({
      action: 'refused',
      refusedBecause: 'code-used',
      authentication: { authenticated: false },
    })

    expect((await put('temp', token, json.securityCode)).status).toBe(422)
    expect((await put('temp', token, OTHER)).status).toBe(200)
    expect((await verify('temp', token, OTHER)).json).toMatchObject({ action: 'verified', actions: ['enroll'] })
  })

  it('rejects a temporary code after its expiry', async () => {
    const token = await account('late')
    const { json } = await service.call('POST', path('late'), { session: token })
    await timePasses('late', { expired: true })
    expect((await verify('late', token, json.securityCode)).json.action).toBe('refused')
    expect((await state('late')).securityCodeTemporary).toBe(true)
  })

  it('accepts a temporary code once of three concurrent sign-ins', async () => {
    const token = await account('at-once')
    const { json } = await service.call('POST', path('at-once'), { session: token })
    const all = await Promise.all([1, 2, 3].map(() => verify('at-once', token, json.securityCode)))
    expect(all.map((answer) => answer.json.action).sort()).toEqual(['refused', 'refused', 'verified'])
  })

  it('issues at most five an hour, then 429 with the time to wait', async () => {
    const token = await account('five')
    for (let i = 0; i < 5; i++) expect((await service.call('POST', path('five'), { session: token })).status).toBe(200)
    const { status, json, headers } = await service.call('POST', path('five'), { session: token })
    expect([status, json.reason]).toEqual([429, 'quota-exceeded'])
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(3500)
  })
})

describe('POST /users/{userRef} with rotate_security_code', () => {
  it('answers with the code fields of the bootstrap state, with the same values as a bootstrap', async () => {
    for (const body of [{}, { rotate_security_code: true }]) {
      const userRef = `fields-${Object.keys(body).length}`
      const created = (await service.call('POST', `/users/${userRef}`, { body })).json
      const { json } = await service.bootstrap(userRef)
      const fields = ['requiresSecurityCode', 'securityCodeSet', 'securityCodeTemporary', 'codeLength']
      const of = (answer: Record<string, unknown>) => Object.fromEntries(fields.map((name) => [name, answer[name]]))
      expect(of(created)).toEqual(of(json))
      expect(created.securityCodeTemporary).toBe('rotate_security_code' in body)
      expect(created.codeLength).toBe(6)
    }
  })

  it('"a security code is generated and returned once as `securityCode` in the response"', async () => {
    const { session: early } = await service.bootstrap('rot')
    const body = { rotate_security_code: true, user_display_name: 'Rot' }
    const made = await service.call('POST', '/users/rot', { body })
    expect([made.status, made.json.securityCode]).toEqual([201, expect.stringMatching(/^\d{6}$/)])
    expect(await state('rot')).toMatchObject({ securityCodeSet: true, securityCodeTemporary: true, codeLength: 6 })
    expect((await verify('rot', early, made.json.securityCode)).json.action).toBe('verified')
    const again = await service.call('POST', '/users/rot', { body })
    expect([again.status, again.json.securityCode]).toEqual([200, undefined])
  })

  it('issues one code for 10 parallel creations, and one to an account without a code', async () => {
    const body = { rotate_security_code: true }
    const all = await Promise.all(Array.from({ length: 10 }, () => service.call('POST', '/users/rot-race', { body })))
    expect(all.filter(({ json }) => json.securityCode !== undefined)).toHaveLength(1)
    await account('rot-later')
    const later = await service.call('POST', '/users/rot-later', { body })
    expect([later.status, later.json.securityCode]).toEqual([200, expect.stringMatching(/^\d{6}$/)])
  })
})

describe('POST /users/{userRef}/verify with a security code', () => {
  it('answers a right code as a challenged authentication that never counts as typing', async () => {
    const token = await account('right', CODE)
    const { status, json } = await verify('right', token, CODE)
    expect(status).toBe(200)
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
  })

  it('"enrollmentRequired: true when a security code matched but the biometric profile is incomplete"', async () => {
    const token = await account('half', CODE)
    expect((await verify('half', token, OTHER)).json.enrollmentRequired).toBe(false)
    expect((await verify('half', token, CODE)).json.enrollmentRequired).toBe(true)
    const who = await enroll(service, 'whole')
    await put('whole', who.session, CODE)
    expect((await verify('whole', who.session, CODE)).json).toMatchObject({
      action: 'verified',
      actions: [],
      enrollmentRequired: false,
      biometricStatus: 'ok',
    })
  })

  it('goes from typing to the code to locked', async () => {
    const who = await enroll(service, 'path')
    await put('path', who.session, CODE)
    for (const mode of ['biometric', 'biometric', 'security_code']) {
      const { json } = await service.call('POST', '/users/path/verify', { session: who.session, body: stranger() })
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
  })

  it('keeps the lock over new sessions, and answers a correct code like a wrong one', async () => {
    await account('lock', CODE)
    const token = await session('lock')
    for (let i = 0; i < 3; i++) await verify('lock', token, OTHER)
    const fresh = await session('lock')
    const [right, wrong] = [await verify('lock', fresh, CODE), await verify('lock', fresh, OTHER)]
    expect(right.json).toMatchObject({ action: 'refused', actions: ['wait'], nextAttempt: { mode: 'locked' } })
    expect(right.json.nextAttempt.retryAfterSeconds).toBeGreaterThan(890)
    expect(right.json.refusedBecause).toBe('code-locked')
    expect(comparable(right)).toEqual(comparable(wrong))
    await timePasses('lock')
    expect((await verify('lock', fresh, CODE)).json.action).toBe('verified')
  })

  // Regression: the wait was 0, because typing is open in a new session.
  it('gives the end of a code lock while typing is open, also in a new session', async () => {
    const who = await enroll(service, 'code-locked')
    await put('code-locked', who.session, CODE)
    for (let i = 0; i < 3; i++) await verify('code-locked', who.session, OTHER)
    for (const token of [who.session, await session('code-locked')]) {
      const { json } = await verify('code-locked', token, CODE)
      expect(json).toMatchObject({ refusedBecause: 'code-locked', nextAttempt: { mode: 'biometric' } })
      expect(json.nextAttempt.retryAfterSeconds).toBeGreaterThan(850)
    }
  })

  it('gives the reason for a code that is not set, and for a session without attempts', async () => {
    const token = await account('reasons')
    expect((await verify('reasons', token, CODE)).json.refusedBecause).toBe('code-not-set')
    await put('reasons', token, CODE)
    for (let i = 0; i < 3; i++) await verify('reasons', token, OTHER)
    await timePasses('reasons')
    for (let i = 0; i < 2; i++) {
      const { json } = await verify('reasons', token, CODE)
      expect(json).toMatchObject({ action: 'refused', refusedBecause: 'session-used-up' })
    }
  })

  it('keeps the lock when the code is changed or cleared, without a fourth try', async () => {
    const token = await account('relock', CODE)
    for (let i = 0; i < 3; i++) await verify('relock', token, OTHER)
    await service.call('DELETE', path('relock'), { session: token })
    await put('relock', token, '918357')
    expect((await verify('relock', await session('relock'), '918357')).json.action).toBe('refused')
  })

  it('disables the code at the tenth failure until a new code is set', async () => {
    const token = await account('dead', CODE)
    for (let failures = 0; failures < 10; failures++) {
      await timePasses('dead')
      expect((await verify('dead', await session('dead'), OTHER)).json.action).toBe('rejected')
    }
    await timePasses('dead')
    const dead = await verify('dead', await session('dead'), CODE)
    expect(dead.json).toMatchObject({ action: 'refused', nextAttempt: { mode: 'locked', retryAfterSeconds: null } })
    await put('dead', token, '918357')
    expect((await verify('dead', token, '918357')).json.action).toBe('verified')
  })

  it('resets only its own streak with a success', async () => {
    const who = await enroll(service, 'streaks')
    await put('streaks', who.session, CODE)
    for (let i = 0; i < 3; i++)
      await service.call('POST', '/users/streaks/verify', { session: who.session, body: stranger() })
    await verify('streaks', who.session, OTHER)
    await verify('streaks', who.session, CODE)
    const [row] = await database.asSystem(
      (sql) => sql`select attempts from keystride.member where member_ref = 'streaks'`,
    )
    expect(row?.attempts).toMatchObject({ biometric: { streak: 3 }, security_code: { streak: 0 } })
    expect(row?.attempts.security_code.recentFailures).toHaveLength(1)
  })

  it('does not count a body that cannot be a code', async () => {
    const token = await account('shape', CODE)
    for (const wrong of ['abc', '', 749205, null, {}, '1'.repeat(500)]) {
      const { status, json } = await verify('shape', token, wrong)
      expect([status, json.reason]).toEqual([422, 'invalid-data'])
    }
    expect((await verify('shape', token, OTHER)).json.nextAttempt.remainingCodeAttempts).toBe(2)
  })

  it('accepts member_ref in the body, and refuses one of another account', async () => {
    const token = await account('body-ref', CODE)
    const ask = (member_ref: string, query = '') =>
      service.call('POST', `/users/body-ref/verify${query}`, {
        session: token,
        body: { securityCode: CODE, member_ref },
      })
    expect((await ask(' Body-Ref ')).json.action).toBe('verified')
    expect((await ask('else')).status).toBe(400)
    expect((await ask('else', '?member_ref=body-ref')).status).toBe(400)
  })

  it('does not allow further references of a complete profile', async () => {
    const who = await enroll(service, 'no-more')
    await put('no-more', who.session, CODE)
    expect((await verify('no-more', who.session, CODE)).json.action).toBe('verified')
    const { status } = await service.call('POST', '/users/no-more/typing-patterns', {
      session: who.session,
      body: who.fresh(),
    })
    expect(status).toBe(409)
  })

  it('stores neither the code nor a hash that can be tested without the pepper', async () => {
    await account('kept', CODE)
    const [row] = await database.asSystem((sql) => sql`select m.* from keystride.member m where member_ref = 'kept'`)
    expect(row?.code_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    expect(JSON.stringify(row)).not.toContain(CODE)
  })
})

describe('the policy', () => {
  it('requires its own length and lists, and closes codes if the fallback is off', async () => {
    const token = await account('policy', CODE)
    const change = (fallback: object) =>
      database.asSystem(
        (sql) => sql`
          update keystride.policy
          set policy = jsonb_set(policy, '{security_code_fallback}',
            policy -> 'security_code_fallback' || ${JSON.stringify(fallback)}::text::jsonb)`,
      )
    const seen = (isSo: (json: Record<string, unknown>) => boolean) =>
      until(async () => isSo((await service.call('GET', '/users/policy', { session: token })).json))
    await change({ code_length: 8, weak_codes: ['74920518'] })
    await seen(({ codeLength }) => codeLength === 8)
    expect((await put('policy', token, '74920518')).status).toBe(422)
    expect((await put('policy', token, OTHER)).status).toBe(422)
    expect((await verify('policy', token, CODE)).json.action).toBe('verified')
    await change({ enabled: false })
    await seen(({ requiresSecurityCode }) => requiresSecurityCode === false)
    const closed = await verify('policy', token, CODE)
    expect(closed.json).toMatchObject({
      action: 'refused',
      refusedBecause: 'fallback-off',
      nextAttempt: { remainingCodeAttempts: 0 },
    })
    await change({ enabled: true, code_length: 6, weak_codes: [], require_biometric_first: true })
    await seen(({ codeLength }) => codeLength === 6)
    const who = await enroll(service, 'typing-first')
    await put('typing-first', who.session, CODE)
    expect((await verify('typing-first', who.session, CODE)).json.refusedBecause).toBe('typing-first')
    await service.call('POST', '/users/typing-first/verify', { session: who.session, body: stranger() })
    expect((await verify('typing-first', who.session, CODE)).json.action).toBe('verified')
    await change({ require_biometric_first: false })
  })
})

describe('parallel codes', () => {
  it('are compared at most three times in a session, out of 50 wrong ones', async () => {
    const token = await account('race', CODE)
    const all = await Promise.all(Array.from({ length: 50 }, (_, i) => verify('race', token, String(200_100 + i * 7))))
    expect(all.every(({ status }) => status === 200)).toBe(true)
    expect(all.filter(({ json }) => json.action === 'rejected')).toHaveLength(3)
    expect((await verify('race', await session('race'), CODE)).json.action).toBe('refused')
  })

  it('are compared at most three times over twenty sessions', async () => {
    await account('flood', CODE)
    const tokens = await Promise.all(Array.from({ length: 20 }, () => session('flood')))
    const all = await Promise.all(
      tokens.flatMap((token, i) => [1, 2, 3].map((n) => verify('flood', token, String(200_100 + i * 21 + n * 7)))),
    )
    expect(all.filter(({ json }) => json.action === 'rejected')).toHaveLength(3)
  })

  it('get 429 beyond the queue, without using an attempt', async () => {
    const users = Array.from({ length: 200 }, (_, i) => `crowd-${i}`)
    const tokens: string[] = []
    while (tokens.length < users.length) {
      const next = users.slice(tokens.length, tokens.length + 50)
      tokens.push(...(await Promise.all(next.map((userRef) => account(userRef)))))
    }
    await database.asSystem(
      (sql) => sql`
        update keystride.member m set code_hash = o.code_hash from keystride.member o
        where o.member_ref = 'kept' and m.member_ref like 'crowd-%'`,
    )
    // Three codes for each user, so that they arrive faster than a slow machine compares them.
    const all = await Promise.all(
      users.map((userRef, i) => Promise.all([1, 2, 3].map(() => verify(userRef, tokens[i] ?? '', OTHER)))),
    )
    // Only members without a 503: an attempt that gets 503 counts as used.
    const known = all.map((three) => three.every(({ status, json }) => status === 429 || json.action === 'rejected'))
    const limited = all.findIndex((three, i) => known[i] && three.some(({ status }) => status === 429))
    expect(limited).toBeGreaterThanOrEqual(0)
    const three = all[limited] ?? []
    expect(three.find(({ status }) => status === 429)?.json.reason).toBe('quota-exceeded')
    const compared = three.filter(({ json }) => json.action === 'rejected').length
    const again = await verify(users[limited] ?? '', tokens[limited] ?? '', OTHER)
    expect(again.json.nextAttempt.remainingCodeAttempts).toBe(2 - compared)
  }, 90_000)
})
