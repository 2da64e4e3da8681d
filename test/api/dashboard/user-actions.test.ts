import { beforeAll, describe, expect, it } from 'vitest'
import { type Enrolled, enroll, verifyOf } from '../../harness/enrolled.js'
import { sharedService } from '../../harness/service.js'
import { databaseOf } from '../../servers/database.js'
import { ownRows } from '../own-rows.js'

const service = await sharedService()
const rows = ownRows(service)
let ann: Enrolled
beforeAll(async () => {
  ann = await enroll(service, 'ann')
})

const act = (action: string, userRef = 'ann', more: Record<string, unknown> = {}) =>
  service.dashboard('POST', `/users/${userRef}/actions`, { body: { action, ...more } })
const bootstrap = async () => (await service.bootstrap('ann')).json

describe('POST /users/{userRef}/actions', () => {
  it('locks a person out of typing and code, ends the sessions, and unlocks', async () => {
    const CODE = { securityCode: '749205' }
    const { session } = await service.bootstrap('ann')
    await service.call('PUT', '/users/ann/security-code', { session, body: CODE })
    const { session: live } = await service.bootstrap('ann')
    expect((await act('lock')).status).toBe(200)
    expect((await verifyOf(service, 'ann', ann.fresh(), live)).status).toBe(400)
    for (const body of [ann.fresh(), CODE]) {
      const { json } = await verifyOf(service, 'ann', body)
      expect(json).toMatchObject({ action: 'refused', nextAttempt: { mode: 'locked' } })
    }
    // Regression: the person's new code ended an administrator's lock.
    const { session: another } = await service.bootstrap('ann')
    const code = { session: another, body: { securityCode: '638174' } }
    const chosen = await service.call('PUT', '/users/ann/security-code', code)
    const issued = await service.call('POST', '/users/ann/security-code', { session: another })
    expect([chosen.status, issued.status]).toEqual([200, 200])
    const { securityCode } = issued.json
    const { json } = await verifyOf(service, 'ann', { securityCode }, another)
    expect(json).toMatchObject({ action: 'refused', refusedBecause: 'code-locked' })
    expect(json.nextAttempt).toMatchObject({ mode: 'locked', retryAfterSeconds: null })
    expect((await act('unlock')).status).toBe(200)
    expect((await verifyOf(service, 'ann', { securityCode })).json.authentication.authenticated).toBe(true)
  })

  it('clears the code', async () => {
    expect((await act('clear-security-code')).status).toBe(200)
    const { json } = await service.dashboard('GET', '/users/ann/members')
    expect(json.data[0].security_code_set).toBe(false)
  })

  it('queues an action for the next sign-in, and cancels it', async () => {
    for (const action of ['RESET_BIOMETRIC_PROFILE', 'UPDATE_BIOMETRIC_PROFILE']) {
      expect((await act(action)).status).toBe(200)
      expect((await bootstrap()).pendingAction).toBe(action)
    }
    expect((await act('clear-pending-action')).status).toBe(200)
    expect((await bootstrap()).pendingAction).toBe(null)
  })

  it('resets the profile at once', async () => {
    expect((await act('reset-profile')).status).toBe(200)
    expect(await bootstrap()).toMatchObject({ biometricStatus: 'reset', nPatternsRef: 0 })
  })

  it('refuses an unknown action, and requires the member on a shared account', async () => {
    expect((await act('delete')).status).toBe(422)
    expect((await act('unlock', 'nobody')).status).toBe(404)
    expect((await act('unlock', 'ann', { member_ref: 'eve' })).status).toBe(400)
    await service.call('POST', '/users/desk', { body: { type: 'generic', member_ref: 'eve' } })
    expect((await act('unlock', 'desk')).status).toBe(400)
    expect((await act('unlock', 'desk', { member_ref: 'eve' })).json.data).toMatchObject({
      member_ref: 'eve',
      done: true,
    })
    expect((await service.dashboard('GET', '/users/desk/actions')).json.count).toBe(1)
  })
})

describe('GET /users/{userRef}/actions and /logs', () => {
  it('list actions with time, key and request, newest first', async () => {
    const asked = await act('unlock')
    const { count, data } = (await service.dashboard('GET', '/users/ann/actions?limit=500')).json
    expect(count).toBe(data.length)
    expect(data[0]).toEqual(asked.json.data)
    expect(data[0].request_id).toBe(asked.headers.get('x-request-id'))
    const [key] = await rows((sql) => sql`select id from keystride.api_key`)
    expect(new Set(data.map((one: { api_key_id: string }) => one.api_key_id))).toEqual(new Set([key?.id]))
    expect(data.map((one: { action: string }) => one.action)).toEqual([
      'unlock',
      'reset-profile',
      'clear-pending-action',
      'UPDATE_BIOMETRIC_PROFILE',
      'RESET_BIOMETRIC_PROFILE',
      'clear-security-code',
      'unlock',
      'lock',
    ])
  })

  it('list sign-ins and actions in one order, page by page', async () => {
    const { count, data } = (await service.dashboard('GET', '/users/ann/logs?limit=500')).json
    const attempts = (await service.dashboard('GET', '/authentications?user_ref=ann&limit=500')).json.count
    expect([count, data.length]).toEqual([attempts + 8, attempts + 8])
    expect(data[0]).toMatchObject({ kind: 'action', what: 'unlock', outcome: 'done' })
    expect(
      data.some((one: { kind: string; what: string }) => one.kind === 'authentication' && one.what === 'security_code'),
    ).toBe(true)
    expect(data.map(({ id }: { id: string }) => id)).toEqual(
      data
        .map(({ id }: { id: string }) => id)
        .sort()
        .reverse(),
    )
    const page = await service.dashboard('POST', '/users/ann/logs', { body: { skip: 3, limit: 4 } })
    expect(page.json.data).toEqual(data.slice(3, 7))
    expect((await service.dashboard('GET', '/users/nobody/logs')).status).toBe(404)
  })

  it('mark an action that failed as not done', async () => {
    await rows(
      (sql) => sql`
        insert into keystride.admin_action (organization_id, id, at, account_id, user_ref, member_ref, action, api_key_id, request_id)
        select organization_id, 'ffffffff-ffff-7000-8000-000000000000', now(), account_id, user_ref, member_ref, 'lock', api_key_id,
          request_id from keystride.admin_action where user_ref = 'ann' limit 1`,
    )
    expect((await service.dashboard('GET', '/users/ann/actions?limit=1')).json.data[0].done).toBe(false)
    expect((await service.dashboard('GET', '/users/ann/logs?limit=1')).json.data[0].outcome).toBe('not-done')
  })

  it('cannot be changed or removed by a serving role, and are deleted with the account', async () => {
    const tries = [
      `update keystride.admin_action set action = 'unlock'`,
      `delete from keystride.admin_action`,
      `truncate keystride.admin_action`,
      `alter table keystride.admin_action disable trigger all`,
    ]
    for (const statement of tries)
      await expect(rows((sql) => sql.unsafe(statement))).rejects.toThrow(/permission denied|must be owner/)
    await expect(databaseOf(service).asSystem((sql) => sql.unsafe(tries[0] ?? ''))).rejects.toThrow(
      /permission denied|append-only/,
    )
    const left = () => rows((sql) => sql`select 1 from keystride.admin_action where user_ref = 'ann'`)
    const [account] = await rows(
      (sql) => sql<{ id: string }[]>`select id from keystride.account where user_ref = 'ann'`,
    )
    // The function that deletes actions with their account keeps them while the account exists.
    await rows((sql) => sql`select keystride.forget_actions_of(${account?.id ?? ''})`)
    expect((await left()).length).toBe(17)
    await service.call('DELETE', '/users/ann')
    expect((await left()).length).toBe(0)
  })
})
