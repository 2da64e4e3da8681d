import { describe, expect, it } from 'vitest'
import { newToken, sha256 } from '../../src/flows/process/tokens.js'
import { person } from '../../src/typist/made-up-person.js'
import { enroll, linkTo, sendBy, text, typeBy } from '../harness/enrolled.js'
import { figure, LONG } from '../harness/figure.js'
import { sharedService } from '../harness/service.js'
import { databaseOf } from '../servers/database.js'

const LOOKS = LONG ? 1_000 : 100
/** Dead links of each kind, and tries with each. */
const DEAD = LONG ? 100 : 5
const TRIES = LONG ? 10 : 2
const ABANDONED = LONG ? 1_000 : 10

const service = await sharedService()
const database = databaseOf(service)

describe('profile links', { timeout: 1_800_000 }, () => {
  let typed = 0
  const type = (key: string, seed: number) => typeBy(service, key, (words) => person(seed).types(words, ++typed))
  const open = async (key: string, method = 'GET') => {
    const answer = await fetch(`${service.auth}/b/${key}`, { method })
    // These headers differ in every answer.
    const headers = [...answer.headers].filter(([name]) => name !== 'date' && name !== 'x-request-id')
    return JSON.stringify([answer.status, headers, await answer.text()])
  }

  it('stay usable after views by scanners and prefetchers', async () => {
    const key = await linkTo(service, 'create', 'prefetched')
    for (let n = 0; n < LOOKS; n++) await open(key, n % 2 === 0 ? 'GET' : 'HEAD')
    const { json } = await type(key, 24_000)
    figure('T24', `${json.nPatterns} pattern taken after ${LOOKS} looks`, '1', json.nPatterns === 1)
  })

  it('take nothing once they are dead, and dead links look like unknown ones', async () => {
    const ways: Record<string, (key: string, n: number) => Promise<unknown>> = {
      used: async (key, n) => {
        while (!(await type(key, 24_100 + n)).json.completed);
      },
      expired: (key) =>
        database.asSystem(
          (sql) => sql`
            update keystride.profile_link set expires_at = clock_timestamp() - interval '1 ms'
            where sha256 = ${Buffer.from(sha256(key))}`,
        ),
      revoked: (_, n) => service.callLinks('DELETE', `/api/links/revoked-${n}`),
    }
    const keys = Array.from({ length: DEAD }, newToken)
    for (const [way, end] of Object.entries(ways))
      for (let n = 0; n < DEAD; n++) {
        const key = await linkTo(service, 'create', `${way}-${n}`)
        await end(key, n)
        keys.push(key)
      }
    const [pages, refusals] = [new Set<string>(), new Set<string>()]
    let taken = 0
    for (const key of keys)
      for (let n = 0; n < TRIES; n++) {
        pages.add(await open(key))
        const { status, json } = await sendBy(service, key, person(24_999).types(text(n), n))
        if (status === 200) taken++
        refusals.add(JSON.stringify([status, { ...json, timestamp: '' }]))
      }
    const tried = keys.length * TRIES
    figure('T24', `${taken} of ${tried} patterns taken by dead links`, '0', taken === 0)
    const found = `${pages.size} page and ${refusals.size} refusal over ${tried} dead links`
    figure('T17', found, '1 and 1', pages.size === 1 && refusals.size === 1)
  })

  it('to reset leave the old profile unchanged if abandoned at any step', async () => {
    const { userRef } = await enroll(service, 'abandoned')
    const held = () =>
      database.asSystem(
        (sql) => sql`
          select r::text as row from keystride.reference_pattern r join keystride.member m on m.id = r.member_id
          where m.organization_id = ${service.organizationId} and m.member_ref = ${userRef} and r.kind = 'enrolled'
            and r.generation = m.generation order by r.id`,
      )
    const before = await held()
    expect(before).toHaveLength(5)
    let whole = 0
    for (let n = 0; n < ABANDONED; n++) {
      const key = await linkTo(service, 'reset', userRef)
      for (let step = 0; step < n % 5; step++) expect((await type(key, 25_000 + n)).status).toBe(200)
      // The link is left alone, revoked, or replaced by the next one.
      if (n % 3 === 1) await service.callLinks('DELETE', `/api/links/${userRef}`)
      const { json } = await service.bootstrap(userRef)
      const isAsBefore = JSON.stringify(await held()) === JSON.stringify(before)
      if (isAsBefore && json.biometricStatus === 'ok' && json.nPatternsRef === 5) whole++
    }
    const found = `${whole} of ${ABANDONED} profiles unchanged row by row`
    figure('T25', found, 'all', whole === ABANDONED)
  })
})

it('a caller without a key gets the same refusals for users that exist and users that do not', async () => {
  await service.call('POST', '/users/here')
  const said = new Set<string>()
  let asked = 0
  for (const path of ['', '/members', '/verify', '/typing-patterns', '/security-code', '/pending-action', '/nowhere'])
    for (const userRef of ['here', 'gone', 'not%20a%20name!'])
      for (const method of ['GET', 'POST', 'PUT', 'DELETE'])
        for (const apikey of [null, '', `ks_${'A'.repeat(43)}`, 'x']) {
          const headers: Record<string, string> = apikey === null ? {} : { apikey }
          const answer = await fetch(`${service.core}/users/${userRef}${path}`, { method, headers })
          asked++
          const { timestamp: _, ...rest } = (await answer.json()) as Record<string, unknown>
          const { date: _d, 'x-request-id': _r, ...others } = Object.fromEntries(answer.headers)
          said.add(JSON.stringify([answer.status, rest, others]))
        }
  expect([...said][0]).toMatch(/^\[401/)
  figure('T17', `${said.size} refusal over ${asked} calls without a key`, '1', said.size === 1)
})
