import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectPostgres, type Database } from '../../src/storage/postgres/connection/client.js'
import { type MadeUpPerson, person } from '../../src/typist/made-up-person.js'
import { freshDatabase } from '../servers/database.js'
import { redisUrl, startService, type TestService } from '../service.js'
import { figure, LONG } from '../trust/figure.js'
import { enroll, text } from './enrolled.js'

/** Number of links that each get a hundred concurrent patterns. */
const RACES = LONG ? 100 : 3

describe('profile links', () => {
  let service: TestService
  let database: Database
  beforeAll(async () => {
    const { url } = await freshDatabase()
    service = await startService(url, { redisUrl, more: { PUBLIC_URL: 'https://keys.example.com' } })
    database = connectPostgres({ url, max: 2, patience: 10 })
  })
  afterAll(async () => {
    await database.close()
    await service.close()
  })

  const make = (kind: string, userRef: string, body: unknown = {}) =>
    service.callLinks('POST', `/api/links/${kind}-profile/${userRef}`, { body })
  const keyOf = async (kind: string, userRef: string, body: unknown = {}): Promise<string> => {
    const { status, json } = await make(kind, userRef, body)
    expect([status, json.message]).toEqual([200, 'Done'])
    return json.key
  }
  const send = (key: string, body: unknown, headers: Record<string, string> = {}) =>
    service.callLinks('POST', '/typing-patterns', { body, headers: { 'x-link-key': key, ...headers } })
  let typed = 0
  /** Sends patterns until one is not classified as a machine's. */
  async function type(key: string, who: MadeUpPerson) {
    for (;;) {
      const answer = await send(key, who.types(text(++typed), typed))
      if (answer.status !== 422) return answer
      expect(answer.json.reason).toBe('detection-bot')
    }
  }
  async function complete(key: string, who: MadeUpPerson) {
    for (;;) {
      const answer = await type(key, who)
      expect(answer.status, JSON.stringify(answer.json)).toBe(200)
      if (answer.json.completed) return answer.json
    }
  }
  const state = async (userRef: string) => (await service.bootstrap(userRef)).json
  const verify = async (userRef: string, body: unknown) => {
    const { session } = await service.bootstrap(userRef)
    return (await service.call('POST', `/users/${userRef}/verify`, { session, body })).json
  }
  const expire = (userRef: string) =>
    database.asSystem(
      (sql) => sql`
        update keystride.profile_link l set expires_at = clock_timestamp() - interval '1 ms'
        from keystride.member m where m.id = l.member_id and m.member_ref = ${userRef}`,
    )
  const rows = (table: string, userRef: string) =>
    database.asSystem(
      async (sql) =>
        (
          await sql`
            select 1 from keystride.${sql(table)} t join keystride.member m on m.id = t.member_id
            where m.member_ref = ${userRef}`
        ).length,
    )

  it('have the URL of a page, a key of 256 bits, and the requested lifetime, by default a day', async () => {
    const { json } = await make('create', 'Ann Lee', { validity: 600 })
    expect(json.link).toBe(`https://keys.example.com/auth/b/${json.key}`)
    expect(json.key).toMatch(/^[A-Za-z0-9_-]{43}$/)
    expect(json.expiresIn).toBe(600)
    expect((await service.callLinks('POST', '/api/links/create-profile/ann-lee')).json.expiresIn).toBe(86_400)
    expect(await state('ann-lee')).toMatchObject({ biometricStatus: 'not-ready', accountType: 'nominative' })
  })

  it('refuse lifetimes and URLs out of bounds, with the field and without the value', async () => {
    for (const body of [
      { validity: 59 },
      { validity: 604_801 },
      { validity: 600.5 },
      { validity: '600' },
      { redirect_uri: 'javascript:alert(1)' },
      { redirect_uri: 'https://user@evil.example/' },
      { redirect_uri: 5 },
    ]) {
      const { status, json } = await make('create', 'bounds', body)
      expect([status, json.reason]).toEqual([422, 'invalid-data'])
      expect(json.message).toMatch(/^(validity|redirect_uri): /)
      expect(json.message).not.toMatch(/evil|alert/)
    }
  })

  it('accept only the origins that the organization lists', async () => {
    const list = (origins: string[]) =>
      database.asSystem(
        (sql) => sql`update keystride.organization set redirect_origins = ${JSON.stringify(origins)}::text::jsonb`,
      )
    const status = async (redirect_uri: string) => (await make('create', 'listed', { redirect_uri })).status
    await list(['https://example.com'])
    await expect.poll(() => status('https://other.example/'), { timeout: 5000 }).toBe(422)
    expect(await status('https://example.com/done')).toBe(200)
    await list([])
    await expect.poll(() => status('https://other.example/'), { timeout: 5000 }).toBe(200)
  })

  it('to reset and to complete require an existing user', async () => {
    for (const kind of ['reset', 'complete']) {
      const { status, json } = await make(kind, 'nobody')
      expect([status, json.reason]).toEqual([404, 'user-not-found'])
    }
    expect((await service.callLinks('DELETE', '/api/links/nobody')).status).toBe(404)
  })

  it('register a person pattern by pattern, end with the last one, and return the redirect', async () => {
    const who = person(9001)
    const key = await keyOf('create', 'reg', { redirect_uri: 'https://example.com/done?a=b' })
    for (let n = 1; n <= 4; n++) {
      expect((await type(key, who)).json).toMatchObject({
        nPatterns: n,
        targetPatterns: 5,
        completed: false,
        redirectTo: null,
      })
    }
    expect(await state('reg')).toMatchObject({ biometricStatus: 'in-progress', nPatternsRef: 4 })
    expect((await type(key, who)).json).toMatchObject({
      nPatterns: 5,
      completed: true,
      redirectTo: 'https://example.com/done?a=b&status=completed',
    })
    expect(await state('reg')).toMatchObject({ biometricStatus: 'ok', nPatternsRef: 5 })
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
    const late = await service.call('POST', '/users/renewed/verify', { session, body: old.fresh() })
    expect([late.status, late.json.reason]).toEqual([400, 'invalid-data'])
    expect((await verify('renewed', old.fresh())).authentication.authenticated).toBe(false)
    expect(await rows('reference_pattern', 'renewed')).toBe(5)
  })

  it('to reset that are abandoned, revoked, replaced or expired keep the old profile, and nothing of the new one', async () => {
    const { who } = await enroll(service, 'kept')
    const before = await rows('reference_pattern', 'kept')
    const begin = async () => {
      const key = await keyOf('reset', 'kept')
      for (let n = 0; n < 2; n++) await type(key, who)
      expect(await rows('reference_pattern', 'kept')).toBe(before + 2)
      return key
    }
    const dead = async (key: string) => expect((await type(key, who)).status).toBe(404)

    const revoked = await begin()
    expect((await service.callLinks('DELETE', '/api/links/kept')).json.success).toBe(true)
    await dead(revoked)
    expect(await rows('reference_pattern', 'kept')).toBe(before)

    const replaced = await begin()
    await keyOf('reset', 'kept')
    await dead(replaced)
    expect(await rows('reference_pattern', 'kept')).toBe(before)

    const late = await begin()
    await expire('kept')
    await dead(late)
    await keyOf('create', 'somebody-else')
    expect(await rows('reference_pattern', 'kept')).toBe(before)
    expect(await rows('profile_link', 'kept')).toBe(0)
    expect(await state('kept')).toMatchObject({ biometricStatus: 'ok', nPatternsRef: 5 })
  })

  it('revoke the older one of their kind, and no link of another kind', async () => {
    await service.call('POST', '/users/kinds')
    const [first, reset] = [await keyOf('create', 'kinds'), await keyOf('reset', 'kinds')]
    const second = await keyOf('create', 'kinds')
    expect((await send(first, {})).status).toBe(404)
    for (const key of [second, reset]) expect((await send(key, {})).status).toBe(422)
    await service.callLinks('DELETE', '/api/links/kinds')
    for (const key of [second, reset]) expect((await send(key, {})).status).toBe(404)
  })

  it('are for one member of a shared account, and revoked for all if no member is named', async () => {
    await service.call('POST', '/users/desk', { body: { type: 'generic', member_ref: 'ann' } })
    expect((await make('complete', 'desk')).status).toBe(400)
    const ann = await keyOf('complete', 'desk?member_ref=ann')
    const bob = await keyOf('create', 'desk', { member_ref: 'bob' })
    await complete(bob, person(9201))
    const { members } = (await service.call('GET', '/users/desk/members')).json
    const statuses = members.map((one: Record<string, unknown>) => [one.memberRef, one.biometricStatus])
    expect(statuses).toEqual([
      ['ann', 'not-ready'],
      ['bob', 'ok'],
    ])
    await service.callLinks('DELETE', '/api/links/desk?member_ref=bob')
    expect((await send(ann, {})).status).toBe(422)
    await service.callLinks('DELETE', '/api/links/desk')
    expect((await send(ann, {})).status).toBe(404)
  })

  it(
    'complete once for concurrent patterns',
    async () => {
      let once = 0
      for (let race = 0; race < RACES; race++) {
        const userRef = `race-${race}`
        const { who } = await enroll(service, userRef, 4)
        const key = await keyOf('complete', userRef)
        const bodies = Array.from({ length: 100 }, () => who.types(text(++typed), typed))
        const answers = await Promise.all(bodies.map((body) => send(key, body)))
        const completed = answers.filter(({ json }) => json.completed === true)
        if (completed.length === 1) once++
        // 404: the link has ended; 409: the profile is complete; 422: classified as a machine; 503: the queue is full.
        for (const { status } of answers) expect([200, 404, 409, 422, 503]).toContain(status)
        expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
        expect(await state(userRef)).toMatchObject({ biometricStatus: 'ok', nPatternsRef: 5 })
      }
      figure('T24', `${once} of ${RACES} links completed exactly once by 100 at once`, 'all', once === RACES)
    },
    LONG ? 600_000 : 60_000,
  )

  it('are deleted with their account, also those of archived members', async () => {
    const key = await keyOf('create', 'leaving')
    await type(key, person(9301))
    await service.call('DELETE', '/users/leaving')
    expect((await send(key, {})).status).toBe(404)
    await service.call('POST', '/users/desk2', { body: { type: 'generic', member_ref: 'eve' } })
    const eve = await keyOf('complete', 'desk2', { member_ref: 'eve' })
    await service.call('DELETE', '/users/desk2?member_ref=eve')
    expect((await send(eve, {})).status).toBe(404)
  })

  it('give the same answer for every invalid key', async () => {
    const key = await keyOf('create', 'same')
    await expire('same')
    const headers = [
      { 'x-link-key': key },
      { 'x-link-key': 'A'.repeat(43) },
      { 'x-link-key': 'x' },
      { 'x-link-key': '' },
    ]
    const answers = await Promise.all(
      headers.map(async (given: Record<string, string>) => {
        const { status, json } = await service.callLinks('POST', '/typing-patterns', { body: {}, headers: given })
        return [status, json.reason, json.message]
      }),
    )
    expect(new Set(answers.map((one) => JSON.stringify(one))).size).toBe(1)
    const { status, json } = await service.callLinks('POST', '/typing-patterns', { body: {} })
    expect([status, json.message]).toEqual([422, expect.stringContaining('header.X-Link-Key')])
  })

  it('accept nothing from a page of another origin', async () => {
    const key = await keyOf('create', 'foreign')
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
    ] as Record<string, string>[])
      expect((await send(key, person(9401).types(text(1), 1), headers)).status).toBe(403)
    for (const headers of [{ 'sec-fetch-site': 'same-origin' }, { origin: 'https://keys.example.com' }] as Record<
      string,
      string
    >[])
      expect((await send(key, {}, headers)).status).toBe(422)
  })

  it('answer 503 while the database is unreachable, also on the page', async () => {
    const fresh = await freshDatabase()
    const more = { LOG_LEVEL: 'silent', STORE_PATIENCE: '1' }
    const other = await startService(fresh.url, { redisUrl, more })
    const { key } = (await other.callLinks('POST', '/api/links/create-profile/away')).json
    await fresh.drop()
    const open = () => fetch(`${other.auth}/b/${key}`)
    await expect.poll(async () => (await open()).status, { timeout: 10_000 }).toBe(503)
    const page = await open()
    expect(page.headers.get('content-type')).toMatch(/text\/html/)
    expect(page.headers.get('retry-after')).toBe('2')
    const type = () => other.callLinks('POST', '/typing-patterns', { body: {}, headers: { 'x-link-key': key } })
    const step = await type()
    expect([step.status, step.json.reason, step.headers.get('retry-after')]).toEqual([503, 'api-failed', '2'])
    await expect
      .poll(async () => (await type()).json.message, { timeout: 10_000 })
      .toBe('the service is degraded: PostgreSQL out of reach; try again shortly')
    await other.close()
  })

  it('refuse machines and replays, and count the refusals against the member', async () => {
    const { first } = await enroll(service, 'origin')
    const key = await keyOf('create', 'limited')
    expect((await send(key, first)).json).toMatchObject({ reason: 'fraud-detected' })
    for (let n = 1; n < 19; n++) expect((await send(key, {})).status).toBe(422)
    await expect.poll(async () => (await send(key, {})).status, { timeout: 5000 }).toBe(429)
    expect((await send(key, person(9501).types(text(2), 2))).status).toBe(429)
  })
})
