import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { runner } from 'node-pg-migrate'
import pg from 'pg'
import { migrateJobQueue } from './job-queue.js'
import { ensureRoles } from './roles.js'

/** Months of authentications that have their partition before they begin. */
const MONTHS_AHEAD = 3

/**
 * Brings the database to this version's schema and returns the names of the migrations it applied, none when it was
 * there already. Safe to run twice and by several processes at once: they wait for one another. Needs a connection of
 * its own (not through PgBouncer in transaction mode: the lock belongs to the connection). Throws a plain sentence where
 * the login may not do what is needed.
 */
export async function migrate(databaseUrl: string, log: (line: string) => void = () => {}): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 5000 })
  client.on('error', () => {}) // a lost connection rejects the statement under way; unheard, it would end the process
  await client.connect()
  try {
    await ensureRoles(client)
    const applied = await runner({
      dbClient: client,
      dir: path.join(packageRoot(), 'src/storage/postgres/migrations'),
      direction: 'up',
      // Apart from the data: every table in `keystride` is closed by row level security, this one must be read by its owner.
      migrationsSchema: 'keystride_history',
      createMigrationsSchema: true,
      migrationsTable: 'migration',
      advisoryLockMode: 'wait',
      singleTransaction: true,
      logger: { debug: () => {}, info: () => {}, warn: log, error: log },
    })
    await client.query('begin')
    await client.query('set local role keystride_system')
    await client.query('select keystride.ensure_partitions($1)', [MONTHS_AHEAD])
    await client.query('commit')
    await client.query('begin')
    await client.query('select pg_advisory_xact_lock(7241865325823966)')
    await migrateJobQueue((text, values) => client.query(text, values === undefined ? undefined : [...values]))
    await client.query('commit')
    for (const { name } of applied) log(`applied migration ${name}`)
    return applied.map(({ name }) => name)
  } finally {
    await client.end()
  }
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
