import { expect, it } from 'vitest'
import { enroll, enrollOne, verifyOf } from '../harness/enrolled.js'
import { sharedService } from '../harness/service.js'
import { ownRows, referencesOf } from './own-rows.js'

/** The transitions of an expired profile as an API call sees them. The simulator (I6) has all transitions. */
const service = await sharedService()
const rows = ownRows(service)

const path = (userRef: string) => `/users/${userRef}/typing-patterns`
const state = async (userRef: string) => (await service.bootstrap(userRef)).json
const references = (userRef: string) => referencesOf(rows, userRef)
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

it('expired | enroll, then DELETE that pattern | expired again', async () => {
  const who = await enroll(service, 'wavering')
  await EXPIRES['unused for a year']('wavering')
  const { json } = await enrollOne(service, who, (await service.bootstrap('wavering')).session)
  const gone = await service.call('DELETE', `${path('wavering')}/${json.patternId}`)
  expect(gone.json).toMatchObject({ biometricStatus: 'expired', nPatternsRef: 5 })
})
