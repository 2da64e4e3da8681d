import { describe, expect, it } from 'vitest'
import { enroll } from '../harness/enrolled.js'
import { figure, LONG } from '../harness/figure.js'
import { redisUrl, sharedService } from '../harness/service.js'
import { databaseOf } from '../servers/database.js'
import { needlesOf } from './needles.js'
import { redisAsBytes, rowsAsText } from './stores-text.js'

const PEOPLE = LONG ? 1_000 : 15
/** People with a complete profile who sign in with it. */
const ENROLLED = LONG ? 100 : 2

const service = await sharedService()
const database = databaseOf(service)

describe('a deleted person', { timeout: 1_200_000 }, () => {
  /** The names of the needles that appear in a row of a table or in a key or value of Redis. */
  async function found(needles: ReadonlyMap<string, Buffer>): Promise<Set<string>> {
    const all = needlesOf(needles)
    const texts = [...(await rowsAsText(database))].map(
      ([table, rows]) => [table, Buffer.from(rows.join('\n'))] as const,
    )
    const values = redisUrl === null ? [] : [...(await redisAsBytes(redisUrl))]
    const places = [
      ...texts,
      ...values.map(([key, value]) => ['Redis', Buffer.concat([Buffer.from(key), value])] as const),
    ]
    return new Set(places.flatMap(([where, bytes]) => [...all.foundIn(bytes)].map((name) => `${name} in ${where}`)))
  }

  it('leaves no trace in any store', async () => {
    const refs = Array.from({ length: PEOPLE }, (_, n) => `erased-${n}-x@example.com`)
    for (const [n, userRef] of refs.entries()) {
      const path = `/users/${userRef}`
      const who = n < ENROLLED ? await enroll(service, userRef) : null
      if (who === null) await service.call('POST', path, { body: { user_display_name: `label of ${userRef}` } })
      const { session } = await service.bootstrap(userRef)
      if (who !== null) await service.call('POST', `${path}/verify`, { session, body: who.fresh() })
      const made = await service.call('POST', `${path}/security-code`, { session })
      const securityCode = made.json.securityCode ?? '112358'
      await service.call('POST', `${path}/verify`, { session, body: { securityCode } })
      await service.call('PATCH', path, { body: { groups: [`group of ${userRef}`], tag: { desk: userRef } } })
      await service.call('POST', `${path}/pending-action`, { body: { action: 'RESET_BIOMETRIC_PROFILE' } })
      await service.callLinks('POST', `/api/links/reset-profile/${userRef}`)
      await service.dashboard('POST', `${path}/actions`, { apikey: service.apikey, body: { action: 'lock' } })
    }
    const ids = await database.asSystem(
      (sql) => sql<{ ref: string; account: string; member: string }[]>`
        select a.user_ref as ref, a.id as account, m.id as member from keystride.account a
        join keystride.member m on m.organization_id = a.organization_id and m.account_id = a.id
        where a.organization_id = ${service.organizationId}`,
    )
    const needles = new Map<string, Buffer>()
    for (const { ref, ...pointers } of ids)
      for (const [name, text] of Object.entries({ ref, ...pointers })) needles.set(`${name} ${ref}`, Buffer.from(text))
    expect(needles.size).toBe(3 * PEOPLE)
    // Before the deletion each person appears in several places.
    expect((await found(needles)).size).toBeGreaterThan(4 * PEOPLE)
    for (const userRef of refs) expect((await service.call('DELETE', `/users/${userRef}`)).status).toBe(200)
    const left = await found(needles)
    if (left.size > 0) console.log([...left].slice(0, 10).join('\n'))
    figure('T33', `${left.size} traces of ${PEOPLE.toLocaleString('en')} people`, '0', left.size === 0)
  })
})
