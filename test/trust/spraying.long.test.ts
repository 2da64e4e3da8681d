import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectPostgres, type Database } from '../../src/storage/postgres/connection/client.js'
import { until } from '../patience.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'
import { startService, type TestService } from '../service.js'
import { figure, LONG } from './figure.js'

const ORGANIZATIONS = LONG ? 100 : 2
const MEMBERS = LONG ? 50 : 8
const GUESSES = 3
const ALERT_WITHIN_MS = 60_000
/** A code that the attacker takes for a common one. */
const SPRAYED = '480653'

let fresh: FreshDatabase
let service: TestService
let database: Database
beforeAll(async () => {
  fresh = await freshDatabase()
  service = await startService(fresh.url)
  database = connectPostgres({ url: fresh.url, max: 2, patience: 10 })
})
afterAll(async () => {
  await service.close()
  await database.close()
  await fresh.drop()
})

interface Sprayed {
  readonly organizationId: string
  readonly apikey: string
  readonly sessions: readonly { userRef: string; session: string }[]
}

/** An organization in which each member has a code that no guess matches. */
async function sprayable(): Promise<Sprayed> {
  const { organizationId, apikey } = await service.another()
  const headers = { apikey }
  const sessions: { userRef: string; session: string }[] = []
  for (let n = 0; n < MEMBERS; n++) {
    const userRef = `member-${n}`
    await service.call('POST', `/users/${userRef}`, { headers })
    const { json } = await service.call('GET', `/users/${userRef}`, { headers })
    sessions.push({ userRef, session: json.sessionId })
    if (n > 0) continue
    const body = { securityCode: '749205' }
    const set = await service.call('PUT', `/users/${userRef}/security-code`, { headers, session: json.sessionId, body })
    expect(set.status).toBe(200)
  }
  // A hash is bound to its member, so a copied hash matches no code.
  await database.asSystem(
    (sql) => sql`
      update keystride.member m set code_hash = o.code_hash from keystride.member o
      where m.organization_id = ${organizationId} and o.organization_id = m.organization_id and o.member_ref = 'member-0'`,
  )
  return { organizationId, apikey, sessions }
}

/**
 * Guesses one code at every member, round by round. Returns the time from the moment the alert was due until it was
 * there, ms.
 */
async function spray({ apikey, sessions }: Sprayed): Promise<{ tookMs: number; compared: number; most: number }> {
  const compared = new Map<string, number>()
  let dueAt = 0
  for (let round = 0; round < GUESSES + 1; round++) {
    for (const { userRef, session } of sessions) {
      const options = { headers: { apikey }, session, body: { securityCode: SPRAYED } }
      const { json } = await service.call('POST', `/users/${userRef}/verify`, options)
      if (json.action === 'rejected') compared.set(userRef, (compared.get(userRef) ?? 0) + 1)
      if (dueAt === 0 && compared.size >= 3) dueAt = performance.now()
    }
  }
  let alertAt = 0
  await until(async () => {
    const { json } = await service.dashboard('GET', '/notifications?limit=500', { apikey })
    const alerted = json.data.some(
      ({ kind, user_ref }: { kind: string; user_ref: string | null }) =>
        kind === 'security-code-locked' && user_ref === null,
    )
    if (alerted) alertAt = performance.now()
    return alerted
  })
  const counts = [...compared.values()]
  return { tookMs: alertAt - dueAt, compared: counts.reduce((sum, n) => sum + n, 0), most: Math.max(...counts) }
}

describe('one code tried on many users', { timeout: LONG ? 1_800_000 : 90_000 }, () => {
  it('alerts the organization within a minute, and no member exceeds its own budget', async () => {
    const found: Awaited<ReturnType<typeof spray>>[] = []
    const organizations: Sprayed[] = []
    for (let n = 0; n < ORGANIZATIONS; n++) organizations.push(await sprayable())
    // Five at once, because each waits for its own alert.
    for (let n = 0; n < organizations.length; n += 5)
      found.push(...(await Promise.all(organizations.slice(n, n + 5).map(spray))))
    const inTime = found.filter(({ tookMs }) => tookMs <= ALERT_WITHIN_MS).length
    const most = Math.max(...found.map((one) => one.most))
    figure('T09', `alert within 60 s in ${inTime} of ${ORGANIZATIONS} runs`, 'all', inTime === ORGANIZATIONS)
    figure('T09', `${most} codes compared of one member at the most`, '3', most <= 3)
    expect(found.reduce((sum, one) => sum + one.compared, 0)).toBeGreaterThan(ORGANIZATIONS * MEMBERS)
  })
})
