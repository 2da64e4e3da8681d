import { type Client, withClient } from '../connection/with-client.js'
import { grantOf, holds, type Standing, standingOf, tried } from './roles.js'
import { SCHEMA_LOCK } from './table-locks.js'

/** The role that reads all rows and changes none. As the login, which is under row level security, `pg_dump` fails. */
const ROLE = 'keystride_backup'
export const SCHEMAS = ['keystride', 'keystride_history', 'pgboss']

/** Creates the role for `pg_dump --role` as far as the login may; `backupRoleSql` returns the missing statements. */
export async function ensureBackupRole(client: Client): Promise<void> {
  const standing = await standingOf(client)
  for (const statement of await missingRole(client, standing)) if (!(await tried(client, statement))) return
  await client.query('begin')
  await client.query(`select pg_advisory_xact_lock(${SCHEMA_LOCK})`)
  for (const statement of await missingGrants(client, standing)) if (!(await tried(client, statement))) break
  // After a failed statement, this rolls back.
  await client.query('commit')
}

/** Makes the connection read as the role. Throws if the login may not become it. */
export async function actAsBackupRole(client: Client): Promise<void> {
  await ensureBackupRole(client)
  await client.query(`set role ${ROLE}`)
}

/** Statements that an administrator must run once in this database; null if the role is complete. */
export async function backupRoleSql(databaseUrl: string): Promise<string | null> {
  return await withClient(databaseUrl, async (client) => {
    const standing = await standingOf(client)
    const missing = [...(await missingRole(client, standing)), ...(await missingGrants(client, standing))]
    return missing.length === 0 ? null : missing.map((statement) => `${statement};`).join('\n')
  })
}

/** Missing statements that create the role. A superuser may run them, and from PostgreSQL 16 on a login with CREATEROLE and BYPASSRLS. */
async function missingRole(client: Client, standing: Standing): Promise<string[]> {
  const exists = await holds(client, `select 1 from pg_roles where rolname = '${ROLE}'`)
  const bypasses = await holds(client, `select 1 from pg_roles where rolname = '${ROLE}' and rolbypassrls`)
  const mode = standing.version >= 160000 ? 'set' : 'member'
  const becomes =
    standing.superuser ||
    (exists && (await holds(client, `select 1 where pg_has_role(session_user, '${ROLE}', '${mode}')`)))
  return [
    ...(exists ? [] : [`create role ${ROLE} nologin bypassrls`]),
    ...(exists && !bypasses ? [`alter role ${ROLE} bypassrls`] : []),
    ...(becomes ? [] : [grantOf(ROLE, standing)]),
  ]
}

/** Missing grants. The login owns every table, and will own those of later months and versions. */
async function missingGrants(client: Client, standing: Standing): Promise<string[]> {
  const unread = `select 1 from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in (${SCHEMAS.map((schema) => `'${schema}'`).join(', ')}) and case c.relkind
      when 'S' then not has_sequence_privilege('${ROLE}', c.oid, 'select')
      when 'r' then not has_table_privilege('${ROLE}', c.oid, 'select')
      when 'p' then not has_table_privilege('${ROLE}', c.oid, 'select') end`
  const exists = await holds(client, `select 1 from pg_roles where rolname = '${ROLE}'`)
  if (exists && !(await holds(client, unread))) return []
  const [schemas, login] = [SCHEMAS.join(', '), `"${standing.login.replaceAll('"', '""')}"`]
  const kinds = ['tables', 'sequences']
  return [
    `grant usage on schema ${schemas} to ${ROLE}`,
    ...kinds.map((kind) => `grant select on all ${kind} in schema ${schemas} to ${ROLE}`),
    ...kinds.map(
      (kind) => `alter default privileges for role ${login} in schema ${schemas} grant select on ${kind} to ${ROLE}`,
    ),
  ]
}
