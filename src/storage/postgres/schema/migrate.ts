import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { ExpectedFault } from '../../../domain/expected-fault.js'
import { migrateJobQueue, requireJobQueue } from '../insight/job-queue.js'
import { ensureBackupRole } from './backup-role.js'
import { ensureRoles } from './roles.js'

/** Months of authentications that have their partition before they begin. */
const MONTHS_AHEAD = 3

/**
 * Brings the database to this version's schema and returns the names of the migrations it applied, none when it was
 * there already. Safe to run twice and by several processes at once: they wait for one another, by a lock that ends with
 * its transaction, so that PgBouncer may stand between. Throws a plain sentence where the login may not do what is needed.
 */
export async function migrate(databaseUrl: string, log: (line: string) => void = () => {}): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 5000 })
  client.on('error', () => {}) // a lost connection rejects the statement under way; unheard, it would end the process
  await client.connect()
  try {
    await ensureRoles(client)
    const applied = await applyMissing(client)
    await client.query('begin')
    await client.query('set local role keystride_system')
    await client.query('select keystride.ensure_partitions($1)', [MONTHS_AHEAD])
    await client.query('commit')
    await client.query('begin')
    await client.query('select pg_advisory_xact_lock(7241865325823966)')
    await migrateJobQueue((text, values) => client.query(text, values === undefined ? undefined : [...values]))
    await client.query('commit')
    await ensureBackupRole(client)
    if (applied.length > 0) log(`applied ${applied.length} migrations, up to ${applied.at(-1)}`)
    return applied
  } finally {
    await client.end()
  }
}

/**
 * Throws a sentence where the database is not at this version's schema: it says which version was found, which one is
 * wanted and what to run. Changes nothing. `newer` true accepts a newer schema, which an older process may serve during a
 * rolling update.
 */
export async function requireSchema(databaseUrl: string, { newer }: { newer: boolean }): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 5000 })
  client.on('error', () => {}) // as above
  await client.connect()
  try {
    const known = knownMigrations()
    const wanted = known.at(-1)
    const made = await client.query("select 1 where to_regclass('keystride_history.migration') is not null")
    const found = made.rows.length === 0 ? [] : await history(client)
    const last = found.at(-1)
    if (last === undefined)
      throw new ExpectedFault(
        `the database has no schema of Keystride, wanted is ${wanted}: run "keystride migrate" first`,
      )
    const missing = missingFrom(found, known)
    if (missing.length > 0)
      throw new ExpectedFault(`the database's schema is at ${last}, wanted is ${wanted}: run "keystride migrate" first`)
    if (found.length > known.length && !newer)
      throw new ExpectedFault(
        `the database's schema is at ${last}, newer than the wanted ${wanted}: use the version of Keystride that made it`,
      )
    // A newer schema may have newer queues.
    if (found.length === known.length)
      await requireJobQueue((text, values) => client.query(text, values === undefined ? undefined : [...values]))
  } finally {
    await client.end()
  }
}

/** Applies the first migrations, that many, to an empty database; leaves the job queue out. */
export async function migrateEmpty(client: pg.Client, migrations: number): Promise<void> {
  await applyMissing(client, knownMigrations().slice(0, migrations))
}

/** The migrations of the database, and those of this version. Throws, with `name` for the database, where they differ or it is newer. */
export async function versionOf(client: pg.Client, name: string): Promise<{ found: string[]; known: string[] }> {
  const [found, known] = [await history(client), knownMigrations()]
  missingFrom(found, known, name)
  if (found.length > known.length)
    throw new ExpectedFault(
      `${name} is at ${found.at(-1)}, newer than ${known.at(-1)}: use the version of Keystride that made it`,
    )
  return { found, known }
}

/**
 * Applies what the history lacks, all in one transaction, and returns the names. Migrations of a newer version after the
 * last one known here are left alone: an older process may start beside it. Throws where one is missing in between.
 */
async function applyMissing(client: pg.Client, wanted = knownMigrations()): Promise<string[]> {
  await client.query('begin')
  await client.query('select pg_advisory_xact_lock(7241865325823964)')
  // Apart from the data: every table in `keystride` is closed by row level security, this one must be read by its owner.
  await client.query('create schema if not exists keystride_history')
  await client.query(`create table if not exists keystride_history.migration (
    id serial primary key, name varchar(255) not null, run_on timestamp not null)`)
  const missing = missingFrom(await history(client), wanted)
  for (const name of missing) {
    await client.query(readFileSync(path.join(migrationsFolder(), `${name}.sql`), 'utf8'))
    await client.query('insert into keystride_history.migration (name, run_on) values ($1, now())', [name])
  }
  await client.query('commit')
  return missing
}

const migrationsFolder = (): string => path.join(packageRoot(), 'src/storage/postgres/migrations')

/** Names of this version's migrations, oldest first; the last one is the schema's version. */
const knownMigrations = (): string[] =>
  readdirSync(migrationsFolder())
    .filter((file) => file.endsWith('.sql'))
    .map((file) => path.basename(file, '.sql'))
    .sort()

async function history(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>('select name from keystride_history.migration order by id')
  return rows.map(({ name }) => name)
}

/** The known migrations that the database lacks. Throws where the two histories differ before their common end. */
function missingFrom(found: readonly string[], known: readonly string[], name = 'the database'): string[] {
  const stranger = found.find((name, i) => i < known.length && name !== known[i])
  if (stranger !== undefined)
    throw new ExpectedFault(`${name} has migration ${stranger} where this version has another: they have grown apart`)
  return known.slice(found.length)
}

/** The folder of keystride's package.json, whether this runs from src/ or from build/. */
function packageRoot(): string {
  for (let folder = path.dirname(fileURLToPath(import.meta.url)); ; folder = path.dirname(folder)) {
    const file = path.join(folder, 'package.json')
    if (existsSync(file) && JSON.parse(readFileSync(file, 'utf8')).name === 'keystride') return folder
    if (folder === path.dirname(folder))
      throw new Error('the migrations are missing: no package.json of keystride above')
  }
}
