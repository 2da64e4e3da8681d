import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectPostgres, type Database } from '../../src/storage/postgres/connection/client.js'
import { freshDatabase } from '../servers/database.js'
import { startService, type TestService } from '../service.js'
import { enroll } from './enrolled.js'

describe.each(['pool', 'inline'])('a verify, scored by SCORING=%s', (scoring) => {
  let service: TestService
  let database: Database
  beforeAll(async () => {
    const { url } = await freshDatabase()
    service = await startService(url, { more: { SCORING: scoring } })
    database = connectPostgres({ url, max: 2, patience: 10 })
  })
  afterAll(async () => {
    await service.close()
    await database.close()
  })

  const completedAgo = (userRef: string, minutes: number) =>
    database.asSystem(
      (sql) => sql`
        update keystride.member set completed_at = completed_at - ${`${minutes} minutes`}::interval
        where member_ref = ${userRef}`,
    )

  it.each([
    ['within the hour after the enrollment is of the same sitting', 50, 'same'],
    ['after an hour is of a later one', 61, 'later'],
  ] as const)('%s, also from the cache, and its trace reproduces it', async (_, minutes, sitting) => {
    const userRef = `${scoring}-${sitting}`
    const who = await enroll(service, userRef)
    await completedAgo(userRef, minutes)
    for (let n = 0; n < 3; n++) {
      const { session } = await service.bootstrap(userRef)
      const { json } = await service.call('POST', `/users/${userRef}/verify`, { session, body: who.fresh() })
      const { data } = (await service.dashboard('GET', `/authentication/${json.authentication.id}/trace`)).json
      expect(data.reproduced).toBe(true)
      expect(data.trace.inputs.sitting).toBe(sitting)
      const { references, probe } = data.trace.inputs
      expect([references.length, probe.length > 0]).toEqual([5, true])
    }
  })
})
