import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import { connectPostgres, type Database } from '../../src/storage/postgres/connection/client.js'
import { until } from '../harness/patience.js'

export interface FreshDatabase {
  readonly url: string
  drop(): Promise<void>
}

/** A new migrated database (a copy of the template), or an empty one with `empty`. */
export async function freshDatabase({ empty = false } = {}): Promise<FreshDatabase> {
  const name = `keystride_${process.pid}_${randomBytes(4).toString('hex')}`
  await administer(`create database ${name} ${empty ? '' : `template ${inject('templateDatabase')}`}`)
  const url = new URL(inject('databaseUrl'))
  url.pathname = `/${name}`
  return { url: url.href, drop: () => administer(`drop database if exists ${name} with (force)`) }
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
