import { expect, it } from 'vitest'
import { authenticated, type Enrolled, enroll, enrollOne, verifyOf } from '../harness/enrolled.js'
import { sharedService } from '../harness/service.js'
import { ownRows, referencesOf } from './own-rows.js'
import { secondService } from './second-service.js'

/** Transitions of the biometric profile as an API call sees them. The simulator (I6) has all of them. */
const service = await sharedService()
const rows = ownRows(service)

const path = (userRef: string) => `/users/${userRef}/typing-patterns`
const state = async (userRef: string) => (await service.bootstrap(userRef)).json
const references = (userRef: string) => referencesOf(rows, userRef)
/** Enrolls in a session in which typing has just succeeded, until the profile is full. */
async function full(who: Enrolled): Promise<string> {
  const session = await authenticated(service, who)
  for (let n = 6; n <= 10; n++) {
    const { json } = await enrollOne(service, who, session)
    expect(json).toMatchObject({ created: true, nPatternsRef: n, biometricStatus: n < 10 ? 'ok' : 'full' })
  }
  return session
}
const EXPIRES = {
  'unused for a year': (userRef: string) =>
    rows(
      (sql) => sql`
        update keystride.member set completed_at = completed_at - interval '366 days',
          typed_at = typed_at - interval '366 days', last_success_at = last_success_at - interval '366 days'
        where member_ref = ${userRef}`,
    ),
  'of a format that the scorer cannot read': (userRef: string) =>
    rows((sql) => sql`update keystride.member set sample_format = 99 where member_ref = ${userRef}`),
}

it('full | enroll | full, 200 with created false, nothing stored', async () => {
  const who = await enroll(service, 'full')
  const session = await full(who)
  for (const token of [session, (await service.bootstrap('full')).session]) {
    const { status, json } = await enrollOne(service, who, token)
    expect([status, json]).toMatchObject([
      200,
      { created: false, patternId: null, nPatternsRef: 10, biometricStatus: 'full' },
    ])
  }
  expect(await references('full')).toHaveLength(10)
})

it('any | DELETE one pattern | full, ok, in-progress or reset, by the remaining number', async () => {
  await full(await enroll(service, 'picked'))
  const wanted = ['full', 'full', ...Array(3).fill('ok'), ...Array(4).fill('in-progress'), 'reset']
  const smaller = await secondService(service, { FULL_REF_PATTERNS: '8' })
  for (const [i, id] of (await references('picked')).entries()) {
    const { json } = await smaller.call('DELETE', `${path('picked')}/${id}`)
    expect(json).toMatchObject({ nPatternsRef: 9 - i, biometricStatus: wanted[i] })
  }
  await smaller.close()
})

it('ok, full | T raised above n | in-progress, and complete again at T', async () => {
  const who = await enroll(service, 'raised')
  const stricter = await secondService(service, { TARGET_REF_PATTERNS: '7', FULL_REF_PATTERNS: '8' })
  const { json, session } = await stricter.bootstrap('raised')
  expect(json).toMatchObject({ biometricStatus: 'in-progress', nPatternsRef: 5, targetRefPatterns: 7 })
  const { json: asked } = await verifyOf(stricter, 'raised', who.fresh(), session)
  expect(asked).toMatchObject({ action: 'enroll', enrollmentRequired: true })
  expect(asked.refPatternsStatus.textVisible).toBe('in-progress')
  expect((await enrollOne(stricter, who, session)).json.biometricStatus).toBe('in-progress')
  expect((await enrollOne(stricter, who, session)).json).toMatchObject({ nPatternsRef: 7, biometricStatus: 'ok' })
  await stricter.close()
})

it('expired | verify by typing or by code | expired: a code does not renew the profile', async () => {
  const who = await enroll(service, 'idle')
  const code = { securityCode: '749205' }
  await service.call('PUT', '/users/idle/security-code', { session: who.session, body: code })
  await EXPIRES['unused for a year']('idle')
  const { json } = await verifyOf(service, 'idle', who.fresh())
  expect(json).toMatchObject({ action: 'enroll', biometricStatus: 'expired', enrollmentRequired: true })
  expect(json.authentication).toMatchObject({ authenticated: false, recommendedAction: 'challenge' })
  expect((await verifyOf(service, 'idle', code)).json).toMatchObject({
    action: 'verified',
    enrollmentRequired: true,
    biometricStatus: 'expired',
  })
  expect(await state('idle')).toMatchObject({ biometricStatus: 'expired', nPatternsRef: 5 })
})

it.each(Object.entries(EXPIRES))(
  'expired (%s) | enroll | in-progress, the old generation is dropped when the new one completes',
  async (why, expire) => {
    const who = await enroll(service, `renewed-${why.length}`)
    const old = await references(who.userRef)
    await expire(who.userRef)
    const { session, json } = await service.bootstrap(who.userRef)
    expect(json).toMatchObject({ biometricStatus: 'expired', nPatternsRef: 5 })
    for (let n = 1; n < 5; n++) {
      const counts = { nPatternsRef: n, biometricStatus: 'in-progress' }
      expect((await enrollOne(service, who, session)).json).toMatchObject({ created: true, ...counts })
      expect(await state(who.userRef)).toMatchObject(counts)
      expect(await references(who.userRef)).toEqual(expect.arrayContaining(old))
    }
    const { json: tried } = await verifyOf(service, who.userRef, who.fresh(), session)
    expect(tried).toMatchObject({ action: 'enroll', biometricStatus: 'in-progress', enrollmentRequired: true })
    expect((await enrollOne(service, who, session)).json).toMatchObject({ nPatternsRef: 5, biometricStatus: 'ok' })
    const now = await references(who.userRef)
    expect([now.length, now.filter((id) => old.includes(id))]).toEqual([5, []])
    const { json: verified } = await verifyOf(service, who.userRef, who.fresh(), session)
    expect(verified.authentication).toMatchObject({ nPatternsRef: 5, nPatternsRefUsed: 5 })
    expect((await enrollOne(service, who, (await service.bootstrap(who.userRef)).session)).status).toBe(409)
  },
)

it('expired | enroll, 20 calls at once | ok with five', async () => {
  const { userRef, fresh } = await enroll(service, 'hurried')
  await EXPIRES['unused for a year'](userRef)
  const { session } = await service.bootstrap(userRef)
  const all = await Promise.all(
    Array.from({ length: 20 }, () => service.call('POST', path(userRef), { session, body: fresh() })),
  )
  expect(all.filter(({ json }) => json.created)).toHaveLength(5)
  expect(await state(userRef)).toMatchObject({ biometricStatus: 'ok', nPatternsRef: 5 })
  expect(await references(userRef)).toHaveLength(5)
})

it('expired | enroll, then DELETE that pattern | expired again', async () => {
  const who = await enroll(service, 'wavering')
  await EXPIRES['unused for a year']('wavering')
  const { json } = await enrollOne(service, who, (await service.bootstrap('wavering')).session)
  const gone = await service.call('DELETE', `${path('wavering')}/${json.patternId}`)
  expect(gone.json).toMatchObject({ biometricStatus: 'expired', nPatternsRef: 5 })
})
