import { createClient } from '@redis/client'
import type { Database } from '../../src/storage/postgres/connection/client.js'

/** The rows of every table of the database as text, by table, in all schemas. */
export async function rowsAsText(database: Database): Promise<ReadonlyMap<string, readonly string[]>> {
  return database.asSystem(async (sql) => {
    const tables = await sql<{ schema: string; name: string }[]>`
      select n.nspname as schema, c.relname as name from pg_catalog.pg_class c
      join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'p') and not c.relispartition and n.nspname not in ('pg_catalog', 'information_schema')
        and has_table_privilege(c.oid, 'select')`
    const found = new Map<string, readonly string[]>()
    for (const { schema, name } of tables) {
      const rows = await sql<{ text: string }[]>`select t::text as text from ${sql(schema)}.${sql(name)} t`
      found.set(
        `${schema}.${name}`,
        rows.map(({ text }) => text),
      )
    }
    return found
  })
}

/** Every key of Redis with its value as `dump` returns it. */
export async function redisAsBytes(url: string): Promise<ReadonlyMap<string, Buffer>> {
  const client = await createClient({ url }).connect()
  const found = new Map<string, Buffer>()
  for await (const keys of client.scanIterator({ COUNT: 1000 }))
    for (const key of keys) found.set(key, Buffer.from((await client.dump(key)) ?? '', 'latin1'))
  client.destroy()
  return found
}
