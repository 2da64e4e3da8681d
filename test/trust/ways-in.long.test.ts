import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectPostgres, type Database } from '../../src/storage/postgres/connection/client.js'
import { enroll, stranger } from '../api/enrolled.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'
import { type Answer, startService, type TestService } from '../service.js'
import { figure, LONG } from './figure.js'

const CODE = '749205'
const OTHER = '480653'
const ROUNDS = LONG ? 50 : 3
const TRIES = LONG ? 1_000 : 30

describe('ways in', { timeout: 600_000 }, () => {
  let fresh: FreshDatabase
  let service: TestService
  let database: Database
  beforeAll(async () => {
    fresh = await freshDatabase()
    service = await startService(fresh.url)
    database = connectPostgres({ url: fresh.url, max: 2, patience: 10 })
  })
  afterAll(async () => {
    await database.close()
    await service.close()
    await fresh.drop()
  })

  const call = (
    path: string,
    body: unknown,
    { session, headers = {} }: { session?: string; headers?: Record<string, string> } = {},
  ) => service.call('POST', path, { body, session, headers })
  const begin = async (path: string): Promise<string> =>
    (await service.call('GET', path)).headers.get('x-service-session') ?? ''
  const recorded = async (userRef: string) => {
    const [row] = await database.asSystem(
      (sql) => sql<{ n: number }[]>`
        select count(*)::int as n from keystride.authentication where user_ref = ${userRef} or member_ref = ${userRef}`,
    )
    return row?.n ?? Number.NaN
  }

  it('are all closed to a locked member', async () => {
    const who = await enroll(service, 'locked')
    await service.call('PUT', '/users/locked/security-code', { session: who.session, body: { securityCode: CODE } })
    for (let closed = 0; closed < 2; ) {
      const session = await begin('/users/locked')
      const typing = (await call('/users/locked/verify', stranger(), { session })).json
      const coded = (await call('/users/locked/verify', { securityCode: OTHER }, { session })).json
      closed = [typing, coded].filter(({ action }) => action === 'refused').length
    }
    const before = await recorded('locked')
    const enrolls = { 'x-enrollment': 'USER' }
    const ways: Record<string, () => Promise<Answer>> = {
      'verify by typing': async () =>
        call('/users/locked/verify', who.fresh(), { session: await begin('/users/locked') }),
      'verify by code': async () =>
        call('/users/locked/verify', { securityCode: CODE }, { session: await begin('/users/locked') }),
      'user-verify by typing': () => call('/user-verify/locked', who.fresh()),
      'user-verify by typing, in a session': async () =>
        call('/user-verify/locked', who.fresh(), { session: await begin('/users/locked') }),
      'user-verify by code': () => call('/user-verify/locked', { securityCode: CODE }),
      'user-verify that may enroll': () => call('/user-verify/locked', who.fresh(), { headers: enrolls }),
      'user-action': () => call('/user-action/locked', { action: 'LINK_PATTERN', pattern: who.fresh() }),
      'the hosted page': async () => {
        const made = await service.callLinks('POST', '/api/links/create-profile/locked')
        const key = made.json.key ?? 'none'
        return service.callLinks('POST', '/typing-patterns', { body: who.fresh(), headers: { 'x-link-key': key } })
      },
    }
    let [tried, authenticated] = [0, 0]
    for (let round = 0; round < ROUNDS; round++)
      for (const [way, go] of Object.entries(ways)) {
        const { json } = await go()
        tried++
        if (json.authentication?.authenticated || json.action === 'verified') {
          authenticated++
          console.log(`in by ${way}`)
        }
      }
    // A person under a shared account is the same member by either name.
    const moved = await service.call('PATCH', '/users/locked', { body: { type: 'generic', member_ref: 'the-desk' } })
    const shared = moved.status === 200 ? await begin('/users/locked?member_ref=the-desk') : ''
    const { json } = await call('/users/locked/verify?member_ref=the-desk', who.fresh(), { session: shared })
    tried++
    if (json.authentication?.authenticated) authenticated++
    expect(json.action).toBe('refused')
    const judged = (await recorded('locked')) - before
    const names = Object.keys(ways).length + 1
    figure(
      'T15',
      `${authenticated} of ${tried} tries over ${names} ways in, ${judged} judged`,
      '0 and 0',
      authenticated + judged === 0,
    )
  })

  it('add no reference to a complete profile without authentication', async () => {
    const who = await enroll(service, 'finished')
    const tested = (await call('/user-verify/finished', stranger())).json.authentication.patternTestId
    const session = await begin('/users/finished')
    const ways: (() => Promise<Answer>)[] = [
      () => call('/users/finished/typing-patterns', who.fresh(), { session }),
      async () => call('/users/finished/typing-patterns', who.fresh(), { session: await begin('/users/finished') }),
      () => call('/user-action/finished', { action: 'LINK_PATTERN', pattern: who.fresh() }),
      () => call('/user-action/finished', { action: 'LINK_PATTERN', pattern: who.fresh() }, { session }),
      () => call('/user-action/finished', { action: 'LINK_PATTERN_ID', patternId: tested }),
      () => call('/user-action/finished', { action: 'LINK_PATTERN_ID', patternId: tested }, { session }),
    ]
    const refused = new Map<string, number>()
    for (let n = 0; n < TRIES; n++) {
      const { status, json } = await (ways[n % ways.length] as () => Promise<Answer>)()
      refused.set(`${status} ${json.reason}`, (refused.get(`${status} ${json.reason}`) ?? 0) + 1)
    }
    const stored = (await service.bootstrap('finished')).json.nPatternsRef - 5
    // Most calls must be refused as a second typist's, not for another reason.
    expect(refused.get('409 invalid-action')).toBeGreaterThan(TRIES / 2)
    figure(
      'T13',
      `${stored} of ${TRIES.toLocaleString('en')} patterns stored without authentication`,
      '0',
      stored === 0,
    )
  })
})
