import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { enroll, verifyOf } from '../harness/enrolled.js'
import { sharedService, startService, type TestService } from '../harness/service.js'
import { freshDatabase } from '../servers/database.js'
import { ownRows } from './own-rows.js'

describe.each(['pool', 'inline'])('a verify, scored by SCORING=%s', (scoring) => {
  let service: TestService
  beforeAll(async () => {
    service =
      scoring === 'pool'
        ? await sharedService()
        : await startService((await freshDatabase()).url, { more: { SCORING: scoring } })
  })
  afterAll(() => service.close())

  it.each([
    ['within the hour after the enrollment is of the same sitting', 50, 'same'],
    ['after an hour is of a later one', 61, 'later'],
  ] as const)('%s, also from the cache, and its trace reproduces it', async (_, minutes, sitting) => {
    const userRef = `${scoring}-${sitting}`
    const who = await enroll(service, userRef)
    await ownRows(service)(
      (sql) => sql`
        update keystride.member set completed_at = completed_at - ${`${minutes} minutes`}::interval
        where member_ref = ${userRef}`,
    )
    for (let n = 0; n < 3; n++) {
      const { json } = await verifyOf(service, userRef, who.fresh())
      const { data } = (await service.dashboard('GET', `/authentication/${json.authentication.id}/trace`)).json
      expect(data.reproduced).toBe(true)
      expect(data.trace.inputs.sitting).toBe(sitting)
      const { references, probe } = data.trace.inputs
      expect([references.length, probe.length > 0]).toEqual([5, true])
    }
  })
})
