import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SESSION_LIFETIME_MS } from '../src/flows/session/bootstrap.js'
import { KEPT_DAYS, REQUESTS_KEPT_MS } from '../src/jobs/retention.js'
import { type FreshDatabase, freshDatabase } from './servers/database.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const page = read('docs/data-protection.md')

interface Row {
  readonly table: string
  readonly columns: readonly string[]
  readonly protection: string
  readonly kept: string
  readonly atDeletion: string
}
const rows = (page.split('<!-- tables -->')[1]?.split('<!-- /tables -->')[0] ?? '')
  .trim()
  .split('\n')
  .slice(2)
  .map((line): Row => {
    const [, table = '', columns = '', protection = '', kept = '', atDeletion = ''] = line
      .split('|')
      .map((cell) => cell.trim())
    const named = (cell: string) => [...cell.matchAll(/`(\w+)`/g)].map(([, name = '']) => name)
    return { table: named(table)[0] ?? '', columns: named(columns), protection, kept, atDeletion }
  })
const rowOf = (table: string) => rows.find((row) => row.table === table)

/** Types of ids, times and counters, which reveal nothing alone. Columns of other types must be on the page. */
const BARE = [
  'uuid',
  'timestamp with time zone',
  'date',
  'boolean',
  'smallint',
  'integer',
  'bigint',
  'double precision',
]
/** Columns that name the person of a row. */
const POINTERS = ['account_id', 'member_id', 'user_ref', 'person']

let fresh: FreshDatabase
let columns: readonly { table: string; name: string; type: string }[]
let schemas: readonly string[]
beforeAll(async () => {
  fresh = await freshDatabase()
  const sql = postgres(fresh.url, { max: 1 })
  columns = await sql<{ table: string; name: string; type: string }[]>`
    select c.relname as table, a.attname as name, format_type(a.atttypid, null) as type
    from pg_catalog.pg_class c join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = 'keystride'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`
  const found = await sql<{ name: string }[]>`
    select distinct n.nspname as name from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p') and n.nspname not like 'pg\\_%' and n.nspname not in ('information_schema', 'keystride')`
  schemas = found.map(({ name }) => name).sort()
  await sql.end()
})
afterAll(() => fresh.drop())

describe('the page on data protection', () => {
  it('names every table of the database once, and no others', () => {
    expect(rows.map(({ table }) => table).sort()).toEqual([...new Set(columns.map(({ table }) => table))].sort())
    expect(schemas).toEqual(['keystride_history', 'pgboss'])
    for (const schema of schemas) expect(page).toContain(`\`${schema}\``)
  })

  it('names every column that is more than an id, a time or a counter, and no column that does not exist', () => {
    for (const { table, columns: named } of rows) {
      const there = columns.filter((column) => column.table === table)
      const revealing = there.filter(({ type }) => !BARE.includes(type)).map(({ name }) => name)
      expect(
        revealing.filter((name) => !named.includes(name)),
        `${table} lacks`,
      ).toEqual([])
      expect(
        named.filter((name) => !there.some((column) => column.name === name)),
        `${table} has no`,
      ).toEqual([])
    }
  })

  it('says how long each table keeps a row, and that rows about a person are deleted with the account', () => {
    const about = new Set(columns.filter(({ name }) => POINTERS.includes(name)).map(({ table }) => table))
    expect(about.size).toBeGreaterThan(8)
    for (const { table, protection, kept, atDeletion } of rows) {
      expect(protection, table).not.toBe('')
      expect(kept, table).toMatch(/\d+ (days|hours|minutes)|^until /)
      if (about.has(table)) expect(atDeletion, table).toMatch(/^(with the account|made by it)/)
    }
  })

  it('has the retention times of the service', () => {
    for (const table of [
      'authentication',
      'replay_mark',
      'refused_pattern',
      'admin_action',
      'attempt_count',
      'attempt_day',
    ])
      expect(rowOf(table)?.kept, table).toMatch(new RegExp(`^${KEPT_DAYS} days`))
    expect(rowOf('request_log')?.kept).toBe(`${REQUESTS_KEPT_MS / 86_400_000} days`)
    expect(rowOf('session')?.kept).toMatch(new RegExp(`^${SESSION_LIFETIME_MS / 60_000} minutes`))
  })

  it('says sealed or hashed for every table with stored bytes, and for no other', () => {
    for (const { table, protection } of rows) {
      const bytes = columns.filter((column) => column.table === table && column.type === 'bytea')
      const secrets = bytes.filter(({ name }) => name !== 'last_hash')
      if (secrets.length > 0) expect(protection, table).toMatch(/sealed|hashed|wrapped|hash|opens the pieces/)
      else if (table !== 'member') expect(protection, table).not.toMatch(/sealed|hashed/)
    }
  })

  it('has only error rates that are in docs/accuracy.md', () => {
    const measured = read('docs/accuracy.md')
    const rates = page.match(/\d+\.\d+ \[\d+\.\d+, \d+\.\d+\]/g) ?? []
    expect(rates).toHaveLength(15)
    expect(rates.filter((rate) => !measured.includes(rate))).toEqual([])
  })

  it('is linked from the README, like the security policy', () => {
    for (const link of ['SECURITY.md', 'docs/data-protection.md', 'docs/supply-chain.md'])
      expect(read('README.md')).toContain(`](${link})`)
    for (const [, file = ''] of read('SECURITY.md').matchAll(/\]\(([^)#]+)\)/g)) expect(read(file)).not.toBe('')
  })
})
