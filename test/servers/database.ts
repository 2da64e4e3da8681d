import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, inject } from 'vitest'
import { connectPostgres, type Database } from '../../src/storage/postgres/connection/client.js'
import { until } from '../harness/patience.js'

export interface FreshDatabase {
  readonly url: string
  drop(): Promise<void>
}

/** Settings of a database that differ from PostgreSQL's in everything that a session can notice. */
export const HOSTILE_SETTINGS = {
  TimeZone: 'Europe/Paris',
  DateStyle: 'German, DMY',
  IntervalStyle: 'sql_standard',
  bytea_output: 'escape',
  extra_float_digits: '-15',
  array_nulls: 'off',
  standard_conforming_strings: 'off',
  escape_string_warning: 'off',
  client_encoding: 'LATIN1',
  default_transaction_isolation: 'serializable',
  default_transaction_deferrable: 'on',
  row_security: 'off',
  gin_fuzzy_search_limit: '1',
  search_path: 'nowhere',
  transform_null_equals: 'on',
  quote_all_identifiers: 'on',
  xmloption: 'document',
  lc_numeric: 'C.UTF-8',
}

interface FreshOptions {
  /** Whether the database has no schema. */
  readonly empty?: boolean
  /** Settings of every session that does not ask for others. */
  readonly settings?: Readonly<Record<string, string>>
}

/** A new migrated database (a copy of the template), or an empty one with `empty`. */
export async function freshDatabase({ empty = false, settings = {} }: FreshOptions = {}): Promise<FreshDatabase> {
  const name = `keystride_${process.pid}_${randomBytes(4).toString('hex')}`
  await administer(`create database ${name} ${empty ? '' : `template ${inject('templateDatabase')}`}`)
  for (const [setting, value] of Object.entries(settings))
    await administer(`alter database ${name} set ${setting} = ${setting === 'DateStyle' ? value : `'${value}'`}`)
  const url = new URL(inject('databaseUrl'))
  url.pathname = `/${name}`
  return { url: url.href, drop: () => administer(`drop database if exists ${name} with (force)`) }
}

/** A database of a file's or a block's own with patient connections, which both end with it. */
export async function ownDatabase(max = 2, options: FreshOptions = {}) {
  const { url, drop } = await freshDatabase(options)
  const database = connectPostgres({ url, max, patience: 10 })
  afterAll(async () => {
    await database.close()
    await drop()
  })
  return { url, database }
}

const pools = new Map<string, Database>()

/** Patient connections to the database of a service. All callers of a worker share them, and they stay open. */
export function databaseOf({ env }: { readonly env: Readonly<Record<string, string>> }): Database {
  const url = env.DATABASE_URL ?? ''
  const pool = pools.get(url) ?? connectPostgres({ url, max: 2, patience: 10 })
  pools.set(url, pool)
  return pool
}

let shared: Promise<{ readonly url: string; readonly database: Database }> | undefined

/**
 * A migrated database that all files of a worker share, with patient connections that stay open. Its tests work in
 * organizations of their own. A test that changes the schema, counts rows of all organizations or runs jobs over all of them
 * calls `freshDatabase`.
 */
export function sharedDatabase() {
  shared ??= freshDatabase().then(({ url }) => ({ url, database: connectPostgres({ url, max: 12, patience: 10 }) }))
  return shared
}

/** Transient errors: another run copies the template, or autovacuum works in the database that is dropped. */
const PASSING = ['55006', '42501']

/** Runs a statement, after those of other workers, because a copy refuses a template in use. Repeats it after a transient error. */
async function administer(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: inject('databaseUrl') })
  await client.connect()
  const isDone = () =>
    client.query(statement).then(
      () => true,
      (error: { code?: string }) => {
        if (!PASSING.includes(error.code ?? '')) throw error
        return false
      },
    )
  try {
    await client.query('select pg_advisory_lock(1)')
    await until(isDone)
  } finally {
    await client.end()
  }
}
