import { ExpectedFault } from '../../../base/expected-fault.js'
import { type Client, withClient } from '../connection/with-client.js'
import { migrateJobQueue, requireJobQueue } from '../insight/job-queue.js'
import { ensureBackupRole } from './backup-role.js'
import {
  compareFunctions,
  dropFunctions,
  finishFunctions,
  giveToOwners,
  prepareFunctions,
  recordFunctions,
} from './functions.js'
import { requireLoginSettings } from './login-settings.js'
import { ensureRoles } from './roles.js'
import { type ShippedSchema, type SqlFile, shippedSchema } from './shipped-schema.js'
import { limitWaiting, SCHEMA_LOCK, untilUnlocked } from './table-locks.js'

/** Months of authentications whose partitions are made in advance. */
const MONTHS_AHEAD = 3
/** A start that waits longer fails, so that an operator sees it. */
const PATIENCE_MS = 60_000

/**
 * Migrates the database to this version's schema. Returns the names of the applied migrations and the number of the applied
 * functions; empty if nothing was applied. Idempotent. Concurrent processes wait for each other by a lock that ends with its
 * transaction, which works behind PgBouncer too. Leaves a newer schema unchanged. A change of a table in use waits briefly and is
 * retried for `patienceMs`, so that statements of a running service do not queue behind it. Throws an error for the operator if the
 * login lacks a right, if no migration leads from the database to this version, or if a table stays in use.
 */
export async function migrate(
  databaseUrl: string,
  log: (line: string) => void = () => {},
  shipped = shippedSchema(),
  patienceMs = PATIENCE_MS,
): Promise<string[]> {
  const migrated = async (client: Client) => {
    await requireLoginSettings(client)
    await ensureRoles(client)
    const applied = await untilUnlocked(client, log, patienceMs, () => applyMissing(client, shipped))
    await untilUnlocked(client, log, patienceMs, async () => {
      await client.query('begin')
      await limitWaiting(client)
      await client.query('set local role keystride_system')
      await client.query('select keystride.ensure_partitions($1)', [MONTHS_AHEAD])
      await client.query('commit')
    })
    await client.query('begin')
    await client.query('select pg_advisory_xact_lock(7241865325823966)')
    await migrateJobQueue((text, values) => client.query(text, values === undefined ? undefined : [...values]))
    await client.query('commit')
    await ensureBackupRole(client)
    if (applied.length > 0) log(`applied to the database: ${applied.join(', ')}`)
    return applied
  }
  return await withClient(databaseUrl, migrated, { queryMs: 0 })
}

/**
 * Throws an error for the operator if the database is not at this version's schema, with the version that was found, the wanted
 * one and the command to run. Changes nothing. If `newer` is true, accepts a newer schema, on which an older process may run during a
 * rolling update.
 */
export async function requireSchema(
  databaseUrl: string,
  { newer, shipped = shippedSchema() }: { newer: boolean; shipped?: ShippedSchema },
): Promise<void> {
  await withClient(databaseUrl, async (client) => {
    const wanted = shipped.migrations.at(-1)?.name
    const made = await client.query("select 1 where to_regclass('keystride_history.migration') is not null")
    const found = made.rows.length === 0 ? [] : await history(client)
    const last = found.at(-1)
    if (last === undefined)
      throw new ExpectedFault(
        `the database has no schema of Keystride, wanted is ${wanted}: run "keystride migrate" first`,
      )
    if (missingFrom(found, shipped.migrations).length > 0)
      throw new ExpectedFault(`the database's schema is at ${last}, wanted is ${wanted}: run "keystride migrate" first`)
    if (found.length > shipped.migrations.length) {
      if (newer) return // its queues may be newer too
      throw new ExpectedFault(
        `the database's schema is at ${last}, newer than the wanted ${wanted}: use the version of Keystride that made it`,
      )
    }
    await requireFunctions(client, shipped, newer)
    await requireJobQueue((text, values) => client.query(text, values === undefined ? undefined : [...values]))
  })
}

async function requireFunctions(client: Client, shipped: ShippedSchema, newer: boolean): Promise<void> {
  const { state, appliedBy, misowned } = await compareFunctions(client, shipped)
  if (misowned.length > 0)
    throw new ExpectedFault(
      `${misowned.length} functions of the database belong to ${misowned[0]?.owner} instead of ${misowned[0]?.wanted}, as after a restore: run "keystride migrate" first`,
    )
  if (state === 'outdated')
    throw new ExpectedFault(
      `the database's functions are of version ${appliedBy}, wanted are those of ${shipped.version}: run "keystride migrate" first`,
    )
  if (state === 'newer' && !newer)
    throw new ExpectedFault(
      `the database's functions are of version ${appliedBy}, newer than the wanted ${shipped.version}: use that version of Keystride`,
    )
}

/** Applies the first `migrations` migrations to an empty database; leaves the job queue out. */
export async function migrateEmpty(client: Client, migrations: number): Promise<void> {
  const shipped = shippedSchema()
  await client.query('begin')
  await createHistory(client)
  await prepareFunctions(client, shipped.functions)
  await applyMigrations(client, shipped.migrations.slice(0, migrations))
  await client.query('commit')
}

/** The migrations of the database and of this version. Throws, with `name` for the database, if they differ or it is newer. */
export async function versionOf(client: Client, name: string): Promise<{ found: string[]; known: string[] }> {
  const [found, known] = [await history(client), shippedSchema().migrations]
  missingFrom(found, known, name)
  if (found.length > known.length)
    throw new ExpectedFault(
      `${name} is at ${found.at(-1)}, newer than ${known.at(-1)?.name}: use the version of Keystride that made it`,
    )
  return { found, known: known.map((one) => one.name) }
}

/**
 * Applies the migrations and functions that the database lacks, all in one transaction, and returns their names. An older
 * process changes nothing: it accepts migrations after the last one that it knows, and functions of a newer version. Throws if the
 * database lacks a migration in between.
 */
async function applyMissing(client: Client, shipped: ShippedSchema): Promise<string[]> {
  await client.query('begin')
  await client.query(`select pg_advisory_xact_lock(${SCHEMA_LOCK})`)
  await limitWaiting(client)
  await createHistory(client)
  const found = await history(client)
  const missing = missingFrom(found, shipped.migrations)
  const { state, changed, removed, misowned } = await compareFunctions(client, shipped)
  await giveToOwners(client, misowned)
  const current = state === 'same' || state === 'newer' || found.length > shipped.migrations.length
  if (missing.length === 0 && current) {
    await client.query('commit')
    return []
  }
  // After a migration all functions are replaced, so that their bodies are checked against the new tables.
  const functions = missing.length > 0 ? shipped.functions : changed
  await prepareFunctions(client, functions)
  await applyMigrations(client, missing)
  await finishFunctions(client, functions)
  await dropFunctions(client, removed)
  await recordFunctions(client, shipped)
  await client.query('commit')
  return [...missing.map(({ name }) => name), `${functions.length + removed.length} functions`]
}

/** The history has a schema of its own, because the owner must read it, and row level security is forced in `keystride`. */
async function createHistory(client: Client): Promise<void> {
  await client.query('create schema if not exists keystride_history')
  await client.query(`create table if not exists keystride_history.migration (
    id serial primary key, name varchar(255) not null, run_on timestamp not null)`)
  await client.query(`create table if not exists keystride_history.function (
    name text primary key, sha256 text not null, version text not null, run_on timestamptz not null default now())`)
}

async function applyMigrations(client: Client, migrations: readonly SqlFile[]): Promise<void> {
  for (const { name, text } of migrations) {
    await client.query(text)
    await client.query('insert into keystride_history.migration (name, run_on) values ($1, now())', [name])
  }
}

async function history(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>('select name from keystride_history.migration order by id')
  return rows.map(({ name }) => name)
}

/** First migrations of development versions before 0.1.0. No migration leads from there. */
const BEFORE_THE_FIRST_RELEASE = /^(\d{13}_|020_organization$)/

/** The known migrations that the database lacks. Throws if the two histories differ before the end of the shorter one. */
function missingFrom(
  found: readonly string[],
  known: readonly SqlFile[],
  database = 'the database',
): readonly SqlFile[] {
  if (BEFORE_THE_FIRST_RELEASE.test(found[0] ?? ''))
    throw new ExpectedFault(
      `${database} was made by a development version before 0.1.0, which cannot be migrated: start with an empty database ` +
        '(the embedded one is in the folder that KEYSTRIDE_DATA names, .keystride by default: move it away); nothing was changed',
    )
  const stranger = found.find((name, i) => i < known.length && name !== known[i]?.name)
  if (stranger !== undefined)
    throw new ExpectedFault(
      `${database} has migration ${stranger} where this version has another: they have grown apart`,
    )
  return known.slice(found.length)
}
