import { describe, expect, it } from 'vitest'
import { person } from '../../src/typist/made-up-person.js'
import { sincere, text, verifyOf } from '../harness/enrolled.js'
import { type Answer, sharedService } from '../harness/service.js'

const service = await sharedService()

const CODE = { securityCode: '749205' }
let typed = 0
/** A pattern that was never sent, of the person with this seed. */
const pattern = (seed: number) => person(seed).types(text(++typed), typed)
/** Enrolls one pattern, or as many as complete the profile. */
async function enroll(userRef: string, memberRef: string | null, session: string, seed: number, count = 1) {
  const query = memberRef === null ? '' : `?member_ref=${memberRef}`
  const send = (body: unknown) => service.call('POST', `/users/${userRef}/typing-patterns${query}`, { session, body })
  for (let n = 1; n < count; n++) await sincere(send, () => pattern(seed))
  return sincere(send, () => pattern(seed))
}
const create = (userRef: string, memberRef: string | null, more: object = {}) =>
  service.call('POST', `/users/${userRef}`, { body: { type: 'generic', member_ref: memberRef, ...more } })
/** Creates a shared account with these members. */
async function shared(userRef: string, ...memberRefs: string[]) {
  for (const memberRef of memberRefs) expect((await create(userRef, memberRef)).status).toBe(201)
}
const sessionOf = async (userRef: string, memberRef: string): Promise<string> =>
  (await service.call('GET', `/users/${userRef}?member_ref=${memberRef}`)).json.sessionId
const membersOf = async (userRef: string) => (await service.call('GET', `/users/${userRef}/members`)).json.members
const refsOf = async (userRef: string) =>
  (await membersOf(userRef)).map(({ memberRef }: { memberRef: string }) => memberRef)
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
    const unnamed = await service.call('POST', '/users/desk', { body: { member_ref: 'cy' } })
    const inQuery = await service.call('POST', '/users/desk?member_ref=dee')
    expect([unnamed.status, inQuery.status]).toEqual([201, 201])
    expect(await refsOf('desk')).toEqual(['ann', 'bob', 'cy', 'dee'])
  })

  it('creates an account without members, and exactly one member for 50 parallel calls', async () => {
    expect(await create('busy', null)).toMatchObject({ status: 201, json: { memberRef: null } })
    expect(await refsOf('busy')).toEqual([])
    const all = await Promise.all(Array.from({ length: 50 }, () => create('busy', 'ann')))
    expect(all.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(all.every(({ json }) => json.memberRef === 'ann')).toBe(true)
    expect(await refsOf('busy')).toEqual(['ann'])
  })

  it('refuses another member_ref on a nominative account with 400, another type with 409', async () => {
    await service.call('POST', '/users/solo')
    for (const userRef of ['solo', 'never'])
      expect(refused(await service.call('POST', `/users/${userRef}`, { body: { member_ref: 'ann' } }))).toEqual([
        400,
        'invalid-data',
      ])
    expect((await service.bootstrap('never')).status).toBe(404)
    expect(refused(await create('solo', 'ann'))).toEqual([409, 'invalid-action'])
    const typed = await service.call('POST', '/users/desk', { body: { type: 'nominative' } })
    expect(refused(typed)).toEqual([409, 'invalid-action'])
  })
})

describe('GET /users/{userRef}', () => {
  it('gives no member until one is designated, and the 404 onboarding state for an unknown one', async () => {
    await shared('front', 'ann')
    const { json } = await service.bootstrap('front')
    expect(json).toMatchObject({ accountType: 'generic', memberRef: null, memberSelection: 'ask', nPatternsRef: 0 })
    const ann = await service.call('GET', '/users/front?member_ref=ANN')
    expect([ann.status, ann.json.memberRef]).toEqual([200, 'ann'])
    const nobody = await service.call('GET', '/users/front?member_ref=zed')
    expect(refused(nobody)).toEqual([404, 'user-not-found'])
    expect(nobody.json).toMatchObject({ accountType: 'generic', memberRef: 'zed', biometricStatus: 'not-ready' })
    expect(nobody.json.suggestedWords.length).toBeGreaterThan(3)
    await shared('front', 'zed')
    const enrolled = await enroll('front', 'zed', nobody.json.sessionId, 40_001)
    expect(enrolled.json).toMatchObject({ memberRef: 'zed', nPatternsRef: 1 })
  })

  it('echoes a session for its own member only', async () => {
    await shared('echo', 'ann', 'bob')
    const open = (await service.bootstrap('echo')).session
    const echoes = async (query: string) =>
      (await service.call('GET', `/users/echo${query}`, { session: open })).json.sessionId === open
    for (const query of ['', '?member_ref=ann', '?member_ref=ann']) expect(await echoes(query)).toBe(true)
    for (const query of ['?member_ref=bob', '']) expect(await echoes(query)).toBe(false)
  })
})

describe('any other call for a person', () => {
  it('needs member_ref on a shared account, in the query or in the body', async () => {
    await shared('till', 'ann')
    const { session } = await service.bootstrap('till')
    const body = pattern(40_002)
    for (const [method, path, sent] of [
      ['POST', '/users/till/typing-patterns', body],
      ['POST', '/users/till/verify', body],
      ['POST', '/users/till/verify', CODE],
      ['PUT', '/users/till/security-code', CODE],
      ['POST', '/users/till/security-code', undefined],
      ['DELETE', '/users/till/security-code', undefined],
      ['DELETE', '/users/till/typing-patterns', undefined],
      ['DELETE', '/users/till/typing-patterns/0198c0de-0000-7000-8000-000000000000', undefined],
      ['POST', '/users/till/typing-patterns?member_ref=bob', { ...body, member_ref: 'Ann' }],
    ] as const) {
      const answer = await service.call(method, path, { session, body: sent })
      expect([path, ...refused(answer)], answer.json.message).toEqual([path, 400, 'invalid-data'])
      expect(answer.json.message).toContain('member_ref')
    }
    const inBody = { ...body, member_ref: 'Ann' }
    const enrolled = await service.call('POST', '/users/till/typing-patterns', { session, body: inBody })
    expect(enrolled.json).toMatchObject({ memberRef: 'ann', nPatternsRef: 1 })
    const code = { ...CODE, member_ref: 'ann' }
    expect((await service.call('PUT', '/users/till/security-code', { session, body: code })).status).toBe(200)
  })

  it('binds the session to the first member it names, and serves no other', async () => {
    await shared('bind', 'ann', 'bob')
    const { session } = await service.bootstrap('bind')
    const send = (memberRef: string | null) => enroll('bind', memberRef, session, 40_003)
    expect(refused(await send('zed'))).toEqual([404, 'user-not-found'])
    expect((await send('ann')).json).toMatchObject({ memberRef: 'ann' })
    const other = await send('bob')
    expect(refused(other)).toEqual([400, 'invalid-data'])
    expect(other.json.message).toContain('belongs to another member_ref of this account: bootstrap')
    expect((await send(null)).json).toMatchObject({ memberRef: 'ann' })
  })

  it('gives each member a separate profile, code and attempt budget', async () => {
    await shared('pair', 'ann', 'bob')
    const [ann, bob] = [await sessionOf('pair', 'ann'), await sessionOf('pair', 'bob')]
    await enroll('pair', 'ann', ann, 40_004, 5)
    const other = { securityCode: '638174' }
    await service.call('PUT', '/users/pair/security-code', { session: ann, body: CODE })
    await service.call('PUT', '/users/pair/security-code', { session: bob, body: other })
    const verify = (session: string, body: object) => verifyOf(service, 'pair', body, session)
    for (let i = 0; i < 3; i++) expect((await verify(ann, other)).json.action).toBe('rejected')
    expect((await verify(ann, CODE)).json.action).toBe('refused')
    const good = await verify(bob, other)
    expect(good.json).toMatchObject({ action: 'verified', enrollmentRequired: true })
    const lastAuthenticationAt = good.json.authentication.timestamp
    expect(await membersOf('pair')).toMatchObject([
      { memberRef: 'ann', biometricStatus: 'ok', nPatternsRef: 5, lastAuthenticationAt: null },
      { memberRef: 'bob', biometricStatus: 'not-ready', nPatternsRef: 0, lastAuthenticationAt },
    ])
  })
})

describe('PATCH /users/{userRef}', () => {
  const patch = (userRef: string, body: object) => service.call('PATCH', `/users/${userRef}`, { body })

  it('turns a person into the first member and back, with profile and code', async () => {
    await service.call('POST', '/users/turn')
    const { session } = await service.bootstrap('turn')
    await enroll('turn', null, session, 40_005, 5)
    await service.call('PUT', '/users/turn/security-code', { session, body: CODE })
    const { json } = await patch('turn', { type: 'generic', member_ref: 'Ann' })
    expect(json).toMatchObject({ accountType: 'generic', memberSelection: 'ask' })
    expect(json.members).toMatchObject([{ memberRef: 'ann', biometricStatus: 'ok', securityCodeSet: true }])
    expect(refused(await verifyOf(service, 'turn', CODE, session))).toEqual([400, 'invalid-data'])
    expect((await verifyOf(service, 'turn', CODE, await sessionOf('turn', 'ann'))).json.action).toBe('verified')
    const back = (await patch('turn', { type: 'nominative' })).json
    expect(back).toMatchObject({ accountType: 'nominative', memberSelection: null })
    expect(await service.bootstrap('turn')).toMatchObject({
      status: 200,
      json: { memberRef: 'turn', nPatternsRef: 5, biometricStatus: 'ok', securityCodeSet: true },
    })
  })

  it('answers 409 to a change of type that is not explicit, or would lose a member', async () => {
    await service.call('POST', '/users/strict')
    await shared('strict-2', 'ann', 'bob')
    for (const [userRef, body] of [
      ['strict', { type: 'generic' }],
      ['strict', { type: 'generic', member_ref: 'STRICT' }],
      ['strict', { member_ref: 'ann' }],
      ['strict-2', { type: 'nominative' }],
    ] as const)
      expect(refused(await patch(userRef, body))).toEqual([409, 'invalid-action'])
    await service.call('DELETE', '/users/strict-2?member_ref=bob')
    expect((await patch('strict-2', { type: 'nominative' })).status).toBe(200)
    expect((await service.bootstrap('strict-2')).json).toMatchObject({ memberRef: 'strict-2' })
  })

  it('adds a member, and answers 409 to a duplicate in any spelling', async () => {
    await shared('grow', 'ann')
    expect((await patch('grow', { member_ref: 'bob' })).status).toBe(200)
    expect(refused(await patch('grow', { member_ref: ' BOB ' }))).toEqual([409, 'invalid-action'])
    expect(await refsOf('grow')).toEqual(['ann', 'bob'])
    const all = await Promise.all(Array.from({ length: 20 }, () => patch('grow', { member_ref: 'cy' })))
    expect(all.filter(({ status }) => status === 200)).toHaveLength(1)
  })

  it('sets selection, groups and tags, and keeps absent fields', async () => {
    await shared('sets', 'ann')
    await patch('sets', { member_selection: 'list', groups: ['desk', 'paris'] })
    const { json } = await patch('sets', { tag: { site: 'paris' } })
    expect(json).toMatchObject({ memberSelection: 'list', groups: ['desk', 'paris'], tag: { site: 'paris' } })
    expect((await service.bootstrap('sets')).json.memberSelection).toBe('list')
    for (const bad of [{}, { groups: Array(51).fill('g') }, { type: 'other' }, { member_selection: 'x' }])
      expect(refused(await patch('sets', bad)), JSON.stringify(bad)).toEqual([422, 'invalid-data'])
    expect(refused(await patch('nobody-here', { groups: [] }))).toEqual([404, 'user-not-found'])
  })
})

describe('DELETE /users/{userRef}', () => {
  it('with a member archives that member only: patterns, code and sessions are deleted, the account stays shared', async () => {
    await shared('leave', 'ann', 'bob')
    const [ann, bob] = [await sessionOf('leave', 'ann'), await sessionOf('leave', 'bob')]
    await enroll('leave', null, bob, 40_006, 5)
    const gone = await service.call('DELETE', '/users/leave?member_ref=Bob')
    expect(gone.json).toMatchObject({ user_id: 'leave', n_patterns_deleted: 5 })
    expect(await refsOf('leave')).toEqual(['ann'])
    expect(refused(await verifyOf(service, 'leave', pattern(40_007), bob))).toEqual([400, 'invalid-data'])
    expect((await enroll('leave', null, ann, 40_007)).status).toBe(200)
    expect(refused(await service.call('DELETE', '/users/leave?member_ref=bob'))).toEqual([404, 'user-not-found'])
    const back = await create('leave', 'bob')
    expect([back.status, back.json]).toMatchObject([201, { nPatternsRef: 0, biometricStatus: 'not-ready' }])
  })

  it('without one deletes the shared account with all members', async () => {
    await shared('close', 'ann', 'bob')
    expect((await service.call('DELETE', '/users/close')).json).toMatchObject({ n_patterns_deleted: 0 })
    expect((await service.call('GET', '/users/close/members')).status).toBe(404)
  })
})

it('lists the one person of a nominative account', async () => {
  await service.call('POST', '/users/single', { body: { user_display_name: 'Single' } })
  expect(await membersOf('single')).toMatchObject([{ memberRef: 'single', displayName: 'Single' }])
})

it('clears every display name of the organization, and nothing else', async () => {
  await create('named', 'ann', { user_display_name: 'Ann of the desk' })
  const clear = async () => (await service.call('DELETE', '/user-display-names')).json.n_display_names_cleared
  expect(await clear()).toBeGreaterThanOrEqual(1)
  expect(await membersOf('named')).toMatchObject([{ memberRef: 'ann', displayName: null }])
  expect(await clear()).toBe(0)
})
