import { expect, it } from 'vitest'
import { postgresSessions } from '../../src/storage/postgres/attempt/session.js'
import { connectPostgres } from '../../src/storage/postgres/connection/client.js'
import { freshDatabase } from '../servers/database.js'
import { startService } from '../service.js'
import { organization, sha256Hex } from '../storage/fixtures.js'

it('the jobs of the service delete expired sessions', async () => {
  const fresh = await freshDatabase()
  const database = connectPostgres({ url: fresh.url, max: 2, patience: 10 })
  const org = await organization(database)
  for (const [userRef, lifetimeMs] of [
    ['ada', -1000],
    ['bo', 900_000],
  ] as const)
    await postgresSessions(database).mint(org, { sha256: sha256Hex(), userRef, memberRef: null, lifetimeMs })
  const service = await startService(fresh.url)
  const stored = async () => {
    const rows = await database.scoped(
      org,
      (sql) => sql<{ user_ref: string }[]>`select user_ref from keystride.session`,
    )
    return rows.map(({ user_ref }) => user_ref)
  }
  await expect.poll(stored, { timeout: 10_000 }).toEqual(['bo'])
  await service.close()
  await database.close()
  await fresh.drop()
})
