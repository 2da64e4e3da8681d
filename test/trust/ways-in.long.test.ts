import { describe, expect, it } from 'vitest'
import { enroll, stranger } from '../harness/enrolled.js'
import { figure, LONG } from '../harness/figure.js'
import { type Answer, sharedService } from '../harness/service.js'
import { databaseOf } from '../servers/database.js'

const CODE = '749205'
const OTHER = '480653'
const ROUNDS = LONG ? 50 : 3
const TRIES = LONG ? 1_000 : 30

const service = await sharedService()
const database = databaseOf(service)

describe('ways in', { timeout: 600_000 }, () => {
  const call = (path: string, body: unknown, session?: string, headers: Record<string, string> = {}) =>
    service.call('POST', path, { body, session, headers })
  const begin = async (path: string): Promise<string> =>
    (await service.call('GET', path)).headers.get('x-service-session') ?? ''
  /** Number of recorded attempts of the locked member. */
  const recorded = async () => {
    const rows = await database.asSystem(
      (sql) => sql`
        select 1 from keystride.authentication
        where organization_id = ${service.organizationId} and 'locked' in (user_ref, member_ref)`,
    )
    return rows.length
  }

  it('are all closed to a locked member', async () => {
    const who = await enroll(service, 'locked')
    await service.call('PUT', '/users/locked/security-code', { session: who.session, body: { securityCode: CODE } })
    for (let closed = 0; closed < 2; ) {
      const session = await begin('/users/locked')
      const typing = (await call('/users/locked/verify', stranger(), session)).json
      const coded = (await call('/users/locked/verify', { securityCode: OTHER }, session)).json
      closed = [typing, coded].filter(({ action }) => action === 'refused').length
    }
    const before = await recorded()
    const ways: (() => Promise<Answer>)[] = [
      async () => call('/users/locked/verify', who.fresh(), await begin('/users/locked')),
      async () => call('/users/locked/verify', { securityCode: CODE }, await begin('/users/locked')),
      () => call('/user-verify/locked', who.fresh()),
      async () => call('/user-verify/locked', who.fresh(), await begin('/users/locked')),
      () => call('/user-verify/locked', { securityCode: CODE }),
      () => call('/user-verify/locked', who.fresh(), undefined, { 'x-enrollment': 'USER' }),
      () => call('/user-action/locked', { action: 'LINK_PATTERN', pattern: who.fresh() }),
      async () => {
        const { key = 'none' } = (await service.callLinks('POST', '/api/links/create-profile/locked')).json
        return service.callLinks('POST', '/typing-patterns', { body: who.fresh(), headers: { 'x-link-key': key } })
      },
    ]
    const answers: Answer[] = []
    for (let round = 0; round < ROUNDS; round++) for (const go of ways) answers.push(await go())
    // A person under a shared account is the same member by either name.
    const moved = await service.call('PATCH', '/users/locked', { body: { type: 'generic', member_ref: 'the-desk' } })
    expect(moved.status).toBe(200)
    const path = '/users/locked/verify?member_ref=the-desk'
    answers.push(await call(path, who.fresh(), await begin('/users/locked?member_ref=the-desk')))
    expect(answers.at(-1)?.json.action).toBe('refused')
    const isIn = ({ json }: Answer) => json.authentication?.authenticated || json.action === 'verified'
    const authenticated = answers.filter(isIn).length
    const judged = (await recorded()) - before
    const found = `${authenticated} of ${answers.length} tries over ${ways.length + 1} ways in, ${judged} judged`
    figure('T15', found, '0 and 0', authenticated + judged === 0)
  })

  it('add no reference to a complete profile without authentication', async () => {
    const who = await enroll(service, 'finished')
    const tested = (await call('/user-verify/finished', stranger())).json.authentication.patternTestId
    const session = await begin('/users/finished')
    const byId = { action: 'LINK_PATTERN_ID', patternId: tested }
    const ways: (() => Promise<Answer>)[] = [
      () => call('/users/finished/typing-patterns', who.fresh(), session),
      async () => call('/users/finished/typing-patterns', who.fresh(), await begin('/users/finished')),
      () => call('/user-action/finished', { action: 'LINK_PATTERN', pattern: who.fresh() }),
      () => call('/user-action/finished', { action: 'LINK_PATTERN', pattern: who.fresh() }, session),
      () => call('/user-action/finished', byId),
      () => call('/user-action/finished', byId, session),
    ]
    let refused = 0
    for (let n = 0; n < TRIES; n++) {
      const { status, json } = await (ways[n % ways.length] as () => Promise<Answer>)()
      if (status === 409 && json.reason === 'invalid-action') refused++
    }
    const stored = (await service.bootstrap('finished')).json.nPatternsRef - 5
    // Most calls must be refused as a second typist's, not for another reason.
    expect(refused).toBeGreaterThan(TRIES / 2)
    const found = `${stored} of ${TRIES.toLocaleString('en')} patterns stored without authentication`
    figure('T13', found, '0', stored === 0)
  })
})
