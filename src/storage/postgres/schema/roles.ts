import type { Client } from '../connection/with-client.js'

const ROLES = ['keystride_app', 'keystride_system'] as const
type Role = (typeof ROLES)[number]

/** SQLSTATEs of a role or grant that another process created concurrently, because roles belong to the whole cluster. */
const RACED = new Set(['42710', '23505', 'XX000'])
const NOT_ALLOWED = '42501'

export interface Standing {
  readonly version: number
  readonly superuser: boolean
  readonly login: string
}

/**
 * Creates the two NOLOGIN roles if absent, and grants them to the login without inheritance, because their policies would
 * otherwise apply to the login too. Safe to run concurrently, in several databases and processes. If the login lacks a right, throws
 * an error with the statements that an administrator must run.
 */
export async function ensureRoles(client: Client): Promise<void> {
  const standing = await standingOf(client)
  if (standing.version < 140000) throw new Error(`PostgreSQL 14 or newer is needed, this is ${standing.version}`)
  for (const role of ROLES) await ensureRole(client, role, standing)
}

/** The login, and the properties that determine its rights. */
export async function standingOf(client: Client): Promise<Standing> {
  const { rows } = await client.query<Standing>(
    `select current_setting('server_version_num')::int as version, rolsuper as superuser, rolname as login
     from pg_roles where rolname = session_user`,
  )
  const standing = rows[0]
  if (standing === undefined) throw new Error('the database does not name its login')
  return standing
}

async function ensureRole(client: Client, role: Role, standing: Standing): Promise<void> {
  const { login, superuser, version } = standing
  if (!(await holds(client, `select 1 from pg_roles where rolname = '${role}'`)))
    await attempt(client, `create role ${role} nologin`, standing)
  if (superuser) return
  const mode = version >= 160000 ? 'set' : 'member'
  const member = () => holds(client, `select 1 where pg_has_role(session_user, '${role}', '${mode}')`)
  const inherits = () => holds(client, `select 1 where pg_has_role(session_user, '${role}', 'usage')`)
  const [grant, separate] = statements(role, standing)
  if (!(await member())) await attempt(client, grant, standing)
  if (await inherits()) await attempt(client, separate, standing)
  if (!(await member()) || (await inherits())) throw notAllowed(login, standing, 'roles are not as needed')
}

/** The statement that lets the login become the role without inheriting its rights. */
export const grantOf = (role: string, standing: Standing): string => statements(role, standing)[0]

/** Inheritance is a property of each grant from PostgreSQL 16 on; before, it is a property of the login. */
function statements(role: string, { login, version }: Standing): [grant: string, separate: string] {
  const quoted = `"${login.replaceAll('"', '""')}"`
  if (version < 160000) return [`grant ${role} to ${quoted}`, `alter role ${quoted} noinherit`]
  const grant = `grant ${role} to ${quoted} with inherit false, set true`
  return [grant, grant]
}

/** Runs a statement. True if it took effect, here or in another process; false if the login may not run it. */
export async function tried(client: Client, statement: string): Promise<boolean> {
  return null === (await refused(client, statement))
}

async function attempt(client: Client, statement: string, standing: Standing): Promise<void> {
  const why = await refused(client, statement)
  if (why !== null) throw notAllowed(standing.login, standing, why)
}

/** The database's message if the login may not run the statement, otherwise null. */
async function refused(client: Client, statement: string): Promise<string | null> {
  for (let tries = 1; ; tries += 1) {
    try {
      await client.query(statement)
      return null
    } catch (error) {
      const { code, message } = error as { code?: string; message: string } // what pg rejects with
      if (code === '42710' || code === '23505') return null
      if (code === NOT_ALLOWED) return message
      if (!RACED.has(code ?? '') || tries === 20) throw error
    }
  }
}

export async function holds(client: Client, query: string): Promise<boolean> {
  return (await client.query(query)).rows.length > 0
}

function notAllowed(login: string, standing: Standing, why: string): Error {
  const needed = ROLES.flatMap((role) => [`create role ${role} nologin;`, `${statements(role, standing)[0]};`])
  if (standing.version < 160000) needed.push(`${statements(ROLES[0], standing)[1]};`)
  return new Error(
    `the database login "${login}" may not set up keystride's roles (${why}); an administrator must run once: ${needed.join(' ')}`,
  )
}
