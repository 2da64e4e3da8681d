import { afterAll, beforeAll, expect, it } from 'vitest'
import { connectPostgres, type Database } from '../../src/storage/postgres/connection/client.js'
import { freshDatabase } from '../servers/database.js'
import { type Answer, redisUrl, startService, type TestService } from '../service.js'
import { type Enrolled, enroll, stranger } from './enrolled.js'

/** Each row of the state table of the biometric profile (docs/interface-tests.md), through the API. */
let url: string
let service: TestService
let database: Database
beforeAll(async () => {
  url = (await freshDatabase()).url
  service = await startService(url)
  database = connectPostgres({ url, max: 2, patience: 10 })
})
afterAll(async () => {
  await service.close()
  await database.close()
})

const path = (userRef: string) => `/users/${userRef}/typing-patterns`
const state = async (userRef: string, of = service) => (await of.bootstrap(userRef)).json
/** Sends patterns until one is not classified as a machine's. */
async function type(who: Enrolled, { session = who.session, of = service } = {}): Promise<Answer> {
  for (;;) {
    const answer = await of.call('POST', path(who.userRef), { session, body: who.fresh() })
    if (answer.json.reason !== 'detection-bot') return answer
  }
}
const verify = (who: Enrolled, session = who.session) =>
  service.call('POST', `/users/${who.userRef}/verify`, { session, body: who.fresh() })
/** A session in which typing has just succeeded. */
async function authenticated(who: Enrolled): Promise<string> {
  for (;;) {
    const { session } = await service.bootstrap(who.userRef)
    for (let attempt = 0; attempt < 3; attempt++) {
      if ((await verify(who, session)).json.authentication.authenticated) return session
    }
  }
}
const yearPasses = (userRef: string) =>
  database.asSystem(
    (sql) => sql`
        update keystride.member set completed_at = completed_at - interval '366 days',
          typed_at = typed_at - interval '366 days', last_success_at = last_success_at - interval '366 days'
        where member_ref = ${userRef}`,
  )
const references = async (userRef: string) => {
  const rows = await database.asSystem(
    (sql) => sql<{ id: string }[]>`
        select r.id from keystride.reference_pattern r join keystride.member m on m.id = r.member_id
        where m.member_ref = ${userRef} and r.kind = 'enrolled' order by r.created_at, r.id`,
  )
  return rows.map(({ id }) => id)
}

it('absent | bootstrap | not-ready, 404 shell', async () => {
  const { status, json } = await service.bootstrap('absent')
  expect([status, json.biometricStatus, json.nPatternsRef]).toEqual([404, 'not-ready', 0])
})

it('not-ready | enroll | in-progress, then ok at the target', async () => {
  const who = await enroll(service, 'beginner', 1)
  expect(await state('beginner')).toMatchObject({ biometricStatus: 'in-progress', nPatternsRef: 1 })
  for (const [n, biometricStatus] of [
    [2, 'in-progress'],
    [3, 'in-progress'],
    [4, 'in-progress'],
    [5, 'ok'],
  ] as const) {
    expect((await type(who)).json).toMatchObject({ created: true, nPatternsRef: n, biometricStatus })
  }
})

it('reset | enroll | in-progress', async () => {
  const who = await enroll(service, 'again', 2)
  await service.call('DELETE', path('again'))
  const { session } = await service.bootstrap('again')
  const { json } = await type(who, { session })
  expect(json).toMatchObject({ created: true, nPatternsRef: 1, biometricStatus: 'in-progress' })
})

it('ok | enroll without authentication | 409, and nothing is stored by a hundred tries', async () => {
  const who = await enroll(service, 'finished')
  for (let n = 0; n < 100; n++) {
    const { status, json } = await type(who)
    expect([status, json.reason]).toEqual([409, 'invalid-action'])
  }
  expect(await references('finished')).toHaveLength(5)
})

it('ok | enroll in a session already authenticated | ok, full at F', async () => {
  const who = await enroll(service, 'growing')
  const session = await authenticated(who)
  for (let n = 6; n <= 10; n++) {
    const { json } = await type(who, { session })
    expect(json).toMatchObject({ created: true, nPatternsRef: n, biometricStatus: n < 10 ? 'ok' : 'full' })
  }
})

it('full | enroll | full, 200 with created false, nothing stored', async () => {
  const who = await enroll(service, 'full')
  const session = await authenticated(who)
  for (let n = 6; n <= 10; n++) await type(who, { session })
  for (const token of [session, (await service.bootstrap('full')).session]) {
    const { status, json } = await type(who, { session: token })
    expect([status, json.created, json.patternId, json.nPatternsRef]).toEqual([200, false, null, 10])
    expect(json.biometricStatus).toBe('full')
  }
  expect(await references('full')).toHaveLength(10)
})

it('any | DELETE typing-patterns | reset, n = 0, lock cleared, sessions ended', async () => {
  const who = await enroll(service, 'wiped')
  for (let failures = 0; failures < 5; ) {
    const { session } = await service.bootstrap('wiped')
    for (let i = 0; i < 3 && failures < 5; i++, failures++) {
      await service.call('POST', '/users/wiped/verify', { session, body: stranger() })
    }
  }
  expect((await verify(who, (await service.bootstrap('wiped')).session)).json.action).toBe('refused')
  const { json } = await service.call('DELETE', path('wiped'))
  expect(json).toMatchObject({ biometricStatus: 'reset', nPatternsRef: 0, n_patterns_deleted: 5 })
  expect((await type(who)).status).toBe(400)
  const session = (await service.bootstrap('wiped')).session
  for (let n = 0; n < 5; n++) await type(who, { session })
  expect((await verify(who, session)).json.action).toMatch(/^(verified|rejected)$/)
})

it('any | DELETE one pattern | full, ok, in-progress or reset, by the remaining number', async () => {
  const who = await enroll(service, 'picked')
  const session = await authenticated(who)
  for (let n = 6; n <= 10; n++) await type(who, { session })
  const wanted = ['full', 'full', ...Array(3).fill('ok'), ...Array(4).fill('in-progress'), 'reset']
  const smaller = await startService(url, { redisUrl, more: { FULL_REF_PATTERNS: '8' } })
  try {
    for (const [i, id] of (await references('picked')).entries()) {
      const { json } = await smaller.call('DELETE', `${path('picked')}/${id}`)
      expect(json).toMatchObject({ nPatternsRef: 9 - i, biometricStatus: wanted[i] })
    }
  } finally {
    await smaller.close()
  }
  expect(await state('picked')).toMatchObject({ biometricStatus: 'reset', nPatternsRef: 0 })
})

it('ok, full | T raised above n | in-progress, and complete again at T', async () => {
  const who = await enroll(service, 'raised')
  const more = { TARGET_REF_PATTERNS: '7', FULL_REF_PATTERNS: '8' }
  const stricter = await startService(url, { redisUrl, more })
  try {
    const { json, session } = await stricter.bootstrap('raised')
    expect(json).toMatchObject({ biometricStatus: 'in-progress', nPatternsRef: 5, targetRefPatterns: 7 })
    const asked = await stricter.call('POST', '/users/raised/verify', { session, body: who.fresh() })
    expect(asked.json).toMatchObject({ action: 'enroll', enrollmentRequired: true })
    expect(asked.json.refPatternsStatus.textVisible).toBe('in-progress')
    expect((await type(who, { session, of: stricter })).json.biometricStatus).toBe('in-progress')
    const seventh = await type(who, { session, of: stricter })
    expect(seventh.json).toMatchObject({ nPatternsRef: 7, targetRefPatterns: 7, biometricStatus: 'ok' })
  } finally {
    await stricter.close()
  }
})

it('ok, full | 365 days without a success | expired', async () => {
  const who = await enroll(service, 'idle')
  await yearPasses('idle')
  expect(await state('idle')).toMatchObject({ biometricStatus: 'expired', nPatternsRef: 5 })
  const { json } = await verify(who, (await service.bootstrap('idle')).session)
  expect(json).toMatchObject({ action: 'enroll', biometricStatus: 'expired', enrollmentRequired: true })
  expect(json.authentication).toMatchObject({ authenticated: false, recommendedAction: 'challenge' })
})

it('ok, full | a generation the scorer cannot read | expired', async () => {
  await enroll(service, 'unreadable')
  await database.asSystem((sql) => sql`update keystride.member set sample_format = 99 where member_ref = 'unreadable'`)
  expect(await state('unreadable')).toMatchObject({ biometricStatus: 'expired', nPatternsRef: 5 })
})

it('expired | sign-in by security code | expired: a code does not renew the profile', async () => {
  const who = await enroll(service, 'by-code')
  await service.call('PUT', '/users/by-code/security-code', {
    session: who.session,
    body: { securityCode: '749205' },
  })
  await yearPasses('by-code')
  const { json } = await service.call('POST', '/users/by-code/verify', {
    session: who.session,
    body: { securityCode: '749205' },
  })
  expect(json).toMatchObject({ action: 'verified', enrollmentRequired: true, biometricStatus: 'expired' })
  expect((await state('by-code')).biometricStatus).toBe('expired')
})

it.each([
  ['unused', () => yearPasses('renewed-unused')],
  [
    'unread',
    () =>
      database.asSystem(
        (sql) => sql`update keystride.member set sample_format = 99 where member_ref = 'renewed-unread'`,
      ),
  ],
])(
  'expired (%s) | enroll | in-progress, the old generation is dropped when the new one completes',
  async (why, expire) => {
    const who = await enroll(service, `renewed-${why}`)
    const old = await references(who.userRef)
    await expire()
    const session = (await service.bootstrap(who.userRef)).session
    for (let n = 1; n < 5; n++) {
      const counts = { nPatternsRef: n, biometricStatus: 'in-progress' }
      expect((await type(who, { session })).json).toMatchObject({ created: true, ...counts })
      expect(await state(who.userRef)).toMatchObject(counts)
      expect(await references(who.userRef)).toEqual(expect.arrayContaining(old))
    }
    const tried = await verify(who, session)
    expect(tried.json).toMatchObject({ action: 'enroll', biometricStatus: 'in-progress', enrollmentRequired: true })
    expect(tried.json.refPatternsStatus.textVisible).toBe('in-progress')
    expect((await type(who, { session })).json).toMatchObject({ nPatternsRef: 5, biometricStatus: 'ok' })
    const now = await references(who.userRef)
    expect(now).toHaveLength(5)
    expect(now.filter((id) => old.includes(id))).toEqual([])
    expect((await verify(who, session)).json.authentication).toMatchObject({ nPatternsRef: 5, nPatternsRefUsed: 5 })
    expect((await type(who, { session: (await service.bootstrap(who.userRef)).session })).status).toBe(409)
  },
)

it('expired | enroll, 20 calls at once | ok with five', async () => {
  const who = await enroll(service, 'hurried')
  await yearPasses('hurried')
  const { session } = await service.bootstrap('hurried')
  const all = await Promise.all(
    Array.from({ length: 20 }, () => service.call('POST', path('hurried'), { session, body: who.fresh() })),
  )
  const created = all.filter(({ json }) => json.created)
  expect(created).toHaveLength(5)
  expect(await state('hurried')).toMatchObject({ biometricStatus: 'ok', nPatternsRef: 5 })
  expect(await references('hurried')).toHaveLength(5)
})

it('expired | enroll, then DELETE that pattern | expired again', async () => {
  const who = await enroll(service, 'wavering')
  await yearPasses('wavering')
  const { json } = await type(who, { session: (await service.bootstrap('wavering')).session })
  const gone = await service.call('DELETE', `${path('wavering')}/${json.patternId}`)
  expect(gone.json).toMatchObject({ biometricStatus: 'expired', nPatternsRef: 5 })
})
