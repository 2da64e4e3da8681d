import { readFileSync } from 'node:fs'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SESSION_LIFETIME_MS } from '../src/flows/session/bootstrap.js'
import { KEPT_DAYS, REQUESTS_KEPT_MS } from '../src/jobs/retention.js'
import { type FreshDatabase, freshDatabase } from './servers/database.js'

const page = readFileSync(new URL('../docs/data-protection.md', import.meta.url), 'utf8')
const rows = (page.split('<!-- tables -->')[1]?.split('<!-- /tables -->')[0] ?? '')
  .trim()
  .split('\n')
  .slice(2)
  .map((line) => {
    const [, name = '', columns = '', protection = '', kept = '', atDeletion = ''] = line
      .split('|')
      .map((cell) => cell.trim())
    const named = (cell: string) => [...cell.matchAll(/`(\w+)`/g)].map(([, one = '']) => one)
    return { table: named(name)[0] ?? '', columns: named(columns), protection, kept, atDeletion }
  })

/** Types of ids, times and counters, which reveal nothing alone. Columns of other types must be on the page. */
const BARE = /^(uuid|timestamp with time zone|date|boolean|smallint|integer|bigint|double precision)$/
/** Columns that name the person of a row. */
const POINTERS = ['account_id', 'member_id', 'user_ref', 'person']

let fresh: FreshDatabase
let columns: readonly { table: string; name: string; type: string }[]
beforeAll(async () => {
  fresh = await freshDatabase()
  const sql = postgres(fresh.url, { max: 1 })
  columns = await sql<{ table: string; name: string; type: string }[]>`
    select c.relname as table, a.attname as name, format_type(a.atttypid, null) as type
    from pg_catalog.pg_class c join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = 'keystride'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`
  await sql.end()
})
afterAll(() => fresh.drop())
const columnsOf = (table: string) => columns.filter((column) => column.table === table)

describe('the page on data protection', () => {
  it('names every table of the database once, and no others', () => {
    expect(rows.map(({ table }) => table).sort()).toEqual([...new Set(columns.map(({ table }) => table))].sort())
  })

  it('names every column that is more than an id, a time or a counter, and no column that does not exist', () => {
    for (const { table, columns: named } of rows) {
      const all = columnsOf(table).map(({ name }) => name)
      const revealing = columnsOf(table).filter(({ type }) => !BARE.test(type))
      const unnamed = revealing.map(({ name }) => name).filter((name) => !named.includes(name))
      const unknown = named.filter((name) => !all.includes(name))
      expect({ table, unnamed, unknown }).toEqual({ table, unnamed: [], unknown: [] })
    }
  })

  it('says that rows about a person are deleted with the account, and secrets are sealed or hashed', () => {
    for (const { table, protection, atDeletion } of rows) {
      const own = columnsOf(table)
      if (own.some(({ name }) => POINTERS.includes(name)))
        expect(atDeletion, table).toMatch(/^(with the account|made by it)/)
      if (own.some(({ name, type }) => type === 'bytea' && name !== 'last_hash'))
        expect(protection, table).toMatch(/sealed|hashed|wrapped|hash|opens the pieces/)
    }
  })

  it('has the retention times of the service', () => {
    const keptOf = (name: string) => rows.find(({ table }) => table === name)?.kept
    for (const table of ['authentication', 'replay_mark', 'refused_pattern', 'admin_action', 'attempt_day'])
      expect(keptOf(table), table).toMatch(new RegExp(`^${KEPT_DAYS} days`))
    expect(keptOf('request_log')).toBe(`${REQUESTS_KEPT_MS / 86_400_000} days`)
    expect(keptOf('session')).toMatch(new RegExp(`^${SESSION_LIFETIME_MS / 60_000} minutes`))
  })
})
