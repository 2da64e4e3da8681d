import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { migrateJobQueue } from './job-queue.js'
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
    for (const name of applied) log(`applied migration ${name}`)
    return applied
  } finally {
    await client.end()
  }
}

/**
 * Applies what the history lacks, all in one transaction, and returns the names. Migrations of a newer version after the
 * last one known here are left alone: an older process may start beside it. Throws where one is missing in between.
 */
async function applyMissing(client: pg.Client): Promise<string[]> {
  const folder = path.join(packageRoot(), 'src/storage/postgres/migrations')
  const known = readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .map((file) => path.basename(file, '.sql'))
    .sort()
  await client.query('begin')
  await client.query('select pg_advisory_xact_lock(7241865325823964)')
  // Apart from the data: every table in `keystride` is closed by row level security, this one must be read by its owner.
  await client.query('create schema if not exists keystride_history')
  await client.query(`create table if not exists keystride_history.migration (
    id serial primary key, name varchar(255) not null, run_on timestamp not null)`)
  const { rows } = await client.query<{ name: string }>('select name from keystride_history.migration order by id')
  const stranger = rows.find(({ name }, i) => i < known.length && name !== known[i])
  if (stranger !== undefined)
    throw new Error(`the database has migration ${stranger.name} where this version has another: they have grown apart`)
  const missing = known.slice(rows.length)
  for (const name of missing) {
    await client.query(readFileSync(path.join(folder, `${name}.sql`), 'utf8'))
    await client.query('insert into keystride_history.migration (name, run_on) values ($1, now())', [name])
  }
  await client.query('commit')
  return missing
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
