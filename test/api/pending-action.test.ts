import { describe, expect, it } from 'vitest'
import { authenticated, enroll, enrollOne, verifyOf } from '../harness/enrolled.js'
import { figure, LONG } from '../harness/figure.js'
import { sharedService } from '../harness/service.js'
import { ownRows, referencesOf } from './own-rows.js'

const RESET = 'RESET_BIOMETRIC_PROFILE'
const UPDATE = 'UPDATE_BIOMETRIC_PROFILE'
const BOOTSTRAPS = LONG ? 10_000 : 500
const LAPSED = LONG ? 100 : 5

const service = await sharedService()
const rows = ownRows(service)

const queue = (userRef: string, action: unknown, more: object = {}) =>
  service.call('POST', `/users/${userRef}/pending-action`, { body: { action, ...more } })
const clear = (userRef: string) => service.call('DELETE', `/users/${userRef}/pending-action`)
const state = async (userRef: string) => (await service.call('GET', `/users/${userRef}`)).json
const references = (userRef: string) => referencesOf(rows, userRef)
const daysPass = (userRef: string, days: number) =>
  rows(
    (sql) => sql`
      update keystride.member set pending_queued_at = pending_queued_at - ${days} * interval '1 day'
      where member_ref = ${userRef}`,
  )

describe('POST and DELETE /users/{userRef}/pending-action', () => {
  it('"queues it for the next sign-in", "clears it", and bootstrap reports it', async () => {
    await service.call('POST', '/users/queued')
    expect((await state('queued')).pendingAction).toBeNull()
    for (const action of [RESET, UPDATE]) {
      expect((await queue('queued', action)).json).toMatchObject({ memberRef: 'queued', pendingAction: action })
      expect((await state('queued')).pendingAction).toBe(action)
    }
    for (let i = 0; i < 2; i++) expect((await clear('queued')).json.pendingAction).toBeNull()
    expect((await state('queued')).pendingAction).toBeNull()
  })

  it('refuses an unknown action with 422, an absent user with 404, another member with 400', async () => {
    await service.call('POST', '/users/strict')
    for (const action of ['NONSENSE', null, undefined])
      expect(await queue('strict', action)).toMatchObject({ status: 422, json: { reason: 'invalid-data' } })
    expect((await queue('ghost', RESET)).status).toBe(404)
    expect((await clear('ghost')).status).toBe(404)
    const other = await service.call('POST', '/users/strict/pending-action?member_ref=else', {
      body: { action: RESET },
    })
    expect([other.status, other.json.reason]).toEqual([400, 'invalid-data'])
  })

  it('belongs to one member of a shared account, who must be named', async () => {
    for (const member_ref of ['ann', 'bob'])
      await service.call('POST', '/users/desk', { body: { type: 'generic', member_ref } })
    expect((await queue('desk', RESET)).status).toBe(400)
    const { json } = await queue('desk', RESET, { member_ref: 'Ann' })
    expect(json).toMatchObject({ userRef: 'desk', memberRef: 'ann', pendingAction: RESET })
    const pending = async () =>
      Promise.all(
        ['', '?member_ref=ann', '?member_ref=bob'].map(async (query) => (await state(`desk${query}`)).pendingAction),
      )
    expect(await pending()).toEqual([null, RESET, null])
    const remove = (member: string) => service.call('DELETE', `/users/desk/pending-action?member_ref=${member}`)
    expect(await remove('cid')).toMatchObject({ status: 404, json: { reason: 'user-not-found' } })
    await remove('ann')
    expect(await pending()).toEqual([null, null, null])
  })

  it(`lapses after seven days, and resets nothing then, ${LAPSED} times`, async () => {
    const who = await enroll(service, 'lapsed')
    const before = await references('lapsed')
    for (let n = 0; n < LAPSED; n++) {
      await queue('lapsed', RESET)
      // The action is reported while it is live, and has lapsed when the pattern arrives.
      await daysPass('lapsed', 6.9)
      const { session, json } = await service.bootstrap('lapsed')
      expect(json.pendingAction).toBe(RESET)
      await daysPass('lapsed', 0.2)
      expect((await state('lapsed')).pendingAction).toBeNull()
      expect((await enrollOne(service, who, session)).status).toBe(409)
    }
    const kept = (await references('lapsed')).filter((id) => before.includes(id)).length
    figure('T14', `${before.length - kept} references lost to ${LAPSED} lapsed resets`, '0', kept === before.length)
  })
})

describe(RESET, () => {
  it(`is executed by none of ${BOOTSTRAPS} bootstraps`, async () => {
    await enroll(service, 'safe')
    const before = await references('safe')
    await queue('safe', RESET)
    for (let n = 0; n < BOOTSTRAPS; n += 10) {
      const all = await Promise.all(Array.from({ length: 10 }, () => service.bootstrap('safe')))
      for (const { json } of all) expect(json).toMatchObject({ pendingAction: RESET, biometricStatus: 'ok' })
    }
    const after = await references('safe')
    const changed = before.filter((id) => !after.includes(id)).length + after.length - before.length
    figure('T14', `${changed} references changed by ${BOOTSTRAPS} bootstraps`, '0', changed === 0)
  })

  it('is executed by the first enroll call of a session that was bootstrapped after it, and is done then', async () => {
    const who = await enroll(service, 'reset')
    const old = await references('reset')
    const elsewhere = (await service.bootstrap('reset')).session
    await queue('reset', RESET)
    const { session } = await service.bootstrap('reset')
    const first = await enrollOne(service, who, session)
    expect(first.json).toMatchObject({ created: true, nPatternsRef: 1, biometricStatus: 'in-progress' })
    expect((await references('reset')).filter((id) => old.includes(id))).toEqual([])
    expect((await enrollOne(service, who, elsewhere)).status).toBe(400)
    for (let n = 2; n <= 5; n++) expect((await enrollOne(service, who, session)).json.nPatternsRef).toBe(n)
    expect(await state('reset')).toMatchObject({ pendingAction: null, biometricStatus: 'ok', nPatternsRef: 5 })
  })

  it('is not executed by a refused pattern, by verify, nor by a session from before it', async () => {
    const who = await enroll(service, 'kept')
    const before = await references('kept')
    await queue('kept', RESET)
    expect((await enrollOne(service, who)).status).toBe(409)
    const { session } = await service.bootstrap('kept')
    for (const body of [{}, who.first])
      expect((await service.call('POST', '/users/kept/typing-patterns', { session, body })).status).toBe(422)
    expect((await verifyOf(service, 'kept', who.fresh(), session)).json.action).toMatch(/^(verified|rejected)$/)
    expect(await references('kept')).toEqual(before)
    // A bootstrap reports it in the session from before it, which then executes it.
    const { json } = await service.call('GET', '/users/kept', { session: who.session })
    expect(json).toMatchObject({ sessionId: who.session, pendingAction: RESET })
    expect((await enrollOne(service, who)).json).toMatchObject({ nPatternsRef: 1 })
  })

  it('that was cleared or queued again after the bootstrap is not executed before the next bootstrap', async () => {
    const who = await enroll(service, 'twice')
    await queue('twice', RESET)
    const { session } = await service.bootstrap('twice')
    for (const change of [clear, (userRef: string) => queue(userRef, RESET)]) {
      await change('twice')
      expect((await enrollOne(service, who, session)).status).toBe(409)
    }
    expect(await references('twice')).toHaveLength(5)
  })
})

describe(UPDATE, () => {
  it('replaces the oldest reference by each of the next five patterns after an authenticated verify; the profile stays ok', async () => {
    const who = await enroll(service, 'updated')
    const old = await references('updated')
    await queue('updated', UPDATE)
    const { session: unproven } = await service.bootstrap('updated')
    expect((await enrollOne(service, who, unproven)).status).toBe(409)
    let session = await authenticated(service, who)
    for (let n = 1; n <= 5; n++) {
      // An incomplete update continues in the next sign-in.
      if (n === 3) session = await authenticated(service, who)
      const progress = (nPatternsReplaced: number) => ({
        profileUpdate: { nPatternsReplaced, nPatternsToReplace: 5 },
      })
      expect(await state('updated')).toMatchObject({ pendingAction: UPDATE, ...progress(n - 1) })
      const { json } = await enrollOne(service, who, session)
      expect(json).toMatchObject({ created: true, nPatternsRef: 5, biometricStatus: 'ok', ...progress(n) })
      expect((await references('updated')).slice(0, 5 - n)).toEqual(old.slice(n))
    }
    expect(await state('updated')).toMatchObject({ pendingAction: null, profileUpdate: null, biometricStatus: 'ok' })
    expect((await enrollOne(service, who, session)).json).toMatchObject({ nPatternsRef: 6, profileUpdate: null })
  })

  it('keeps a full profile full', async () => {
    const who = await enroll(service, 'brim')
    const session = await authenticated(service, who)
    for (let n = 6; n <= 10; n++) await enrollOne(service, who, session)
    await queue('brim', UPDATE)
    const next = await authenticated(service, who)
    const full = { nPatternsRef: 10, biometricStatus: 'full' }
    for (let n = 1; n <= 5; n++)
      expect((await enrollOne(service, who, next)).json).toMatchObject({ created: true, ...full })
    expect(await state('brim')).toMatchObject({ pendingAction: null })
    expect((await enrollOne(service, who, next)).json).toMatchObject({ created: false, ...full })
  })

  it('is cleared by a reset of the profile', async () => {
    await enroll(service, 'moot')
    await queue('moot', UPDATE)
    await service.call('DELETE', '/users/moot/typing-patterns')
    expect((await state('moot')).pendingAction).toBeNull()
  })
})
