import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { connectPostgres, type Database } from '../../src/storage/postgres/client.js'
import { freePort } from '../../src/storage/postgres/embedded-running.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'
import { organization, until } from './fixtures.js'

let fresh: FreshDatabase
let database: Database
let org: string
beforeEach(async () => {
  fresh = await freshDatabase()
  database = connectPostgres({ url: fresh.url, max: 2 })
  org = await organization(database)
})
afterEach(async () => {
  await database.close()
  await fresh.drop()
})

describe('the database client', () => {
  it('refuses as degraded where nothing listens', async () => {
    const nowhere = connectPostgres({ url: `postgres://a:b@127.0.0.1:${await freePort()}/c`, max: 1 })
    await expect(nowhere.ping()).rejects.toMatchObject({ kind: 'degraded' })
    await expect(nowhere.scoped(org, (sql) => sql`select 1`)).rejects.toMatchObject({ kind: 'degraded' })
    await nowhere.close()
  })

  it('cuts a statement off after a second, as degraded', async () => {
    const before = performance.now()
    await expect(database.scoped(org, (sql) => sql`select pg_sleep(60)`)).rejects.toMatchObject({ kind: 'degraded' })
    expect(performance.now() - before).toBeLessThan(2500)
  })

  it('refuses as degraded when its connections are cut, and serves again by itself', async () => {
    const hit = database.scoped(org, async (sql) => {
      await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()`
      return sql`select 1`
    })
    await expect(hit).rejects.toMatchObject({ kind: 'degraded' })
    await until(() =>
      database.ping().then(
        () => true,
        () => false,
      ),
    )
  })

  it('passes on what is a mistake of the statement', async () => {
    await expect(database.scoped(org, (sql) => sql`select nonsense`)).rejects.toMatchObject({ code: '42703' })
  })

  it('writes nothing of a transaction whose work fails', async () => {
    const failing = database.scoped(org, async (sql) => {
      await sql`update keystride.organization set name = 'changed'`
      throw new Error('on purpose')
    })
    await expect(failing).rejects.toThrow('on purpose')
    const [row] = await database.scoped(org, (sql) => sql`select name from keystride.organization`)
    expect(row?.name).toBe('acme')
  })
})
