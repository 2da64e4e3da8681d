import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectPostgres, type Database } from '../../src/storage/postgres/connection/client.js'
import { freshDatabase } from '../servers/database.js'
import { type Answer, startService, type TestService } from '../service.js'
import { figure, LONG } from '../trust/figure.js'
import { type Enrolled, enroll } from './enrolled.js'

const RESET = 'RESET_BIOMETRIC_PROFILE'
const UPDATE = 'UPDATE_BIOMETRIC_PROFILE'
const BOOTSTRAPS = LONG ? 10_000 : 500
const LAPSED = LONG ? 100 : 5

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

const queue = (userRef: string, action: unknown) =>
  service.call('POST', `/users/${userRef}/pending-action`, { body: { action } })
const clear = (userRef: string) => service.call('DELETE', `/users/${userRef}/pending-action`)
const state = async (userRef: string) => (await service.call('GET', `/users/${userRef}`)).json
async function type(who: Enrolled, session: string): Promise<Answer> {
  for (;;) {
    const body = who.fresh()
    const answer = await service.call('POST', `/users/${who.userRef}/typing-patterns`, { session, body })
    if (answer.json.reason !== 'detection-bot') return answer
  }
}
const verify = (who: Enrolled, session: string) =>
  service.call('POST', `/users/${who.userRef}/verify`, { session, body: who.fresh() })
async function authenticated(who: Enrolled): Promise<string> {
  for (;;) {
    const { session } = await service.bootstrap(who.userRef)
    for (let attempt = 0; attempt < 3; attempt++) {
      if ((await verify(who, session)).json.authentication.authenticated) return session
    }
  }
}
const enrolledIds = async (userRef: string) => {
  const rows = await database.asSystem(
    (sql) => sql<{ id: string }[]>`
        select r.id from keystride.reference_pattern r join keystride.member m on m.id = r.member_id
        where m.member_ref = ${userRef} and r.kind = 'enrolled' order by r.created_at, r.id`,
  )
  return rows.map(({ id }) => id)
}
const daysPass = (userRef: string, days: number) =>
  database.asSystem(
    (sql) => sql`
        update keystride.member set pending_queued_at = pending_queued_at - ${days} * interval '1 day'
        where member_ref = ${userRef}`,
  )

describe('POST and DELETE /users/{userRef}/pending-action', () => {
  it('"queues it for the next sign-in", "clears it", and bootstrap reports it', async () => {
    await service.call('POST', '/users/queued')
    expect((await state('queued')).pendingAction).toBeNull()
    const { status, json } = await queue('queued', RESET)
    expect([status, json.userRef, json.memberRef, json.pendingAction]).toEqual([200, 'queued', 'queued', RESET])
    expect((await state('queued')).pendingAction).toBe(RESET)
    await queue('queued', UPDATE)
    expect((await state('queued')).pendingAction).toBe(UPDATE)
    expect((await clear('queued')).json.pendingAction).toBeNull()
    expect((await state('queued')).pendingAction).toBeNull()
    expect((await clear('queued')).status).toBe(200)
  })

  it('refuses an unknown action with 422, an absent user with 404, another member with 400', async () => {
    await service.call('POST', '/users/strict')
    for (const action of ['NONSENSE', null, undefined]) {
      const { status, json } = await queue('strict', action)
      expect([status, json.reason]).toEqual([422, 'invalid-data'])
    }
    expect((await queue('ghost', RESET)).status).toBe(404)
    expect((await clear('ghost')).status).toBe(404)
    const other = await service.call('POST', '/users/strict/pending-action?member_ref=else', {
      body: { action: RESET },
    })
    expect([other.status, other.json.reason]).toEqual([400, 'invalid-data'])
  })

  it('belongs to one member of a shared account, who must be named', async () => {
    await service.call('POST', '/users/desk', { body: { type: 'generic', member_ref: 'ann' } })
    await service.call('POST', '/users/desk', { body: { type: 'generic', member_ref: 'bob' } })
    expect((await queue('desk', RESET)).status).toBe(400)
    const inBody = await service.call('POST', '/users/desk/pending-action', {
      body: { action: RESET, member_ref: 'Ann' },
    })
    expect(inBody.json).toMatchObject({ userRef: 'desk', memberRef: 'ann', pendingAction: RESET })
    expect((await state('desk?member_ref=ann')).pendingAction).toBe(RESET)
    expect((await state('desk?member_ref=bob')).pendingAction).toBeNull()
    expect((await state('desk')).pendingAction).toBeNull()
    const absent = await service.call('DELETE', '/users/desk/pending-action?member_ref=cid')
    expect([absent.status, absent.json.reason]).toEqual([404, 'user-not-found'])
    await service.call('DELETE', '/users/desk/pending-action?member_ref=ann')
    expect((await state('desk?member_ref=ann')).pendingAction).toBeNull()
  })

  it('lapses after seven days', async () => {
    const who = await enroll(service, 'late')
    await queue('late', RESET)
    const { session } = await service.bootstrap('late')
    await daysPass('late', 6.9)
    expect((await state('late')).pendingAction).toBe(RESET)
    await daysPass('late', 0.2)
    expect((await state('late')).pendingAction).toBeNull()
    expect((await type(who, session)).status).toBe(409)
    expect(await enrolledIds('late')).toHaveLength(5)
  })

  it(`resets nothing once lapsed, ${LAPSED} times`, async () => {
    const who = await enroll(service, 'lapsed')
    const before = await enrolledIds('lapsed')
    for (let n = 0; n < LAPSED; n++) {
      await queue('lapsed', RESET)
      // It is reported while it is live, and has lapsed when the pattern arrives.
      const { session } = await service.bootstrap('lapsed')
      await daysPass('lapsed', 7.01)
      await type(who, session)
    }
    const kept = (await enrolledIds('lapsed')).filter((id) => before.includes(id)).length
    figure('T14', `${before.length - kept} references lost to ${LAPSED} lapsed resets`, '0', kept === before.length)
  })
})

describe(RESET, () => {
  it(
    `is executed by none of ${BOOTSTRAPS} bootstraps`,
    async () => {
      await enroll(service, 'safe')
      const before = await enrolledIds('safe')
      await queue('safe', RESET)
      for (let n = 0; n < BOOTSTRAPS; n += 10) {
        const all = await Promise.all(Array.from({ length: 10 }, () => service.bootstrap('safe')))
        for (const { json } of all)
          expect(json, JSON.stringify(json)).toMatchObject({ pendingAction: RESET, biometricStatus: 'ok' })
      }
      const after = await enrolledIds('safe')
      const changed = before.filter((id) => !after.includes(id)).length + after.length - before.length
      figure('T14', `${changed} references changed by ${BOOTSTRAPS} bootstraps`, '0', changed === 0)
    },
    LONG ? 300_000 : 30_000,
  )

  it('is executed by the first enroll call of a session that was bootstrapped after it, and is done then', async () => {
    const who = await enroll(service, 'reset')
    const old = await enrolledIds('reset')
    const elsewhere = (await service.bootstrap('reset')).session
    await queue('reset', RESET)
    const { session } = await service.bootstrap('reset')
    const first = await type(who, session)
    expect(first.json).toMatchObject({ created: true, nPatternsRef: 1, biometricStatus: 'in-progress' })
    expect((await enrolledIds('reset')).filter((id) => old.includes(id))).toEqual([])
    expect((await type(who, elsewhere)).status).toBe(400)
    for (let n = 2; n <= 5; n++) expect((await type(who, session)).json.nPatternsRef).toBe(n)
    expect(await state('reset')).toMatchObject({ pendingAction: null, biometricStatus: 'ok', nPatternsRef: 5 })
  })

  it('is not executed by a pattern that was seen before', async () => {
    const { userRef, first } = await enroll(service, 'replayed')
    const before = await enrolledIds('replayed')
    await queue('replayed', RESET)
    const { session } = await service.bootstrap('replayed')
    const replayed = await service.call('POST', `/users/${userRef}/typing-patterns`, { session, body: first })
    expect([replayed.status, replayed.json.reason]).toEqual([422, 'fraud-detected'])
    expect(await enrolledIds('replayed')).toEqual(before)
    expect((await state('replayed')).pendingAction).toBe(RESET)
  })

  it('is not executed by a session from before it, nor by verify', async () => {
    const who = await enroll(service, 'earlier')
    await queue('earlier', RESET)
    expect((await type(who, who.session)).status).toBe(409)
    const { session } = await service.bootstrap('earlier')
    expect((await verify(who, session)).json.action).toMatch(/^(verified|rejected)$/)
    expect(await enrolledIds('earlier')).toHaveLength(5)
  })

  it('is executed by an older session too, once a bootstrap has reported it there', async () => {
    const who = await enroll(service, 'echoed')
    await queue('echoed', RESET)
    const { json } = await service.call('GET', '/users/echoed', { session: who.session })
    expect(json).toMatchObject({ sessionId: who.session, pendingAction: RESET })
    expect((await type(who, who.session)).json).toMatchObject({ nPatternsRef: 1 })
  })

  it('is executed once by twenty enroll calls at once', async () => {
    const who = await enroll(service, 'crowd')
    await queue('crowd', RESET)
    const { session } = await service.bootstrap('crowd')
    const all = await Promise.all(
      Array.from({ length: 20 }, () =>
        service.call('POST', '/users/crowd/typing-patterns', { session, body: who.fresh() }),
      ),
    )
    expect(all.filter(({ json }) => json.created)).toHaveLength(5)
    expect(await state('crowd')).toMatchObject({ pendingAction: null, biometricStatus: 'ok', nPatternsRef: 5 })
  })

  it('is not executed by a pattern that is refused', async () => {
    const who = await enroll(service, 'refused')
    await queue('refused', RESET)
    const { session } = await service.bootstrap('refused')
    const bad = await service.call('POST', '/users/refused/typing-patterns', { session, body: {} })
    expect(bad.status).toBe(422)
    expect(await state('refused')).toMatchObject({ pendingAction: RESET, nPatternsRef: 5 })
    expect((await type(who, session)).json).toMatchObject({ nPatternsRef: 1 })
  })

  it('that was cleared or queued again after the bootstrap is not executed before the next bootstrap', async () => {
    const who = await enroll(service, 'twice')
    await queue('twice', RESET)
    const { session } = await service.bootstrap('twice')
    await clear('twice')
    expect((await type(who, session)).status).toBe(409)
    await queue('twice', RESET)
    expect((await type(who, session)).status).toBe(409)
    expect(await enrolledIds('twice')).toHaveLength(5)
  })
})

describe(UPDATE, () => {
  it('replaces the oldest reference by each of the next five patterns after an authenticated verify; the profile stays ok', async () => {
    const who = await enroll(service, 'updated')
    const old = await enrolledIds('updated')
    await queue('updated', UPDATE)
    const session = await authenticated(who)
    for (let n = 1; n <= 5; n++) {
      const progress = (nPatternsReplaced: number) => ({
        profileUpdate: { nPatternsReplaced, nPatternsToReplace: 5 },
      })
      expect(await state('updated')).toMatchObject({ pendingAction: UPDATE, ...progress(n - 1) })
      const { json } = await type(who, session)
      expect(json).toMatchObject({ created: true, nPatternsRef: 5, biometricStatus: 'ok', ...progress(n) })
      expect((await enrolledIds('updated')).slice(0, 5 - n)).toEqual(old.slice(n))
    }
    expect((await enrolledIds('updated')).filter((id) => old.includes(id))).toEqual([])
    expect(await state('updated')).toMatchObject({ pendingAction: null, profileUpdate: null, biometricStatus: 'ok' })
    expect((await type(who, session)).json).toMatchObject({ nPatternsRef: 6, profileUpdate: null })
  })

  it('keeps a full profile full', async () => {
    const who = await enroll(service, 'brim')
    const session = await authenticated(who)
    for (let n = 6; n <= 10; n++) await type(who, session)
    await queue('brim', UPDATE)
    const next = await authenticated(who)
    for (let n = 1; n <= 5; n++)
      expect((await type(who, next)).json).toMatchObject({ created: true, nPatternsRef: 10, biometricStatus: 'full' })
    expect(await state('brim')).toMatchObject({ pendingAction: null })
    expect((await type(who, next)).json).toMatchObject({ created: false, nPatternsRef: 10 })
  })

  it('replaces nothing before typing has succeeded in the session', async () => {
    const who = await enroll(service, 'unproven')
    await queue('unproven', UPDATE)
    const { session } = await service.bootstrap('unproven')
    const old = await enrolledIds('unproven')
    for (let n = 0; n < 20; n++) expect((await type(who, session)).status).toBe(409)
    expect(await enrolledIds('unproven')).toEqual(old)
  })

  it('continues in the next sign-in if it is incomplete', async () => {
    const who = await enroll(service, 'paused')
    await queue('paused', UPDATE)
    const first = await authenticated(who)
    for (let n = 0; n < 2; n++) await type(who, first)
    const second = await authenticated(who)
    for (let n = 0; n < 3; n++) {
      expect((await state('paused')).pendingAction).toBe(UPDATE)
      await type(who, second)
    }
    expect(await state('paused')).toMatchObject({ pendingAction: null, nPatternsRef: 5 })
  })

  it('is cleared by a reset of the profile', async () => {
    await enroll(service, 'moot')
    await queue('moot', UPDATE)
    await service.call('DELETE', '/users/moot/typing-patterns')
    expect((await state('moot')).pendingAction).toBeNull()
  })
})
