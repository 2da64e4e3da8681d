import { execFile, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ExpectedFault } from '../../../base/expected-fault.js'
import { type Backup, COUNTED } from '../../backup.js'
import { type Client, withClient } from '../connection/with-client.js'
import { startEmbedded } from '../embedded/embedded.js'
import { actAsBackupRole, SCHEMAS } from './backup-role.js'
import { compareFunctions } from './functions.js'
import { migrateEmpty, versionOf } from './migrate.js'
import { ensureRoles } from './roles.js'
import { shippedSchema } from './shipped-schema.js'

/**
 * Restores a file of `pg_dump` into a temporary embedded PostgreSQL and reads its content. Throws an `ExpectedFault` if the
 * file is not a complete backup of this service, with the tables, policies and functions of its schema version, as this version
 * defines them, and the rows of each table. Needs `pg_restore` on this machine, and as much space as the database in the folder for
 * temporary files. `interrupted` ends the call early; the temporary folder is then removed too.
 */
export async function readBackup(file: string, interrupted: AbortSignal): Promise<Backup> {
  const listed = await contentsOf(file, interrupted)
  const folder = mkdtempSync(path.join(tmpdir(), 'keystride-backup-'))
  try {
    const server = await startEmbedded({ dataFolder: folder, watched: false })
    try {
      const read = async (client: Client) => {
        await restore(file, server.url, client, interrupted)
        const { found, known } = await versionOf(client, `the backup in ${file}`)
        await requireRows(file, client, listed)
        await requireSchemaParts(file, client, server.url, found.length)
        await actAsBackupRole(client)
        const migrationsMissing = known.length - found.length
        return { schema: found.at(-1) ?? '', migrationsMissing, ...(await contentOf(client)) }
      }
      return await withClient(server.url, read, { queryMs: 0 })
    } finally {
      await server.stop()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
  }
}

/** The entries of the file, such as `TABLE DATA keystride account`. Throws if the file is not a backup of this service. */
async function contentsOf(file: string, interrupted: AbortSignal): Promise<string[]> {
  const found = statSync(file, { throwIfNoEntry: false })
  if (found === undefined) throw new ExpectedFault(`${file} does not exist`)
  if (found.isFile() && found.size === 0) throw new ExpectedFault(`${file} is empty`)
  const { why, output } = await pgRestore(['--list', file], interrupted)
  if (why !== null) throw new ExpectedFault(`${file} is no backup that pg_restore reads: ${why}`)
  const entries = output.split('\n').flatMap((line) => /^\d+; \d+ \d+ (.+) \S+$/.exec(line)?.[1] ?? [])
  const missing = SCHEMAS.filter((schema) => !entries.includes(`SCHEMA - ${schema}`))
  if (missing.length === SCHEMAS.length) throw new ExpectedFault(`${file} is a backup of another database`)
  if (missing.length > 0) throw new ExpectedFault(`${file} is incomplete: it lacks the schema ${missing.join(', ')}`)
  return entries
}

/** Restores the file without owners and grants, because this server does not have their logins. */
async function restore(file: string, url: string, client: Client, interrupted: AbortSignal): Promise<void> {
  await ensureRoles(client)
  const { password, href } = new URL(url)
  const target = ['--dbname', href.replace(`:${password}@`, '@')]
  const { why } = await pgRestore(
    ['--exit-on-error', '--no-owner', '--no-privileges', ...target, file],
    interrupted,
    password,
  )
  if (why !== null) throw new ExpectedFault(`${file} cannot be restored: ${why}`)
}

const IN_SCHEMAS = `in (${SCHEMAS.map((schema) => `'${schema}'`).join(', ')})`

/** Searches the entries of the file, because a restored table whose rows were left out looks like an empty table. */
async function requireRows(file: string, client: Client, listed: readonly string[]): Promise<void> {
  const { rows } = await client.query<{ name: string }>(`
    select n.nspname || ' ' || c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind = 'r' and n.nspname ${IN_SCHEMAS}`)
  const missing = rows.map(({ name }) => name).filter((name) => !listed.includes(`TABLE DATA ${name}`))
  if (missing.length > 0) throw new ExpectedFault(`${file} is incomplete: it lacks the rows of ${few(missing)}`)
}

/** Compares the schema with that of an empty database after the same migrations. */
async function requireSchemaParts(file: string, client: Client, url: string, migrations: number): Promise<void> {
  await client.query('create database reference')
  const reference = new URL(url)
  reference.pathname = '/reference'
  const sameFunctions = (await compareFunctions(client, shippedSchema())).unchanged
  const wantedParts = async (empty: Client) => {
    await migrateEmpty(empty, migrations)
    return partsOf(empty, sameFunctions)
  }
  const wanted = await withClient(reference.href, wantedParts, { queryMs: 0 })
  const found = new Map((await partsOf(client, sameFunctions)).map(({ part, definition }) => [part, definition]))
  const missing = wanted.filter(({ part }) => !found.has(part)).map(({ part }) => part)
  const lacking = [...missing, ...(await missingFunctions(client))]
  if (lacking.length > 0) throw new ExpectedFault(`${file} is incomplete: it lacks ${few(lacking)}`)
  const altered = wanted.filter(({ part, definition }) => found.get(part) !== definition).map(({ part }) => part)
  if (altered.length > 0) throw new ExpectedFault(`${file} is damaged: it has another definition of ${few(altered)}`)
}

/** The missing functions. Functions change without a migration, so the history in the backup names those that it must have. */
async function missingFunctions(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ part: string }>(`
    select 'function keystride.' || name as part from keystride_history.function f where not exists (
      select from pg_proc where pronamespace = 'keystride'::regnamespace and proname = f.name)`)
  return rows.map(({ part }) => part)
}

interface Part {
  readonly part: string
  readonly definition: string
}

/** Parts of the schema, without partitions, because a backup has those of other months. Includes the functions `named`. */
async function partsOf(client: Client, named: readonly string[]): Promise<Part[]> {
  const { rows } = await client.query<Part>(
    `
    with tables as (
      select c.oid from pg_class c where c.relkind in ('r', 'p') and not c.relispartition
        and c.relnamespace in ('keystride'::regnamespace, 'keystride_history'::regnamespace))
    select 'column ' || attrelid::regclass || '.' || attname || ' ' || format_type(atttypid, atttypmod) as part,
      attnotnull || ' ' || coalesce(pg_get_expr(adbin, adrelid), '') as definition
      from pg_attribute join tables on oid = attrelid left join pg_attrdef on adrelid = attrelid and adnum = attnum
      where attnum > 0 and not attisdropped
    union all select 'index ' || indexrelid::regclass, pg_get_indexdef(indexrelid)
      from pg_index join tables on oid = indrelid
    union all select 'constraint ' || c.conrelid::regclass || ' ' || c.conname, pg_get_constraintdef(c.oid)
      from pg_constraint c join tables on tables.oid = c.conrelid where c.contype <> 'n'
    union all select 'policy ' || p.polrelid::regclass || ' ' || p.polname, concat_ws(' ', polcmd, polpermissive,
        polroles::regrole[]::text, pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid))
      from pg_policy p join tables on tables.oid = p.polrelid
    union all select 'trigger ' || t.tgrelid::regclass || ' ' || t.tgname, pg_get_triggerdef(t.oid)
      from pg_trigger t join tables on tables.oid = t.tgrelid where not t.tgisinternal
    union all select 'function ' || oid::regprocedure, pg_get_functiondef(oid)
      from pg_proc where pronamespace = 'keystride'::regnamespace and proname = any ($1) and prokind <> 'a'`,
    [named],
  )
  return rows
}

async function contentOf(client: Client): Promise<Omit<Backup, 'schema' | 'migrationsMissing'>> {
  const columns = COUNTED.map((table) => `(select count(*)::int from keystride.${table}) as ${table}`)
  const counts = await client.query<Backup['counts']>(`select ${columns.join(', ')}`)
  const last = await client.query<{ at: Date | null }>('select max(created_at) as at from keystride.authentication')
  const keys = await client.query<{ organization_id: string; key_id: string; wrapped_key: Uint8Array }>(
    'select organization_id, key_id, wrapped_key from keystride.organization order by created_at',
  )
  const [row] = counts.rows
  if (row === undefined) throw new Error('a select without tables gave no row')
  return {
    counts: row,
    lastAttemptAt: last.rows[0]?.at ?? null,
    wrappedKeys: keys.rows.map((one) => ({
      organizationId: one.organization_id,
      keyId: one.key_id,
      wrapped: one.wrapped_key,
    })),
  }
}

/** Runs `pg_restore`. `why` is null if it succeeded. */
function pgRestore(
  args: readonly string[],
  interrupted: AbortSignal,
  password = '',
): Promise<{ why: string | null; output: string }> {
  const env = { PATH: process.env.PATH, LC_ALL: 'C', PGPASSWORD: password }
  return new Promise((resolve, reject) => {
    execFile(program(), [...args], { env, signal: interrupted, maxBuffer: 64 * 1024 * 1024 }, (error, output, said) => {
      if (interrupted.aborted) return reject(new ExpectedFault('interrupted'))
      const [line = ''] = said.match(/^pg_restore: error: .*$/m) ?? [said.split('\n')[0]]
      resolve({ why: error === null ? null : line.replace('pg_restore: error: ', '') || error.message, output })
    })
  })
}

const DEBIAN = '/usr/lib/postgresql'

/** The program on the PATH, otherwise Debian's newest one. */
function program(): string {
  if (spawnSync('pg_restore', ['--version']).status === 0) return 'pg_restore'
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : []
  const found = versions.map((version) => path.join(DEBIAN, version, 'bin/pg_restore')).find(existsSync)
  if (found === undefined)
    throw new ExpectedFault('pg_restore is not on the PATH: install the client programs of PostgreSQL')
  return found
}

const few = (all: readonly string[]): string =>
  all.length > 5 ? `${all.slice(0, 5).join(', ')} and ${all.length - 5} more` : all.join(', ')
