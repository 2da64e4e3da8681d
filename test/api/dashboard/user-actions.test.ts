import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectPostgres, type Database } from '../../../src/storage/postgres/connection/client.js'
import { freshDatabase } from '../../servers/database.js'
import { startService, type TestService } from '../../service.js'
import { type Enrolled, enroll } from '../enrolled.js'

let service: TestService
let database: Database
let ann: Enrolled
beforeAll(async () => {
  const { url } = await freshDatabase()
  service = await startService(url)
  database = connectPostgres({ url, max: 2, patience: 10 })
  ann = await enroll(service, 'ann')
}, 60_000)
afterAll(async () => {
  await database.close()
  await service.close()
})

const act = (action: string, userRef = 'ann', more: Record<string, unknown> = {}) =>
  service.dashboard('POST', `/users/${userRef}/actions`, { body: { action, ...more } })
const bootstrap = async (userRef = 'ann') => {
  const answer = await service.bootstrap(userRef)
  return { ...answer.json, session: answer.session }
}
async function verify() {
  const { session } = await bootstrap()
  return (await service.call('POST', '/users/ann/verify', { session, body: ann.fresh() })).json
}

describe('POST /users/{userRef}/actions', () => {
  it('locks a person out of typing and code, ends the sessions, and unlocks', async () => {
    const { session } = await bootstrap()
    await service.call('PUT', '/users/ann/security-code', { session, body: { securityCode: '749205' } })
    const { session: live } = await bootstrap()
    expect((await act('lock')).status).toBe(200)
    expect((await service.call('POST', '/users/ann/verify', { session: live, body: ann.fresh() })).status).toBe(400)
    const typed = await verify()
    expect([typed.action, typed.nextAttempt.mode]).toEqual(['refused', 'locked'])
    const { session: another } = await bootstrap()
    const coded = await service.call('POST', '/users/ann/verify', {
      session: another,
      body: { securityCode: '749205' },
    })
    expect([coded.json.authentication.authenticated, coded.json.nextAttempt.mode]).toEqual([false, 'locked'])
    // Regression: the person's new code ended an administrator's lock.
    const chosen = await service.call('PUT', '/users/ann/security-code', {
      session: another,
      body: { securityCode: '638174' },
    })
    const issued = await service.call('POST', '/users/ann/security-code', { session: another })
    expect([chosen.status, issued.status]).toEqual([200, 200])
    const { json } = await service.call('POST', '/users/ann/verify', {
      session: another,
      body: { securityCode: issued.json.securityCode },
    })
    expect(json).toMatchObject({ action: 'refused', refusedBecause: 'code-locked', nextAttempt: { mode: 'locked' } })
    expect(json.nextAttempt.retryAfterSeconds).toBeNull()
    expect((await act('unlock')).status).toBe(200)
    const { session: opened } = await bootstrap()
    const right = await service.call('POST', '/users/ann/verify', {
      session: opened,
      body: { securityCode: issued.json.securityCode },
    })
    expect(right.json.authentication.authenticated).toBe(true)
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
    const [key] = await database.scoped(service.organizationId, (sql) => sql`select id from keystride.api_key`)
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
    await database.scoped(
      service.organizationId,
      (sql) => sql`
        insert into keystride.admin_action (organization_id, id, at, account_id, user_ref, member_ref, action, api_key_id, request_id)
        select organization_id, 'ffffffff-ffff-7000-8000-000000000000', now(), account_id, user_ref, member_ref, 'lock', api_key_id,
          request_id from keystride.admin_action where user_ref = 'ann' limit 1`,
    )
    expect((await service.dashboard('GET', '/users/ann/actions?limit=1')).json.data[0].done).toBe(false)
    expect((await service.dashboard('GET', '/users/ann/logs?limit=1')).json.data[0].outcome).toBe('not-done')
  })

  it('show another organization nothing', async () => {
    const { apikey } = await service.another()
    for (const path of ['/users/ann/actions', '/users/ann/logs'])
      expect((await service.dashboard('GET', path, { apikey })).status).toBe(404)
  })

  it('cannot be changed or removed by a serving role, and are deleted with the account', async () => {
    const { organizationId } = service
    const tries = [
      `update keystride.admin_action set action = 'unlock'`,
      `delete from keystride.admin_action`,
      `truncate keystride.admin_action`,
      `alter table keystride.admin_action disable trigger all`,
    ]
    for (const statement of tries)
      await expect(database.scoped(organizationId, (sql) => sql.unsafe(statement))).rejects.toThrow(
        /permission denied|must be owner/,
      )
    await expect(database.asSystem((sql) => sql.unsafe(tries[0] ?? ''))).rejects.toThrow(
      /permission denied|append-only/,
    )
    const left = () =>
      database.scoped(organizationId, (sql) => sql`select 1 from keystride.admin_action where user_ref = 'ann'`)
    const [account] = await database.scoped(
      organizationId,
      (sql) => sql<{ id: string }[]>`select id from keystride.account where user_ref = 'ann'`,
    )
    // The function that deletes actions with their account keeps them while the account exists.
    await database.scoped(organizationId, (sql) => sql`select keystride.forget_actions_of(${account?.id ?? ''})`)
    expect((await left()).length).toBe(17)
    await service.call('DELETE', '/users/ann')
    expect((await left()).length).toBe(0)
  })
})
