import { expect, it } from 'vitest'
import { connectPostgres } from '../../../../src/storage/postgres/connection/client.js'
import { serversOf } from '../../../../src/storage/postgres/connection/primary.js'
import { freePort } from '../../../../src/storage/postgres/embedded/embedded-running.js'
import { organization } from '../../../harness/fixtures.js'
import { sharedDatabase } from '../../../servers/database.js'

const { url, database } = await sharedDatabase()
const org = await organization(database)

it('the database client refuses as degraded if no server listens', async () => {
  const nowhere = connectPostgres({ url: `postgres://a:b@127.0.0.1:${await freePort()}/c`, max: 2, patience: 0.1 })
  await expect(nowhere.ping()).rejects.toMatchObject({ kind: 'degraded' })
  await expect(nowhere.scoped(org, (sql) => sql`select 1`)).rejects.toMatchObject({ kind: 'degraded' })
  await nowhere.close()
})

it('the database client logs the server’s message behind a refusal', async () => {
  const lines: string[] = []
  const logging = connectPostgres({ url, max: 2, patience: 10, log: (line) => lines.push(line) })
  const broken = logging.scoped(org, (sql) => sql`do $$ begin raise 'no' using errcode = '40P01'; end $$`)
  await expect(broken).rejects.toMatchObject({ kind: 'degraded' })
  expect(lines).toEqual(['postgres: no (SQLSTATE 40P01)'])
  await logging.close()
})

it('the database client gives a long statement its own limit, and never less than a usual statement', async () => {
  const limits = async (patience: number) => {
    const one = connectPostgres({ url, max: 2, patience })
    const limit = async (options: { statementMs?: number }) => {
      const [row] = await one.scoped(org, (sql) => sql`select current_setting('statement_timeout') as limit`, options)
      return row?.limit
    }
    const found = [await limit({}), await limit({ statementMs: 50_000 }), await limit({ statementMs: 120_000 })]
    await one.close()
    return found
  }
  expect(await limits(10)).toEqual(['10s', '50s', '2min'])
  expect(await limits(60)).toEqual(['1min', '1min', '2min'])
})

it('the database client fails its ping on a server that takes no writes', async () => {
  const reading = connectPostgres({ url, max: 2, patience: 10 })
  await reading.ping()
  await reading.call((sql) => sql`select set_config('default_transaction_read_only', 'on', false)`)
  await expect(reading.ping()).rejects.toMatchObject({ kind: 'degraded' })
  await reading.close()
})

it('the database client rethrows the error of a wrong statement, and rolls back a transaction whose work fails', async () => {
  await expect(database.scoped(org, (sql) => sql`select nonsense`)).rejects.toMatchObject({ code: '42703' })
  const failing = database.scoped(org, async (sql) => {
    await sql`update keystride.organization set name = 'changed'`
    throw new Error('on purpose')
  })
  await expect(failing).rejects.toThrow('on purpose')
  const [row] = await database.scoped(org, (sql) => sql`select name from keystride.organization`)
  expect(row?.name).toBe('acme')
})

it('a connection string of one server is unchanged; several servers share user, password and settings', () => {
  const one = 'postgresql://ann:p%40ss@db.example/keystride?sslmode=require'
  expect(serversOf(one)).toEqual([one])
  const several =
    'postgres://ann:p%2Cs%40s@one:5432,two,[::1]:5433/keystride?target_session_attrs=read-write&sslmode=require&application_name=a%20b'
  expect(serversOf(several)).toEqual([
    'postgres://ann:p%2Cs%40s@one:5432/keystride?sslmode=require&application_name=a%20b',
    'postgres://ann:p%2Cs%40s@two/keystride?sslmode=require&application_name=a%20b',
    'postgres://ann:p%2Cs%40s@[::1]:5433/keystride?sslmode=require&application_name=a%20b',
  ])
})
