import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectPostgres, type Database } from '../../src/storage/postgres/connection/client.js'
import { enroll } from '../api/enrolled.js'
import { type FlushedRedis, redisIsHere, startFlushedRedis } from '../faults/flushed-redis.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'
import { startService, type TestService } from '../service.js'
import { figure, LONG } from './figure.js'
import { needlesOf } from './needles.js'
import { redisAsBytes, rowsAsText } from './stores-text.js'

const PEOPLE = LONG ? 1_000 : 15
/** People with a complete profile who sign in with it. */
const ENROLLED = LONG ? 100 : 2

describe('a deleted person', { timeout: 1_200_000 }, () => {
  let fresh: FreshDatabase
  let redis: FlushedRedis | null = null
  let service: TestService
  let database: Database
  beforeAll(async () => {
    fresh = await freshDatabase()
    redis = redisIsHere() ? await startFlushedRedis() : null
    service = await startService(fresh.url, { redisUrl: redis?.url ?? null })
    database = connectPostgres({ url: fresh.url, max: 2, patience: 10 })
  })
  afterAll(async () => {
    await database.close()
    await service.close()
    await redis?.stop()
    await fresh.drop()
  })

  /** The names of the needles that appear in a row of a table or in a key or value of Redis. */
  async function found(needles: ReadonlyMap<string, Buffer>): Promise<Set<string>> {
    const all = needlesOf(needles)
    const names = new Set<string>()
    const look = (bytes: Buffer, where: string) => {
      for (const name of all.foundIn(bytes)) names.add(`${name} in ${where}`)
    }
    for (const [table, rows] of await rowsAsText(database)) look(Buffer.from(rows.join('\n')), table)
    if (redis !== null)
      for (const [key, value] of await redisAsBytes(redis.url)) look(Buffer.concat([Buffer.from(key), value]), 'Redis')
    return names
  }

  it('leaves no trace in any store', async () => {
    const refs = Array.from({ length: PEOPLE }, (_, i) => `erased-${i}-x@example.com`)
    for (const [i, userRef] of refs.entries()) {
      const path = `/users/${userRef}`
      const who = i < ENROLLED ? await enroll(service, userRef) : null
      if (who === null) await service.call('POST', path, { body: { user_display_name: `label of ${userRef}` } })
      const { session } = await service.bootstrap(userRef)
      if (who !== null) await service.call('POST', `${path}/verify`, { session, body: who.fresh() })
      const made = await service.call('POST', `${path}/security-code`, { session })
      await service.call('POST', `${path}/verify`, {
        session,
        body: { securityCode: made.json.securityCode ?? '112358' },
      })
      await service.call('PATCH', path, { body: { groups: [`group of ${userRef}`], tag: { desk: userRef } } })
      await service.call('POST', `${path}/pending-action`, { body: { action: 'RESET_BIOMETRIC_PROFILE' } })
      await service.callLinks('POST', `/api/links/reset-profile/${userRef}`)
      await service.dashboard('POST', `${path}/actions`, { body: { action: 'lock' } })
    }
    const ids = await database.asSystem(
      (sql) => sql<{ ref: string; account: string; member: string }[]>`
        select a.user_ref as ref, a.id as account, m.id as member from keystride.account a
        join keystride.member m on m.organization_id = a.organization_id and m.account_id = a.id`,
    )
    const needles = new Map<string, Buffer>()
    for (const { ref, account, member } of ids) {
      needles.set(`ref ${ref}`, Buffer.from(ref))
      needles.set(`account ${ref}`, Buffer.from(account))
      needles.set(`member ${ref}`, Buffer.from(member))
    }
    expect(needles.size).toBe(3 * PEOPLE)
    // Before the deletion each person appears in several places.
    expect((await found(needles)).size).toBeGreaterThan(4 * PEOPLE)
    // A loaded machine may answer 503 and still have deleted the person.
    for (const userRef of refs)
      for (let status = 503; status === 503; ) {
        status = (await service.call('DELETE', `/users/${userRef}`)).status
        expect([200, 404, 503]).toContain(status)
      }
    const left = await found(needles)
    if (left.size > 0) console.log([...left].slice(0, 10).join('\n'))
    figure('T33', `${left.size} traces of ${PEOPLE.toLocaleString('en')} deleted people`, '0', left.size === 0)
  })
})
