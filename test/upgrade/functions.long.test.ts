import pg from 'pg'
import { expect, it } from 'vitest'
import { freshDatabase } from '../servers/database.js'
import { callables, lost } from './functions.js'

it('a function is lost if it is gone, takes another type or one more value, or gives another result; a default is no loss', async () => {
  const fresh = await freshDatabase({ empty: true })
  const client = new pg.Client({ connectionString: fresh.url })
  await client.connect()
  const define = (...functions: string[]) =>
    client.query(
      `drop schema if exists keystride cascade; create schema keystride;${functions
        .map((one) => `create function keystride.${one} language sql as 'select 1'`)
        .join(';')}`,
    )
  await define('counts(a int) returns int')
  const before = await callables(client)
  const lostBy = async (...functions: string[]) => {
    await define(...functions)
    return lost(before, await callables(client)).map(({ name }) => name)
  }
  expect(await lostBy('others(a int) returns int')).toEqual(['counts'])
  expect(await lostBy('counts(a bigint) returns int')).toEqual(['counts'])
  expect(await lostBy('counts(a int, b int) returns int')).toEqual(['counts'])
  expect(await lostBy('counts(a int) returns bigint')).toEqual(['counts'])
  expect(await lostBy('counts(a int, b int default 1) returns int')).toEqual([])
  expect(await lostBy('counts(a int) returns int', 'counts(a int, b int) returns int')).toEqual([])
  await client.end()
  await fresh.drop()
})
