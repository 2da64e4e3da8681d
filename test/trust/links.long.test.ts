import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newToken, sha256 } from '../../src/flows/process/tokens.js'
import { connectPostgres, type Database } from '../../src/storage/postgres/connection/client.js'
import { postgresProfileLinks } from '../../src/storage/postgres/person/profile-link.js'
import { person } from '../../src/typist/made-up-person.js'
import { enroll, text } from '../api/enrolled.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'
import { startService, type TestService } from '../service.js'
import { figure, LONG } from './figure.js'

const GUESSES = LONG ? 1_000_000 : 5_000
const LOOKS = LONG ? 1_000 : 100
/** Dead links of each kind, and tries with each. */
const DEAD = LONG ? 100 : 5
const TRIES = LONG ? 10 : 2
const ABANDONED = LONG ? 1_000 : 10
const AT_ONCE = 8

describe('profile links', { timeout: 1_800_000 }, () => {
  let fresh: FreshDatabase
  let service: TestService
  let database: Database
  beforeAll(async () => {
    fresh = await freshDatabase()
    service = await startService(fresh.url)
    database = connectPostgres({ url: fresh.url, max: AT_ONCE, patience: 10 })
  })
  afterAll(async () => {
    await database.close()
    await service.close()
    await fresh.drop()
  })

  const make = async (kind: string, userRef: string): Promise<string> =>
    (await service.callLinks('POST', `/api/links/${kind}-profile/${userRef}`)).json.key
  const send = (key: string, body: unknown) =>
    service.callLinks('POST', '/typing-patterns', { body, headers: { 'x-link-key': key } })
  let typed = 0
  /** Sends patterns until one is stored. A made-up person is sometimes taken for a machine and then types again. */
  async function type(key: string, seed: number) {
    for (;;) {
      const n = ++typed
      const answer = await send(key, person(seed).types(text(n), n))
      if (answer.json.reason !== 'detection-bot') return answer
    }
  }
  async function complete(key: string, seed: number): Promise<void> {
    for (;;) {
      const { status, json } = await type(key, seed)
      expect([status, json.reason]).toEqual([200, undefined])
      if (json.completed) return
    }
  }
  const open = async (key: string, method = 'GET') => {
    const answer = await fetch(`${service.auth}/b/${key}`, { method })
    return { status: answer.status, headers: answer.headers, body: await answer.text() }
  }

  it('reject guessed keys', async () => {
    const links = postgresProfileLinks(database)
    const real = await make('create', 'guessed')
    expect(await links.find(sha256(real))).not.toBeNull()
    let [hits, left] = [0, GUESSES]
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        while (left-- > 0) if ((await links.find(sha256(newToken()))) !== null) hits++
      }),
    )
    figure('T24', `${hits} of ${GUESSES.toLocaleString('en')} guessed keys found a link`, '0', hits === 0)
  })

  it('stay usable after views by scanners and prefetchers', async () => {
    const key = await make('create', 'prefetched')
    for (let n = 0; n < LOOKS; n += AT_ONCE)
      await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => open(key, (n + i) % 2 === 0 ? 'GET' : 'HEAD')))
    const { json } = await type(key, 24_000)
    figure('T24', `after ${LOOKS} looks of scanners: ${json.nPatterns} pattern taken`, '1', json.nPatterns === 1)
  })

  it('take nothing once they are dead, and dead links look like unknown ones', async () => {
    const ways: Record<string, (n: number) => Promise<string>> = {
      used: async (n) => {
        const key = await make('create', `used-${n}`)
        await complete(key, 24_100 + n)
        return key
      },
      expired: async (n) => {
        const key = await make('create', `expired-${n}`)
        await database.asSystem(
          (sql) => sql`
            update keystride.profile_link set expires_at = clock_timestamp() - interval '1 ms'
            where sha256 = ${Buffer.from(sha256(key))}`,
        )
        return key
      },
      revoked: async (n) => {
        const key = await make('create', `revoked-${n}`)
        await service.callLinks('DELETE', `/api/links/revoked-${n}`)
        return key
      },
      unknown: async () => newToken(),
    }
    const pages = new Set<string>()
    const refusals = new Set<string>()
    let [tried, taken, looked] = [0, 0, 0]
    for (const [way, dead] of Object.entries(ways)) {
      for (let n = 0; n < DEAD; n++) {
        const key = await dead(n)
        for (let i = 0; i < TRIES; i++) {
          const { status, headers, body } = await open(key)
          looked++
          // These headers differ in every answer.
          const [date, id] = [headers.get('date') ?? '\0', headers.get('x-request-id') ?? '\0']
          pages.add([status, [...headers].join(), body].join('\n').replaceAll(date, '').replaceAll(id, ''))
          const answer = await send(key, person(24_999).types(text(n * TRIES + i), n * TRIES + i))
          tried++
          if (answer.status === 200) {
            taken++
            console.log(`a link that is ${way} took a pattern`)
          }
          refusals.add(JSON.stringify([answer.status, { ...answer.json, timestamp: '' }]))
        }
      }
    }
    figure('T24', `${taken} of ${tried} patterns taken by used, expired, revoked and unknown links`, '0', taken === 0)
    const found = `${pages.size} kind of page and ${refusals.size} kind of refusal over ${looked} looks at dead links`
    figure('T17', found, '1 and 1', pages.size === 1 && refusals.size === 1)
  })

  it('to reset leave the old profile unchanged if abandoned at any step', async () => {
    const { who, userRef } = await enroll(service, 'abandoned')
    const held = async () => {
      const rows = await database.asSystem(
        (sql) => sql<{ row: string }[]>`
          select r::text as row from keystride.reference_pattern r join keystride.member m on m.id = r.member_id
          where m.member_ref = ${userRef} and r.kind = 'enrolled' and r.generation = m.generation order by r.id`,
      )
      return rows.map(({ row }) => row).join('\n')
    }
    const before = await held()
    expect(before.split('\n')).toHaveLength(5)
    let whole = 0
    for (let n = 0; n < ABANDONED; n++) {
      const key = await make('reset', userRef)
      for (let step = 0; step < n % 5; step++) expect((await type(key, 25_000 + n)).status).toBe(200)
      // Left alone, revoked, or replaced by the next link.
      if (n % 3 === 1) await service.callLinks('DELETE', `/api/links/${userRef}`)
      const state = (await service.bootstrap(userRef)).json
      if ((await held()) === before && state.biometricStatus === 'ok' && state.nPatternsRef === 5) whole++
    }
    figure(
      'T25',
      `${whole} of ${ABANDONED} abandoned resets left the profile as it was, row by row`,
      'all',
      whole === ABANDONED,
    )
    let passes = 0
    for (let n = 0; n < 9 && passes === 0; n++) {
      const { session } = await service.bootstrap(userRef)
      const body = who.types(text(5_000 + n), 5_000 + n)
      const { json } = await service.call('POST', `/users/${userRef}/verify`, { session, body })
      if (json.authentication?.authenticated) passes++
    }
    expect(passes).toBe(1)
  })
})

describe('a caller without a key', () => {
  it('gets the same refusals for users that exist and users that do not', async () => {
    const fresh = await freshDatabase()
    const service = await startService(fresh.url)
    await service.call('POST', '/users/here')
    const said = new Set<string>()
    let asked = 0
    const paths = ['', '/members', '/verify', '/typing-patterns', '/security-code', '/pending-action', '/nowhere']
    for (const path of paths)
      for (const userRef of ['here', 'gone', 'not a name!'])
        for (const method of ['GET', 'POST', 'PUT', 'DELETE'])
          for (const headers of [{}, { apikey: '' }, { apikey: `ks_${'A'.repeat(43)}` }, { apikey: 'x' }]) {
            const answer = await fetch(`${service.core}/users/${encodeURIComponent(userRef)}${path}`, {
              method,
              headers: headers as Record<string, string>,
            })
            asked++
            const { timestamp: _, ...rest } = (await answer.json()) as Record<string, unknown>
            const { date: _d, 'x-request-id': _r, ...others } = Object.fromEntries(answer.headers)
            said.add(JSON.stringify([answer.status, rest, others]))
          }
    expect([...said].every((one) => one.startsWith('[401'))).toBe(true)
    figure('T17', `${said.size} kind of refusal over ${asked} calls without a key`, '1', said.size === 1)
    await service.close()
    await fresh.drop()
  })
})
