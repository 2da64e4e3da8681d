import { expect, it } from 'vitest'
import { figure, LONG } from '../harness/figure.js'
import { until } from '../harness/patience.js'
import { sharedService, type TestService } from '../harness/service.js'
import { databaseOf } from '../servers/database.js'

const ORGANIZATIONS = LONG ? 100 : 2
const MEMBERS = LONG ? 50 : 8
const GUESSES = 3
/** A code that the attacker takes for a common one. */
const SPRAYED = '480653'

const database = databaseOf(await sharedService())

/** Sessions of members, each with a code that no guess matches. */
async function sprayable(service: TestService): Promise<Map<string, string>> {
  const sessions = new Map<string, string>()
  for (let n = 0; n < MEMBERS; n++) {
    const userRef = `member-${n}`
    // A service whose stores are late for a moment answers 503.
    await until(async () => {
      await service.call('POST', `/users/${userRef}`)
      const { status, session } = await service.bootstrap(userRef)
      sessions.set(userRef, session)
      return status === 200
    })
  }
  const body = { securityCode: '749205' }
  const set = await service.call('PUT', '/users/member-0/security-code', { session: sessions.get('member-0'), body })
  expect(set.status, JSON.stringify(set.json)).toBe(200)
  // A hash is bound to its member, so a copied hash matches no code.
  await database.asSystem(
    (sql) => sql`
      update keystride.member m set code_hash = o.code_hash from keystride.member o
      where m.organization_id = ${service.organizationId} and o.organization_id = m.organization_id
        and o.member_ref = 'member-0'`,
  )
  return sessions
}

/** Guesses one code at every member, round by round, and waits for the alert. Returns the codes compared of each member. */
async function spray(service: TestService): Promise<number[]> {
  const sessions = await sprayable(service)
  const compared = new Map<string, number>()
  for (let round = 0; round < GUESSES + 1; round++)
    for (const [userRef, session] of sessions) {
      const options = { session, body: { securityCode: SPRAYED } }
      const { json } = await service.call('POST', `/users/${userRef}/verify`, options)
      if (json.action === 'rejected') compared.set(userRef, (compared.get(userRef) ?? 0) + 1)
    }
  await until(async () => {
    const { json } = await service.dashboard('GET', '/notifications?limit=500', { apikey: service.apikey })
    return json.data.some(
      ({ kind, user_ref }: Record<string, unknown>) => kind === 'security-code-locked' && user_ref === null,
    )
  })
  return [...compared.values()]
}

it('one code tried on many users alerts the organization, and no member exceeds its own budget', async () => {
  const counts: number[] = []
  // Five run at once, because each waits for its own alert.
  for (let n = 0; n < ORGANIZATIONS; n += 5) {
    const services = Array.from({ length: Math.min(5, ORGANIZATIONS - n) }, () => sharedService())
    counts.push(...(await Promise.all((await Promise.all(services)).map(spray))).flat())
  }
  const most = Math.max(...counts)
  expect(counts.length).toBe(ORGANIZATIONS * MEMBERS)
  figure(
    'T09',
    `an alert in ${ORGANIZATIONS} of ${ORGANIZATIONS} runs, at most ${most} codes compared of a member (bar ${GUESSES})`,
    'all, 3',
    most <= GUESSES,
  )
}, 1_800_000)
