import { describe, expect, it } from 'vitest'
import { type MadeUpPerson, person } from '../../src/typist/made-up-person.js'
import { enroll, linkTo, sendBy, sincere, text, typeBy, verifyOf, wordsBy } from '../harness/enrolled.js'
import { figure, LONG } from '../harness/figure.js'
import { sharedService } from '../harness/service.js'
import { ownRows } from './own-rows.js'
import { speakingFor } from './second-service.js'

/** Number of links that each get a hundred concurrent patterns. */
const RACES = LONG ? 100 : 3
/** The default of PUBLIC_URL with PORT=0. */
const PUBLIC_URL = 'http://localhost:0'

const service = await sharedService()
const rows = ownRows(service)

const make = (kind: string, userRef: string, body: unknown = {}) =>
  service.callLinks('POST', `/api/links/${kind}-profile/${userRef}`, { body })
const keyOf = (kind: string, userRef: string, body: object = {}) => linkTo(service, kind, userRef, body)
const revoke = (userRef: string) => service.callLinks('DELETE', `/api/links/${userRef}`)
const send = (key: string, body: unknown, headers: Record<string, string> = {}) => sendBy(service, key, body, headers)
let typed = 0
const fresh = (who: MadeUpPerson, words = text(typed + 1)) => who.types(words, ++typed)
const type = (key: string, who: MadeUpPerson) => typeBy(service, key, (words) => fresh(who, words))
async function complete(key: string, who: MadeUpPerson) {
  for (;;) {
    const answer = await type(key, who)
    expect(answer.status, JSON.stringify(answer.json)).toBe(200)
    if (answer.json.completed) return answer.json
  }
}
const state = async (userRef: string) => (await service.bootstrap(userRef)).json
const stored = async (table: string, userRef: string) => {
  const found = await rows(
    (sql) => sql`
      select 1 from keystride.${sql(table)} t join keystride.member m on m.id = t.member_id
      where m.member_ref = ${userRef}`,
  )
  return found.length
}

describe('profile links', () => {
  it('have the URL of a page, a key of 256 bits, and the requested lifetime, by default a day', async () => {
    const { json } = await make('create', 'Ann Lee', { validity: 600 })
    expect([json.link, json.expiresIn]).toEqual([`${PUBLIC_URL}/auth/b/${json.key}`, 600])
    expect(json.key).toMatch(/^[A-Za-z0-9_-]{43}$/)
    expect((await service.callLinks('POST', '/api/links/create-profile/ann-lee')).json.expiresIn).toBe(86_400)
    expect(await state('ann-lee')).toMatchObject({ biometricStatus: 'not-ready', accountType: 'nominative' })
  })

  it('refuse lifetimes and URLs out of bounds, with the field and without the value', async () => {
    for (const body of [
      { validity: 59 },
      { validity: 604_801 },
      { validity: 600.5 },
      { redirect_uri: 'javascript:alert(1)' },
      { redirect_uri: 'https://user@evil.example/' },
    ]) {
      const { status, json } = await make('create', 'bounds', body)
      expect([status, json.reason]).toEqual([422, 'invalid-data'])
      expect(json.message).toMatch(/^(validity|redirect_uri): /)
      expect(json.message).not.toMatch(/evil|alert/)
    }
  })

  it('accept only the origins that the organization lists', async () => {
    const { organizationId, apikey } = await service.another()
    const other = speakingFor(service, organizationId, apikey)
    const origins = JSON.stringify(['https://example.com'])
    await ownRows(other)((sql) => sql`update keystride.organization set redirect_origins = ${origins}::text::jsonb`)
    const status = async (redirect_uri: string) =>
      (await other.callLinks('POST', '/api/links/create-profile/listed', { body: { redirect_uri } })).status
    expect([await status('https://other.example/'), await status('https://example.com/done')]).toEqual([422, 200])
  })

  it('to reset and to complete require an existing user', async () => {
    for (const answer of [await make('reset', 'nobody'), await make('complete', 'nobody'), await revoke('nobody')])
      expect([answer.status, answer.json.reason]).toEqual([404, 'user-not-found'])
  })

  it('register a person pattern by pattern, end with the last one, and return the redirect', async () => {
    const who = person(9001)
    const key = await keyOf('create', 'reg', { redirect_uri: 'https://example.com/done?a=b' })
    for (let n = 1; n <= 5; n++) {
      const redirectTo = n < 5 ? null : 'https://example.com/done?a=b&status=completed'
      const { json } = await type(key, who)
      expect(json).toMatchObject({ nPatterns: n, targetPatterns: 5, completed: n === 5, redirectTo })
      expect(await state('reg')).toMatchObject({ biometricStatus: n < 5 ? 'in-progress' : 'ok', nPatternsRef: n })
    }
    const { status, json } = await type(key, who)
    expect([status, json.reason]).toEqual([404, 'invalid-data'])
    expect((await make('create', 'reg')).json).toMatchObject({ success: false, reason: 'invalid-action' })
  })

  it('to complete add missing patterns, and fill a complete profile', async () => {
    const { who } = await enroll(service, 'part', 3)
    expect(await complete(await keyOf('complete', 'part'), who)).toMatchObject({ nPatterns: 5 })
    expect(await state('part')).toMatchObject({ biometricStatus: 'ok' })
    const filling = await keyOf('complete', 'part')
    expect((await type(filling, who)).json).toMatchObject({ nPatterns: 6, targetPatterns: 10, completed: false })
    await complete(filling, who)
    expect(await state('part')).toMatchObject({ biometricStatus: 'full', nPatternsRef: 10 })
    expect((await make('complete', 'part')).status).toBe(409)
  })

  it('to reset keep the old profile until the new one is complete, and then replace it and end sessions', async () => {
    const old = await enroll(service, 'renewed')
    const key = await keyOf('reset', 'renewed')
    const next = person(9101)
    for (let n = 1; n <= 4; n++) expect((await type(key, next)).json).toMatchObject({ nPatterns: n, completed: false })
    expect(await state('renewed')).toMatchObject({ biometricStatus: 'ok', nPatternsRef: 5 })
    const { session } = await service.bootstrap('renewed')
    expect((await complete(key, next)).nPatterns).toBe(5)
    expect(await state('renewed')).toMatchObject({ biometricStatus: 'ok', nPatternsRef: 5 })
    expect((await verifyOf(service, 'renewed', old.fresh(), session)).status).toBe(400)
    expect((await verifyOf(service, 'renewed', old.fresh())).json.authentication.authenticated).toBe(false)
    expect(await stored('reference_pattern', 'renewed')).toBe(5)
  })

  it('revoke the older one of their kind, and no link of another kind', async () => {
    await service.call('POST', '/users/kinds')
    const [first, reset] = [await keyOf('create', 'kinds'), await keyOf('reset', 'kinds')]
    const second = await keyOf('create', 'kinds')
    expect((await send(first, {})).status).toBe(404)
    for (const key of [second, reset]) expect((await send(key, {})).status).toBe(422)
    await revoke('kinds')
    for (const key of [second, reset]) expect((await send(key, {})).status).toBe(404)
  })

  it('are for one member of a shared account, and revoked for all if no member is named', async () => {
    await service.call('POST', '/users/desk', { body: { type: 'generic', member_ref: 'ann' } })
    expect((await make('complete', 'desk')).status).toBe(400)
    const ann = await keyOf('complete', 'desk?member_ref=ann')
    const bob = await keyOf('create', 'desk', { member_ref: 'bob' })
    await complete(bob, person(9201))
    expect((await service.call('GET', '/users/desk/members')).json.members).toMatchObject([
      { memberRef: 'ann', biometricStatus: 'not-ready' },
      { memberRef: 'bob', biometricStatus: 'ok' },
    ])
    await revoke('desk?member_ref=bob')
    expect((await send(ann, {})).status).toBe(422)
    await revoke('desk')
    expect((await send(ann, {})).status).toBe(404)
  })

  it('complete once for concurrent patterns', async () => {
    let once = 0
    for (let race = 0; race < RACES; race++) {
      const userRef = `race-${race}`
      const { who } = await enroll(service, userRef, 4)
      const key = await keyOf('complete', userRef)
      const words = await wordsBy(service, key)
      const bodies = Array.from({ length: 100 }, () => fresh(who, words))
      const answers = await Promise.all(bodies.map((body) => send(key, body)))
      if (answers.filter(({ json }) => json.completed === true).length === 1) once++
      // 404: the link has ended; 409: the profile is complete; 422: classified as a machine; 503: the queue is full.
      for (const { status } of answers) expect([200, 404, 409, 422, 503]).toContain(status)
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
      expect(await state(userRef)).toMatchObject({ biometricStatus: 'ok', nPatternsRef: 5 })
    }
    figure('T24', `${once} of ${RACES} links completed once by 100 calls`, 'all', once === RACES)
  })

  it('are deleted with their account, also those of archived members', async () => {
    const key = await keyOf('create', 'leaving')
    await type(key, person(9301))
    await service.call('DELETE', '/users/leaving')
    await service.call('POST', '/users/desk2', { body: { type: 'generic', member_ref: 'eve' } })
    const eve = await keyOf('complete', 'desk2', { member_ref: 'eve' })
    await service.call('DELETE', '/users/desk2?member_ref=eve')
    for (const dead of [key, eve]) expect((await send(dead, {})).status).toBe(404)
  })

  it('accept nothing from a page of another origin', async () => {
    const key = await keyOf('create', 'foreign')
    const statuses: [Record<string, string>, number][] = [
      [{ 'sec-fetch-site': 'cross-site' }, 403],
      [{ 'sec-fetch-site': 'same-site' }, 403],
      [{ 'sec-fetch-site': 'none' }, 403],
      [{ origin: 'https://evil.example' }, 403],
      [{ origin: 'null' }, 403],
      [{ 'sec-fetch-site': 'same-origin' }, 200],
      [{ origin: PUBLIC_URL }, 200],
    ]
    const who = person(9401)
    for (const [headers, status] of statuses) {
      const words = await wordsBy(service, key)
      const answer = await sincere(
        (body) => send(key, body, headers),
        () => fresh(who, words),
      )
      expect([headers, answer.status]).toEqual([headers, status])
    }
  })

  it('refuse machines and replays, and count the refusals against the member', async () => {
    const key = await keyOf('create', 'limited')
    const { session, who, userRef } = await enroll(service, 'origin', 0)
    const words = await wordsBy(service, key)
    let first: unknown
    const typing = () => {
      first = fresh(who, words)
      return first
    }
    await sincere((body) => service.call('POST', `/users/${userRef}/typing-patterns`, { session, body }), typing)
    expect((await send(key, first)).json).toMatchObject({ reason: 'fraud-detected' })
    for (let n = 1; n < 20; n++) expect((await send(key, {})).status).toBe(422)
    for (const body of [{}, fresh(person(9501))]) expect((await send(key, body)).status).toBe(429)
  })
})
