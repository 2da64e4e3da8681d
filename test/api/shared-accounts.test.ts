import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { person } from '../../src/typist/made-up-person.js'
import { type Answer, sharedService, type TestService } from '../service.js'
import { text } from './enrolled.js'

let seeds = 40_000

/** Enrolls until the profile is complete. A synthetic person is sometimes classified as a machine, and types again. */
async function complete(service: TestService, path: string, session: string, seed: number): Promise<Answer> {
  for (let n = 0; n < 30; n++) {
    const body = person(seed).types(text(n), n)
    const answer = await service.call('POST', path, { session, body })
    if (answer.json.biometricStatus === 'ok') return answer
    expect([200, 422], JSON.stringify(answer.json)).toContain(answer.status)
  }
  throw new Error('never complete')
}

let service: TestService
beforeAll(async () => {
  service = await sharedService()
})
afterAll(() => service.close())

const create = (userRef: string, memberRef: string | null, more: object = {}) =>
  service.call('POST', `/users/${userRef}`, { body: { type: 'generic', member_ref: memberRef, ...more } })
const refsOf = async (userRef: string) =>
  (await service.call('GET', `/users/${userRef}/members`)).json.members.map(
    ({ memberRef }: { memberRef: string }) => memberRef,
  )
const refused = ({ status, json }: Answer) => [status, json.reason]

describe('POST /users/{userRef}', () => {
  it('creates a shared account with its first member, and answers 201 for each further one', async () => {
    const first = await create('desk', 'Ann')
    expect([first.status, first.json.created]).toEqual([201, true])
    expect(first.json).toMatchObject({ accountType: 'generic', memberRef: 'ann', memberSelection: 'ask' })
    const second = await create('desk', 'bob', { user_display_name: 'Bob' })
    expect([second.status, second.json.memberRef, second.json.accountRef]).toEqual([201, 'bob', first.json.accountRef])
    const again = await create('desk', 'BOB')
    expect([again.status, again.json.created, again.json.memberRef]).toEqual([200, false, 'bob'])
    expect(await refsOf('desk')).toEqual(['ann', 'bob'])
    const unnamed = await service.call('POST', '/users/desk', { body: { member_ref: 'cy' } })
    expect([unnamed.status, unnamed.json.memberRef]).toEqual([201, 'cy'])
    const inQuery = await service.call('POST', '/users/desk?member_ref=dee')
    expect([inQuery.status, inQuery.json.memberRef]).toEqual([201, 'dee'])
  })

  it('creates a shared account without members', async () => {
    const made = await create('empty-desk', null)
    expect([made.status, made.json.memberRef]).toEqual([201, null])
    expect(await refsOf('empty-desk')).toEqual([])
  })

  it('creates exactly one member for 50 parallel calls', async () => {
    await create('busy', null)
    const all = await Promise.all(Array.from({ length: 50 }, () => create('busy', 'ann')))
    expect(all.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(all.every(({ json }) => json.memberRef === 'ann')).toBe(true)
    expect(await refsOf('busy')).toEqual(['ann'])
  })

  it('refuses another member_ref on a nominative account with 400, another type with 409', async () => {
    await service.call('POST', '/users/solo')
    expect(refused(await service.call('POST', '/users/solo', { body: { member_ref: 'ann' } }))).toEqual([
      400,
      'invalid-data',
    ])
    expect(refused(await create('solo', 'ann'))).toEqual([409, 'invalid-action'])
    const fresh = await service.call('POST', '/users/never', { body: { member_ref: 'ann' } })
    expect(refused(fresh)).toEqual([400, 'invalid-data'])
    expect((await service.bootstrap('never')).status).toBe(404)
    const typed = await service.call('POST', '/users/desk', { body: { type: 'nominative' } })
    expect(refused(typed)).toEqual([409, 'invalid-action'])
  })

  it('issues a temporary code to a member on request', async () => {
    const made = await create('coded', 'ann', { rotate_security_code: true })
    expect(made.json.securityCode).toMatch(/^\d{6}$/)
    expect((await service.call('GET', '/users/coded/members')).json.members[0]).toMatchObject({
      securityCodeSet: true,
      securityCodeTemporary: true,
    })
  })
})

describe('GET /users/{userRef}', () => {
  it('gives no member until one is designated, and the 404 onboarding state for an unknown one', async () => {
    await create('front', 'ann')
    const { json } = await service.bootstrap('front')
    expect(json).toMatchObject({ accountType: 'generic', memberRef: null, memberSelection: 'ask', nPatternsRef: 0 })
    const ann = await service.call('GET', '/users/front?member_ref=ANN')
    expect([ann.status, ann.json.memberRef]).toEqual([200, 'ann'])
    const nobody = await service.call('GET', '/users/front?member_ref=zed')
    expect([nobody.status, nobody.json.reason]).toEqual([404, 'user-not-found'])
    expect(nobody.json).toMatchObject({ accountType: 'generic', memberRef: 'zed', biometricStatus: 'not-ready' })
    expect(nobody.json.suggestedWords.length).toBeGreaterThan(3)
    const session = nobody.json.sessionId
    await create('front', 'zed')
    const body = person(seeds++).types(text(1), 1)
    const enrolled = await service.call('POST', '/users/front/typing-patterns?member_ref=zed', { session, body })
    expect(enrolled.json).toMatchObject({ success: true, memberRef: 'zed', nPatternsRef: 1 })
  })

  it('echoes a session for its own member only', async () => {
    await create('echo', 'ann')
    await create('echo', 'bob')
    const open = (await service.bootstrap('echo')).session
    const ask = async (session: string, query = '') =>
      (await service.call('GET', `/users/echo${query}`, { session })).json.sessionId
    expect(await ask(open)).toBe(open)
    expect(await ask(open, '?member_ref=ann')).toBe(open)
    expect(await ask(open, '?member_ref=ann')).toBe(open)
    expect(await ask(open, '?member_ref=bob')).not.toBe(open)
    expect(await ask(open)).not.toBe(open)
  })
})

describe('any other call for a person', () => {
  it('needs member_ref on a shared account, in the query or in the body', async () => {
    await create('till', 'ann')
    const { session } = await service.bootstrap('till')
    const body = person(seeds++).types(text(1), 1)
    const calls = [
      ['POST', '/users/till/typing-patterns', body],
      ['POST', '/users/till/verify', body],
      ['POST', '/users/till/verify', { securityCode: '749205' }],
      ['PUT', '/users/till/security-code', { securityCode: '749205' }],
      ['POST', '/users/till/security-code', undefined],
      ['DELETE', '/users/till/security-code', undefined],
      ['DELETE', '/users/till/typing-patterns', undefined],
      ['DELETE', '/users/till/typing-patterns/0198c0de-0000-7000-8000-000000000000', undefined],
    ] as const
    for (const [method, path, sent] of calls) {
      const answer = await service.call(method, path, { session, body: sent })
      expect([path, ...refused(answer)], answer.json.message).toEqual([path, 400, 'invalid-data'])
      expect(answer.json.message).toContain('member_ref')
    }
    const inBody = await service.call('POST', '/users/till/typing-patterns', {
      session,
      body: { ...body, member_ref: 'Ann' },
    })
    expect(inBody.json).toMatchObject({ success: true, memberRef: 'ann', nPatternsRef: 1 })
    const both = await service.call('POST', '/users/till/typing-patterns?member_ref=bob', {
      session,
      body: { ...person(seeds++).types(text(2), 2), member_ref: 'Ann' },
    })
    expect(refused(both)).toEqual([400, 'invalid-data'])
    const code = await service.call('PUT', '/users/till/security-code', {
      session,
      body: { securityCode: '749205', member_ref: 'ann' },
    })
    expect(code.status).toBe(200)
  })

  it('binds the session to the first member it names, and serves no other', async () => {
    await create('bind', 'ann')
    await create('bind', 'bob')
    const { session } = await service.bootstrap('bind')
    const send = (memberRef: string | null) =>
      service.call('POST', `/users/bind/typing-patterns${memberRef === null ? '' : `?member_ref=${memberRef}`}`, {
        session,
        body: person(seeds).types(text(seeds), seeds++),
      })
    expect(refused(await send('zed'))).toEqual([404, 'user-not-found'])
    expect((await send('ann')).json).toMatchObject({ memberRef: 'ann' })
    const other = await send('bob')
    expect(refused(other)).toEqual([400, 'invalid-data'])
    expect(other.json.message).toContain(
      'belongs to another member_ref of this account: bootstrap with GET /users/{userRef}',
    )
    expect((await send(null)).json).toMatchObject({ memberRef: 'ann' })
  })

  it('gives each member a separate profile, code and attempt budget', async () => {
    await create('pair', 'ann')
    await create('pair', 'bob')
    const ann = (await service.call('GET', '/users/pair?member_ref=ann')).json.sessionId
    const bob = (await service.call('GET', '/users/pair?member_ref=bob')).json.sessionId
    await complete(service, '/users/pair/typing-patterns?member_ref=ann', ann, seeds++)
    const verify = (session: string, code: string) =>
      service.call('POST', '/users/pair/verify', { session, body: { securityCode: code } })
    await service.call('PUT', '/users/pair/security-code', { session: ann, body: { securityCode: '749205' } })
    const again = (await service.call('GET', '/users/pair?member_ref=bob', { session: bob })).json.sessionId
    expect(again).toBe(bob)
    await service.call('PUT', '/users/pair/security-code', { session: bob, body: { securityCode: '638174' } })
    for (let i = 0; i < 3; i++) expect((await verify(ann, '638174')).json.action).toBe('rejected')
    expect((await verify(ann, '749205')).json.action).toBe('refused')
    const good = await verify(bob, '638174')
    expect(good.json).toMatchObject({ action: 'verified', enrollmentRequired: true })
    const { members } = (await service.call('GET', '/users/pair/members')).json
    expect(
      members.map((one: Record<string, unknown>) => [one.memberRef, one.biometricStatus, one.nPatternsRef]),
    ).toEqual([
      ['ann', 'ok', 5],
      ['bob', 'not-ready', 0],
    ])
    expect(members[0].lastAuthenticationAt).toBeNull()
    expect(members[1].lastAuthenticationAt).toBe(good.json.authentication.timestamp)
  })
})

describe('PATCH /users/{userRef}', () => {
  const patch = (userRef: string, body: object) => service.call('PATCH', `/users/${userRef}`, { body })

  it('turns a person into the first member and back, with profile and code', async () => {
    await service.call('POST', '/users/turn')
    const { session } = await service.bootstrap('turn')
    await complete(service, '/users/turn/typing-patterns', session, seeds++)
    await service.call('PUT', '/users/turn/security-code', { session, body: { securityCode: '749205' } })
    const turned = await patch('turn', { type: 'generic', member_ref: 'Ann' })
    expect(turned.json).toMatchObject({ success: true, accountType: 'generic', memberSelection: 'ask' })
    expect(turned.json.members).toMatchObject([{ memberRef: 'ann', biometricStatus: 'ok', securityCodeSet: true }])
    const old = await service.call('POST', '/users/turn/verify', { session, body: { securityCode: '749205' } })
    expect(refused(old)).toEqual([400, 'invalid-data'])
    const ann = (await service.call('GET', '/users/turn?member_ref=ann')).json.sessionId
    const code = await service.call('POST', '/users/turn/verify', { session: ann, body: { securityCode: '749205' } })
    expect(code.json.action).toBe('verified')
    const back = await patch('turn', { type: 'nominative' })
    expect(back.json).toMatchObject({ accountType: 'nominative', memberSelection: null })
    expect(await service.bootstrap('turn')).toMatchObject({
      status: 200,
      json: { memberRef: 'turn', nPatternsRef: 5, biometricStatus: 'ok', securityCodeSet: true },
    })
  })

  it('answers 409 to a change of type that is not explicit, or would lose a member', async () => {
    await service.call('POST', '/users/strict')
    expect(refused(await patch('strict', { type: 'generic' }))).toEqual([409, 'invalid-action'])
    expect(refused(await patch('strict', { type: 'generic', member_ref: 'STRICT' }))).toEqual([409, 'invalid-action'])
    expect(refused(await patch('strict', { member_ref: 'ann' }))).toEqual([409, 'invalid-action'])
    await create('strict-2', 'ann')
    await create('strict-2', 'bob')
    expect(refused(await patch('strict-2', { type: 'nominative' }))).toEqual([409, 'invalid-action'])
    await service.call('DELETE', '/users/strict-2?member_ref=bob')
    expect((await service.bootstrap('strict-2')).json.accountType).toBe('generic')
    expect((await patch('strict-2', { type: 'nominative' })).status).toBe(200)
    expect((await service.bootstrap('strict-2')).json).toMatchObject({
      memberRef: 'strict-2',
      biometricStatus: 'not-ready',
    })
  })

  it('adds a member, and answers 409 to a duplicate in any spelling', async () => {
    await create('grow', 'ann')
    expect((await patch('grow', { member_ref: 'bob' })).status).toBe(200)
    expect(refused(await patch('grow', { member_ref: ' BOB ' }))).toEqual([409, 'invalid-action'])
    expect(await refsOf('grow')).toEqual(['ann', 'bob'])
    const all = await Promise.all(Array.from({ length: 20 }, () => patch('grow', { member_ref: 'cy' })))
    expect(all.filter(({ status }) => status === 200)).toHaveLength(1)
  })

  it('sets selection, groups and tags, and keeps absent fields', async () => {
    await create('sets', 'ann')
    await patch('sets', { member_selection: 'list', groups: ['desk', 'paris'] })
    const { json } = await patch('sets', { tag: { site: 'paris' } })
    expect(json).toMatchObject({ memberSelection: 'list', groups: ['desk', 'paris'], tag: { site: 'paris' } })
    expect((await service.bootstrap('sets')).json.memberSelection).toBe('list')
    for (const bad of [
      {},
      { groups: 'desk' },
      { groups: Array(51).fill('g') },
      { tag: { site: 1 } },
      { type: 'other' },
      { member_selection: 'x' },
    ])
      expect(refused(await patch('sets', bad)), JSON.stringify(bad)).toEqual([422, 'invalid-data'])
    expect(refused(await patch('nobody-here', { groups: [] }))).toEqual([404, 'user-not-found'])
  })
})

describe('DELETE /users/{userRef}', () => {
  it('with a member archives that member only: patterns, code and sessions are deleted, the account stays shared', async () => {
    await create('leave', 'ann')
    await create('leave', 'bob')
    const bob = (await service.call('GET', '/users/leave?member_ref=bob')).json.sessionId
    const ann = (await service.call('GET', '/users/leave?member_ref=ann')).json.sessionId
    await complete(service, '/users/leave/typing-patterns', bob, seeds++)
    const gone = await service.call('DELETE', '/users/leave?member_ref=Bob')
    expect(gone.json).toMatchObject({ success: true, user_id: 'leave', n_patterns_deleted: 5 })
    expect(await refsOf('leave')).toEqual(['ann'])
    const body = person(seeds++).types(text(1), 1)
    expect(refused(await service.call('POST', '/users/leave/verify', { session: bob, body }))).toEqual([
      400,
      'invalid-data',
    ])
    expect((await service.call('POST', '/users/leave/typing-patterns', { session: ann, body })).status).toBe(200)
    expect(refused(await service.call('DELETE', '/users/leave?member_ref=bob'))).toEqual([404, 'user-not-found'])
    const back = await create('leave', 'bob')
    expect([back.status, back.json.created, back.json.nPatternsRef]).toEqual([201, true, 0])
    expect(back.json.biometricStatus).toBe('not-ready')
  })

  it('without one deletes the shared account with all members', async () => {
    await create('close', 'ann')
    await create('close', 'bob')
    expect((await service.call('DELETE', '/users/close')).json).toMatchObject({
      success: true,
      n_patterns_deleted: 0,
    })
    expect((await service.call('GET', '/users/close/members')).status).toBe(404)
  })
})

it('lists the one person of a nominative account', async () => {
  await service.call('POST', '/users/single', { body: { user_display_name: 'Single' } })
  expect((await service.call('GET', '/users/single/members')).json).toMatchObject({
    accountType: 'nominative',
    members: [{ memberRef: 'single', displayName: 'Single' }],
  })
})

it('clears every display name of the organization, and nothing else', async () => {
  await create('named', 'ann', { user_display_name: 'Ann of the desk' })
  const cleared = await service.call('DELETE', '/user-display-names')
  expect(cleared.json.n_display_names_cleared).toBeGreaterThanOrEqual(1)
  expect((await service.call('GET', '/users/named/members')).json.members[0]).toMatchObject({
    memberRef: 'ann',
    displayName: null,
  })
  expect((await service.call('DELETE', '/user-display-names')).json.n_display_names_cleared).toBe(0)
})
