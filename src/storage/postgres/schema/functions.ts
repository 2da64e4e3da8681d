import { createHash } from 'node:crypto'
import { ExpectedFault } from '../../../base/expected-fault.js'
import type { Client } from '../connection/with-client.js'
import type { ShippedSchema, SqlFile } from './shipped-schema.js'

/** The functions of a version compared with those of the database. */
interface FunctionChanges {
  /** `newer`: a newer version has applied its functions, which stay. */
  readonly state: 'same' | 'outdated' | 'newer'
  /** Version that applied the database's functions; null if there are none. */
  readonly appliedBy: string | null
  /** Includes those of `misowned`, because their rights are wrong too. */
  readonly changed: readonly SqlFile[]
  /** Names of the functions that are the same on both sides. */
  readonly unchanged: readonly string[]
  /** Names of the database's functions that the version does not have. */
  readonly removed: readonly string[]
  /** Functions with another owner than their file says, as after a restore with `--no-owner`; empty if `state` is `newer`. */
  readonly misowned: readonly MisownedFunction[]
}

interface MisownedFunction {
  readonly name: string
  readonly signature: string
  readonly owner: string
  readonly wanted: string
}

/**
 * Compares content hashes. Hashes have no order, so the version of the package decides which side is newer. Builds of one
 * version replace each other's functions, so those of the last start stay.
 */
export async function compareFunctions(client: Client, shipped: ShippedSchema): Promise<FunctionChanges> {
  const made = await client.query("select 1 where to_regclass('keystride_history.function') is not null")
  const query = 'select name, sha256, version from keystride_history.function'
  const rows =
    made.rows.length === 0 ? [] : (await client.query<{ name: string; sha256: string; version: string }>(query)).rows
  const found = new Map(rows.map((row) => [row.name, row.sha256]))
  const appliedBy = rows[0]?.version ?? null
  const newer = appliedBy !== null && isNewer(appliedBy, shipped.version)
  const misowned = newer ? [] : await misownedFunctions(client, shipped.functions)
  const differ = shipped.functions.filter(({ name, text }) => found.get(name) !== hash(text))
  const changed = shipped.functions.filter(
    (one) => differ.includes(one) || misowned.some(({ name }) => name === one.name),
  )
  const unchanged = shipped.functions.filter((one) => !differ.includes(one)).map(({ name }) => name)
  const removed = [...found.keys()].filter((name) => shipped.functions.every((one) => one.name !== name))
  const same = changed.length === 0 && removed.length === 0
  return { state: same ? 'same' : newer ? 'newer' : 'outdated', appliedBy, changed, unchanged, removed, misowned }
}

/** Compares the owners of functions whose file names one. A security-definer function has the rights of its owner. */
async function misownedFunctions(client: Client, functions: readonly SqlFile[]): Promise<MisownedFunction[]> {
  const wanted = functions.map(({ text }) => /^set local role (\w+);/m.exec(text)?.[1] ?? null)
  const { rows } = await client.query<MisownedFunction>(
    `select f.name, p.oid::regprocedure::text as signature, pg_get_userbyid(p.proowner) as owner, f.wanted
     from unnest($1::text[], $2::text[]) f (name, wanted)
       join pg_proc p on p.proname = f.name and p.pronamespace = to_regnamespace('keystride')
     where pg_get_userbyid(p.proowner) <> f.wanted`,
    [functions.map(({ name }) => name), wanted],
  )
  return rows
}

/** Gives the functions to their roles. Throws an error for the operator if the login may not. */
export async function giveToOwners(client: Client, misowned: readonly MisownedFunction[]): Promise<void> {
  if (misowned.length === 0) return
  await client.query('grant usage, create on schema keystride to keystride_app, keystride_system')
  try {
    await client.query(
      misowned.map(({ signature, wanted }) => `alter routine ${signature} owner to ${wanted}`).join('; '),
    )
  } catch (error) {
    if ((error as { code?: string }).code !== '42501') throw error
    throw new ExpectedFault(
      `${misowned.length} functions of the database belong to ${misowned[0]?.owner} instead of ${misowned[0]?.wanted}: run "keystride migrate" as that role or as a superuser`,
    )
  }
  await client.query('revoke create on schema keystride from keystride_system, keystride_app')
}

/** A pre-release counts as the release that it leads to. */
const isNewer = (one: string, other: string): boolean => {
  const [a = '', b = ''] = [one, other].map((version) => version.split(/[-+]/)[0])
  return a.localeCompare(b, 'en', { numeric: true }) > 0
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Writes the hashes of all functions of the version, as the state of the database. */
export async function recordFunctions(client: Client, { functions, version }: ShippedSchema): Promise<void> {
  const names = functions.map(({ name }) => name)
  await client.query('delete from keystride_history.function where name <> all ($1)', [names])
  await client.query(
    `insert into keystride_history.function as known (name, sha256, version)
     select name, sha256, $3 from unnest($1::text[], $2::text[]) f (name, sha256)
     on conflict (name) do update set sha256 = excluded.sha256, version = excluded.version, run_on = now()
       where (known.sha256, known.version) <> (excluded.sha256, excluded.version)`,
    [names, functions.map(({ text }) => hash(text)), version],
  )
}

/**
 * First of two passes in one transaction. It precedes the migrations, because triggers, policies and generated columns call
 * functions. Does not check bodies, whose tables may be missing, and leaves out functions with a row type in their signature. Until
 * `finishFunctions` the login may call them all, because it needs that right to create a trigger.
 */
export async function prepareFunctions(client: Client, functions: readonly SqlFile[]): Promise<void> {
  await client.query('create schema if not exists keystride')
  await client.query('grant usage, create on schema keystride to keystride_app, keystride_system')
  // A login named keystride has the schema in its search path, and signatures would be printed without it.
  await client.query('set local search_path = pg_catalog, pg_temp')
  await client.query('set local check_function_bodies = off')
  const early = functions.filter((one) => !namesRowType(one))
  await replace(client, early)
  const names = early.map(({ name }) => name)
  await asOwners(client, names, 'grant execute on routine %2$s to session_user')
}

/** Second pass, after the migrations. Replaces all functions of the first pass, and checks their bodies. */
export async function finishFunctions(client: Client, functions: readonly SqlFile[]): Promise<void> {
  await client.query('set local check_function_bodies = on')
  // Functions with a row type come first, because SQL functions call them.
  await replace(client, [...functions.filter(namesRowType), ...functions.filter((one) => !namesRowType(one))])
  await client.query('revoke create on schema keystride from keystride_system, keystride_app')
}

/** Drops functions by name, with any arguments. */
export const dropFunctions = (client: Client, names: readonly string[]): Promise<void> =>
  asOwners(client, names, 'drop routine %2$s')

/** Whether the part before the body names a type of the schema `keystride`, where only tables are types. */
const namesRowType = ({ text }: SqlFile): boolean =>
  /^create or replace \w+ keystride\.\w+([\s\S]*?)\blanguage\b/m.exec(text)?.[1]?.includes('keystride.') ?? false

/** Replaces functions. Only the file decides which arguments a function takes and which roles may call it. */
async function replace(client: Client, functions: readonly SqlFile[]): Promise<void> {
  const names = functions.map(({ name }) => name)
  // The owner needs the right to call a function in order to replace it.
  const reset = 'revoke execute on routine %2$s from %3$s; grant execute on routine %2$s to %1$I'
  await asOwners(client, names, reset)
  // All functions are sent in one round trip, which is enough for a new database.
  await client.query('savepoint before_functions')
  try {
    await client.query(functions.map(({ text }) => `${text}\n; reset role;`).join(''))
  } catch {
    await client.query('rollback to savepoint before_functions')
    for (const one of functions) await replaceOne(client, one)
  }
}

async function replaceOne(client: Client, { name, text }: SqlFile): Promise<void> {
  // The savepoint is a separate query, because no statement of a query runs after a syntax error.
  const statements = `${text}\n; reset role; release savepoint before_function`
  await client.query('savepoint before_function')
  try {
    await client.query(statements)
  } catch (refused) {
    await client.query('rollback to savepoint before_function')
    try {
      // The new function has another result, owner, parameter name or other arguments. Other arguments make its name ambiguous.
      await dropFunctions(client, [name])
      await client.query(statements)
    } catch {
      throw new Error(`${name}.sql: ${(refused as Error).message}`, { cause: refused })
    }
  }
}

/**
 * Runs a statement for each function of these names as the function's owner. In the statement, %1$I is the owner, %2$s the
 * signature, and %3$s lists the other roles that may call the function.
 */
async function asOwners(client: Client, names: readonly string[], statement: string): Promise<void> {
  const { rows } = await client.query<{ statement: string }>(
    `select format('set local role %1$I; ' || $2 || '; reset role', pg_get_userbyid(p.proowner), p.oid::regprocedure, (
       select coalesce(string_agg(case grantee when 0 then 'public' else quote_ident(pg_get_userbyid(grantee)) end, ', '), 'public')
       from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) where grantee <> p.proowner)) as statement
     from pg_proc p where p.pronamespace = 'keystride'::regnamespace and p.proname = any ($1)`,
    [names, statement],
  )
  if (rows.length > 0) await client.query(rows.map((row) => row.statement).join('; '))
}
