import { createClient } from '@redis/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectPostgres, type Database } from '../../src/storage/postgres/connection/client.js'
import { freshDatabase } from '../servers/database.js'
import { redisUrl, startService, type TestService } from '../service.js'
import { enroll } from './enrolled.js'

describe('erasure', () => {
  let service: TestService
  let database: Database
  beforeAll(async () => {
    const { url } = await freshDatabase()
    service = await startService(url)
    database = connectPostgres({ url, max: 2, patience: 10 })
  })
  afterAll(async () => {
    await database.close()
    await service.close()
  })

  /** All tables, keys and values of PostgreSQL and Redis that contain a text. */
  async function places(text: string): Promise<string[]> {
    const found = await database.asSystem(async (sql) => {
      const tables = await sql<{ name: string }[]>`
        select c.relname as name from pg_catalog.pg_class c
        where c.relnamespace = 'keystride'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`
      const rows: string[] = []
      for (const { name } of tables) {
        const hits = await sql`select 1 from keystride.${sql(name)} t where t::text ilike ${`%${text}%`}`
        if (hits.length > 0) rows.push(name)
      }
      return rows
    })
    return redisUrl === null ? found : [...found, ...(await redisPlaces(redisUrl, text))]
  }

  it('of an account leaves nothing that names it, in any store', async () => {
    const who = await enroll(service, 'canary-4711@example.com')
    const path = '/users/canary-4711@example.com'
    await service.call('PUT', `${path}/security-code`, { session: who.session, body: { securityCode: '749205' } })
    for (let i = 0; i < 2; i++)
      await service.call('POST', `${path}/verify`, { session: who.session, body: who.fresh() })
    await service.call('POST', `${path}/verify`, { session: who.session, body: { securityCode: '112358' } })
    expect((await places('canary-4711')).length).toBeGreaterThanOrEqual(3)
    const [ids] = await database.asSystem(
      (sql) => sql<{ account: string; member: string }[]>`
        select a.id as account, m.id as member from keystride.account a
        join keystride.member m on m.organization_id = a.organization_id and m.account_id = a.id
        where a.user_ref = 'canary-4711@example.com'`,
    )
    const pointers = [ids?.account ?? 'none', ids?.member ?? 'none']
    for (const id of pointers) expect((await places(id)).length).toBeGreaterThanOrEqual(3)
    await service.call('DELETE', path)
    for (const text of ['canary-4711', ...pointers]) expect(await places(text)).toEqual([])
  })

  it('of a member leaves only the record of sign-ins and the archived reference', async () => {
    for (const member_ref of ['ann', 'canary-member'])
      await service.call('POST', '/users/desk', {
        body: { type: 'generic', member_ref, user_display_name: `label of ${member_ref}` },
      })
    const { sessionId: session } = (await service.call('GET', '/users/desk?member_ref=canary-member')).json
    await service.call('PUT', '/users/desk/security-code', { session, body: { securityCode: '749205' } })
    const { sessionId: live } = (await service.call('GET', '/users/desk?member_ref=canary-member')).json
    await service.call('POST', '/users/desk/verify', { session: live, body: { securityCode: '749205' } })
    await service.call('DELETE', '/users/desk?member_ref=canary-member')
    expect((await places('canary-member')).sort()).toEqual(['authentication', 'member'])
    expect(await places('label of canary-member')).toEqual([])
    expect(await places('argon2id')).toEqual([])
  })
})

async function redisPlaces(url: string, text: string): Promise<string[]> {
  const client = await createClient({ url }).connect()
  const found: string[] = []
  for await (const keys of client.scanIterator({ COUNT: 1000 })) {
    for (const key of keys) if (key.includes(text) || (await client.dump(key))?.includes(text)) found.push(key)
  }
  client.destroy()
  return found
}
