import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { connectPostgres, type Database } from '../../../../src/storage/postgres/connection/client.js'
import { freePort } from '../../../../src/storage/postgres/embedded/embedded-running.js'
import { until } from '../../../patience.js'
import { type FreshDatabase, freshDatabase } from '../../../servers/database.js'
import { organization } from '../../fixtures.js'

let fresh: FreshDatabase
let database: Database
let org: string
let lines: string[]
beforeEach(async () => {
  fresh = await freshDatabase()
  lines = []
  database = connectPostgres({ url: fresh.url, max: 2, log: (line) => lines.push(line) })
  org = await organization(database)
})
afterEach(async () => {
  await database.close()
  await fresh.drop()
})

describe('the database client', () => {
  it('refuses as degraded if no server listens', async () => {
    const nowhere = connectPostgres({ url: `postgres://a:b@127.0.0.1:${await freePort()}/c`, max: 2 })
    await expect(nowhere.ping()).rejects.toMatchObject({ kind: 'degraded' })
    await expect(nowhere.scoped(org, (sql) => sql`select 1`)).rejects.toMatchObject({ kind: 'degraded' })
    await nowhere.close()
  })

  it('ends a statement after a second, as degraded', async () => {
    const before = performance.now()
    await expect(database.scoped(org, (sql) => sql`select pg_sleep(60)`)).rejects.toMatchObject({ kind: 'degraded' })
    expect(performance.now() - before).toBeLessThan(10_000)
  })

  it('logs the server’s message behind a refusal, once a second', async () => {
    const broken = () => database.scoped(org, (sql) => sql`do $$ begin raise 'no' using errcode = '40P01'; end $$`)
    for (let i = 0; i < 5; i++) await expect(broken()).rejects.toMatchObject({ kind: 'degraded' })
    expect(lines).toEqual(['postgres: no (SQLSTATE 40P01)'])
  })

  // Regression: a rollback sent into the closed socket ended the process, and connections cut during a write hung forever.
  it('refuses as degraded whenever its connections are cut, and recovers by itself', async () => {
    const other = connectPostgres({ url: fresh.url, max: 2 })
    const cut = () =>
      other.call(
        (sql) => sql`
          select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`,
      )
    for (let round = 0; round < 10; round += 1) {
      const waiting = database.scoped(org, async (sql) => {
        await sql`select 1`
        await cut()
        return sql`select 1`
      })
      await expect(waiting).rejects.toMatchObject({ kind: 'degraded' })
      const busy = Array.from({ length: 100 }, () =>
        database.scoped(org, (sql) => sql`select name from keystride.organization`),
      )
      const settled = Promise.allSettled(busy)
      await cut()
      for (const one of await settled)
        if (one.status === 'rejected') expect(one.reason).toMatchObject({ kind: 'degraded' })
      expect(await database.scoped(org, (sql) => sql`select name from keystride.organization`)).toHaveLength(1)
    }
    await other.close()
  })

  it('writes nothing of a call that it refused as too slow', async () => {
    const slow = database.scoped(org, async (sql) => {
      await sql`update keystride.organization set name = 'changed'`
      for (let n = 0; n < 3; n++) await sql`select pg_sleep(0.5)`
    })
    await expect(slow).rejects.toMatchObject({ kind: 'degraded' })
    const locked = () => database.scoped(org, (sql) => sql`select name from keystride.organization for update nowait`)
    await until(async () => (await locked().catch(() => [])).length === 1)
    expect((await locked())[0]?.name).toBe('acme')
  })

  // No time-out of PostgreSQL 15 ends the connection: the statement counts as running.
  it('ends a connection that holds a lock and has a statement described and not executed, and no other', async () => {
    const rename = (name: string) =>
      database.scoped(org, (sql) => sql`update keystride.organization set name = ${name}`)
    const holding = await halfAsked('update keystride.organization set name = name')
    const reading = await halfAsked('select name from keystride.organization')
    try {
      await expect(rename('early')).rejects.toMatchObject({ kind: 'degraded' })
      await until(async () => (await rename('late').catch(() => null)) !== null)
      // The lock may be free a moment before the client sees that its connection has ended.
      await until(async () => holding.ended())
      expect(reading.ended()).toBe(false)
      expect(lines).toContain(
        'postgres: ended 1 connections whose client had described a statement and not executed it',
      )
    } finally {
      await Promise.all([holding.close(), reading.close()])
    }
  })

  it('cancels calls that wait for a lock, and lets a long statement wait', async () => {
    const wide = connectPostgres({ url: fresh.url, max: 5, log: (line) => lines.push(line) })
    const holder = new pg.Client(fresh.url)
    await holder.connect()
    await holder.query('begin; lock table keystride.organization in access exclusive mode')
    const waiting = async () =>
      (
        await holder.query(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        )
      ).rowCount
    const look = () => wide.call((sql) => sql`select count(*) from keystride.organization`)
    const long = wide.asSystem((sql) => sql`select count(*) from keystride.organization`, { statementMs: 20_000 })
    const all = await Promise.allSettled(Array.from({ length: 12 }, look))
    expect(all.map(({ status }) => status)).toEqual(all.map(() => 'rejected'))
    await until(async () => {
      await look().catch(() => {})
      return lines.some((line) => /^postgres: canceled \d+ statements that waited for a lock$/.test(line))
    })
    await until(async () => (await waiting()) === 1)
    await holder.query('rollback')
    await holder.end()
    expect(await long).toHaveLength(1)
    expect(await look()).toHaveLength(1)
    await wide.close()
  })

  it('gives a long statement its own limit, and never less than a usual statement', async () => {
    const limits = async (patience: number) => {
      const one = connectPostgres({ url: fresh.url, max: 2, patience })
      const limit = async (options: { statementMs?: number }) => {
        const [row] = await one.scoped(org, (sql) => sql`select current_setting('statement_timeout') as limit`, options)
        return row?.limit
      }
      const found = [await limit({}), await limit({ statementMs: 5000 }), await limit({ statementMs: 60_000 })]
      await one.close()
      return found
    }
    expect(await limits(1)).toEqual(['1s', '5s', '1min'])
    expect(await limits(10)).toEqual(['10s', '10s', '1min'])
  })

  it('fails its ping on a server that takes no writes', async () => {
    await database.ping()
    await database.call((sql) => sql`select set_config('default_transaction_read_only', 'on', false)`)
    await expect(database.ping()).rejects.toMatchObject({ kind: 'degraded' })
  })

  it('rethrows the error of a wrong statement', async () => {
    await expect(database.scoped(org, (sql) => sql`select nonsense`)).rejects.toMatchObject({ code: '42703' })
  })

  it('rolls back a transaction whose work fails', async () => {
    const failing = database.scoped(org, async (sql) => {
      await sql`update keystride.organization set name = 'changed'`
      throw new Error('on purpose')
    })
    await expect(failing).rejects.toThrow('on purpose')
    const [row] = await database.scoped(org, (sql) => sql`select name from keystride.organization`)
    expect(row?.name).toBe('acme')
  })
})

/** A process that ran `first` in a transaction and froze after its next statement was described. */
async function halfAsked(first: string) {
  const client = new pg.Client({ connectionString: fresh.url, application_name: 'keystride' })
  let ended = false
  client.on('error', () => {})
  client.on('end', () => {
    ended = true
  })
  await client.connect()
  await client.query('begin')
  await client.query(`set local role keystride_system`)
  await client.query(first)
  const { connection } = client as unknown as { connection: HalfAsking }
  connection.parse({ name: 'next', text: 'select $1::text', types: [] })
  connection.describe({ type: 'S', name: 'next' })
  connection.flush()
  return { ended: () => ended, close: () => client.end() }
}

interface HalfAsking {
  parse(statement: { name: string; text: string; types: number[] }): void
  describe(what: { type: 'S'; name: string }): void
  flush(): void
}
