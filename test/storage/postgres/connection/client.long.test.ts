import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { connectPostgres, type Database } from '../../../../src/storage/postgres/connection/client.js'
import { organization } from '../../../harness/fixtures.js'
import { until } from '../../../harness/patience.js'
import { freshDatabase } from '../../../servers/database.js'

// A database of its own: every pool ends connections and statements of others that hold locks.
const { url } = await freshDatabase()
let lines: string[] = []
const log = (line: string) => lines.push(line)
const patient = connectPostgres({ url, max: 2, patience: 10, log })
const DEGRADED = { kind: 'degraded' }

/** Limits of statements, calls and locks elapse on the clock of the server. */
describe('the database client', () => {
  let database: Database
  let org: string
  beforeEach(async () => {
    lines = []
    database = connectPostgres({ url, max: 2, log })
    org = await organization(patient)
  })
  afterEach(() => database.close())

  it('ends a statement after a second, as degraded', async () => {
    // Without its limit the statement would outlive the test.
    await expect(database.scoped(org, (sql) => sql`select pg_sleep(3600)`)).rejects.toMatchObject(DEGRADED)
  })

  // Regression: a rollback sent into the closed socket ended the process, and connections cut during a write hung forever.
  it('refuses as degraded whenever its connections are cut, and recovers by itself', async () => {
    const other = connectPostgres({ url, max: 2, patience: 10 })
    const cut = () =>
      other.call(
        (sql) => sql`
          select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`,
      )
    const read = () => database.scoped(org, (sql) => sql`select name from keystride.organization`)
    for (let round = 0; round < 10; round += 1) {
      const waiting = database.scoped(org, async (sql) => {
        await sql`select 1`
        await cut()
        return sql`select 1`
      })
      await expect(waiting).rejects.toMatchObject(DEGRADED)
      const settled = Promise.allSettled(Array.from({ length: 100 }, read))
      await cut()
      for (const one of await settled) if (one.status === 'rejected') expect(one.reason).toMatchObject(DEGRADED)
      await until(() => read().then(({ length }) => length === 1, refused))
    }
    await other.close()
  })

  it('writes nothing of a call that it refused as too slow', async () => {
    let isRefused = false
    const slow = database.scoped(org, async (sql) => {
      await sql`update keystride.organization set name = 'changed'`
      while (!isRefused) await sql`select pg_sleep(0.5)`
    })
    await expect(slow).rejects.toMatchObject(DEGRADED)
    isRefused = true
    const locked = () => patient.scoped(org, (sql) => sql`select name from keystride.organization for update nowait`)
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
      await expect(rename('early')).rejects.toMatchObject(DEGRADED)
      await until(() => rename('late').then(() => true, refused))
      // The lock may be free a moment before the client sees that its connection has ended.
      await until(() => holding.ended())
      // The line is written when the answer of the search arrives, which may be later still.
      await until(() =>
        lines.includes('postgres: ended 1 connections whose client had described a statement and not executed it'),
      )
      expect(reading.ended()).toBe(false)
    } finally {
      await Promise.all([holding.close(), reading.close()])
    }
  })

  it('cancels calls that wait for a lock, and lets a long statement wait', async () => {
    const wide = connectPostgres({ url, max: 5, log })
    const holder = new pg.Client(url)
    await holder.connect()
    await holder.query('begin; lock table keystride.organization in access exclusive mode')
    const look = () => wide.call((sql) => sql`select count(*) from keystride.organization`)
    const long = wide.asSystem((sql) => sql`select count(*) from keystride.organization`, { statementMs: 300_000 })
    const all = await Promise.allSettled(Array.from({ length: 12 }, look))
    expect(all.map(({ status }) => status)).toEqual(all.map(() => 'rejected'))
    await until(async () => {
      await look().catch(refused)
      return lines.some((line) => /^postgres: canceled \d+ statements that waited for a lock$/.test(line))
    })
    await until(async () => {
      const { rowCount } = await holder.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return rowCount === 1
    })
    await holder.query('rollback')
    await holder.end()
    expect(await long).toHaveLength(1)
    await until(() => look().then(({ length }) => length === 1, refused))
    await wide.close()
  })
})

const refused = (error: unknown) => {
  expect(error).toMatchObject(DEGRADED)
  return false
}

/** A process that ran `first` in a transaction and froze after its next statement was described. */
async function halfAsked(first: string) {
  const client = new pg.Client({ connectionString: url, application_name: 'keystride' })
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
