import { expect, it } from 'vitest'
import { openSql } from '../../../../src/storage/postgres/connection/sql.js'
import { withClient } from '../../../../src/storage/postgres/connection/with-client.js'
import { freshDatabase } from '../../../servers/database.js'

const ended = async (url: string, pid: unknown) =>
  withClient(url, (other) => other.query('select pg_terminate_backend($1, 60000)', [pid]))

it('a connection apart from the pools is lost with its transaction, where the driver of the pools would go on in another session', async () => {
  const { url, drop } = await freshDatabase({ empty: true })
  const rows = () => withClient(url, async (other) => (await other.query('select n from noted order by n')).rows)
  await withClient(url, (other) => other.query('create table noted (n int)'))

  const apart = withClient(url, async (client) => {
    await client.query('begin; insert into noted values (1)')
    const found = await client.query('select pg_backend_pid() as pid')
    await ended(url, found.rows[0]?.pid)
    await client.query('insert into noted values (2)').finally(() => client.query('commit'))
  })
  await expect(apart).rejects.toThrow()
  expect(await rows()).toEqual([])

  // This is the reason for a second driver: if a new version no longer does it, one driver may be enough.
  const sql = openSql(url, { connectS: 20, log: () => {}, prepare: undefined, pooled: false })
  await sql.unsafe('begin; insert into noted values (3)')
  const [row] = await sql.unsafe<{ pid: number }[]>('select pg_backend_pid() as pid')
  await ended(url, row?.pid)
  await sql.unsafe('insert into noted values (4)').catch(() => sql.unsafe('insert into noted values (4)'))
  expect(await rows()).toEqual([{ n: 4 }])
  await sql.end()
  await drop()
})
