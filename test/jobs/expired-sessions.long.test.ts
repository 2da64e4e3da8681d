import { expect, it } from 'vitest'
import { postgresSessions } from '../../src/storage/postgres/attempt/session.js'
import { sha256Hex } from '../harness/fixtures.js'
import { until } from '../harness/patience.js'
import { sharedService } from '../harness/service.js'
import { databaseOf } from '../servers/database.js'

// The service runs its jobs by itself. Other tests call each job directly, without this wait.
it('the jobs of the service delete expired sessions', async () => {
  const service = await sharedService()
  const { organizationId } = service
  const database = databaseOf(service)
  for (const lifetimeMs of [-1000, 900_000]) {
    const session = { sha256: sha256Hex(), userRef: `user${lifetimeMs}`, memberRef: null, lifetimeMs }
    await postgresSessions(database).mint(organizationId, session)
  }
  const stored = () => database.scoped(organizationId, (sql) => sql`select user_ref from keystride.session`)
  await until(async () => (await stored()).length === 1)
  expect([...(await stored())]).toEqual([{ user_ref: 'user900000' }])
})
