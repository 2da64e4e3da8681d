import type { Session, SessionStore } from '../session.js'
import type { Database, Transaction } from './client.js'

interface SessionRow {
  user_ref: string
  member_ref: string | null
  used_biometric: number
  used_security_code: number
  authenticated_at: Date | null
}

/** Expired sessions a mint clears away: more than it adds, so that they cannot pile up. */
const CLEARED_PER_MINT = 10
/** A session lives for minutes: a crash of the server may end the newest ones, and each commit saves a flush of the disk. */
const EPHEMERAL = { durable: false }

/** Sessions in PostgreSQL, for a deployment without Redis. The server's clock keeps the time. */
export function postgresSessions(database: Database): SessionStore {
  return {
    mint: (organizationId, { sha256, userRef, memberRef, lifetimeMs }) =>
      database.scoped(
        organizationId,
        async (sql) => {
          await sql`
            delete from keystride.session where (organization_id, user_ref, sha256) in (
              select organization_id, user_ref, sha256 from keystride.session
              where organization_id = ${organizationId} and expires_at < clock_timestamp()
              limit ${CLEARED_PER_MINT} for update skip locked)`
          await sql`
            insert into keystride.session (organization_id, user_ref, sha256, member_ref, expires_at)
            values (${organizationId}, ${userRef}, ${bytes(sha256)}, ${memberRef},
              clock_timestamp() + ${lifetimeMs} * interval '1 millisecond')`
        },
        EPHEMERAL,
      ),

    find: (organizationId, userRef, sha256) =>
      database.scoped(organizationId, (sql) => find(sql, organizationId, userRef, sha256)),

    designate: (organizationId, userRef, sha256, memberRef) =>
      database.scoped(
        organizationId,
        async (sql) => {
          const { count } = await sql`
            update keystride.session set member_ref = ${memberRef} where ${live(sql, organizationId, userRef, sha256)}
              and (member_ref is null or member_ref = ${memberRef})`
          return count === 1
        },
        EPHEMERAL,
      ),

    reserve: (organizationId, userRef, sha256, kind, budget) =>
      database.scoped(
        organizationId,
        async (sql) => {
          const used = sql(`used_${kind}`)
          const [row] = await sql<SessionRow[]>`
            update keystride.session set ${used} = ${used} + 1
            where ${live(sql, organizationId, userRef, sha256)} and ${used} < ${budget} returning ${columns(sql)}`
          if (row !== undefined) return { outcome: 'reserved', session: toSession(row) }
          const session = await find(sql, organizationId, userRef, sha256)
          return session === null ? null : { outcome: 'exhausted', session }
        },
        EPHEMERAL,
      ),

    release: (organizationId, userRef, sha256, kind) =>
      database.scoped(
        organizationId,
        async (sql) => {
          const used = sql(`used_${kind}`)
          await sql`
            update keystride.session set ${used} = greatest(${used} - 1, 0)
            where ${live(sql, organizationId, userRef, sha256)}`
        },
        EPHEMERAL,
      ),

    markAuthenticated: (organizationId, userRef, sha256, at) =>
      database.scoped(
        organizationId,
        async (sql) => {
          await sql`
            update keystride.session set authenticated_at = ${new Date(at)}
            where ${live(sql, organizationId, userRef, sha256)}`
        },
        EPHEMERAL,
      ),

    // On disk before it returns: an ended session must not come back with a crash.
    endAll: (organizationId, userRef, memberRef, except) =>
      database.scoped(organizationId, async (sql) => {
        await sql`
          delete from keystride.session where organization_id = ${organizationId} and user_ref = ${userRef}
            and (${memberRef}::text is null or member_ref is null or member_ref = ${memberRef})
            and (${except === undefined ? null : bytes(except)}::bytea is distinct from sha256)`
      }),
  }
}

async function find(
  sql: Transaction,
  organizationId: string,
  userRef: string,
  sha256: string,
): Promise<Session | null> {
  const [row] = await sql<SessionRow[]>`
    select ${columns(sql)} from keystride.session where ${live(sql, organizationId, userRef, sha256)}`
  return row === undefined ? null : toSession(row)
}

const live = (sql: Transaction, organizationId: string, userRef: string, sha256: string) => sql`
  organization_id = ${organizationId} and user_ref = ${userRef} and sha256 = ${bytes(sha256)}
  and expires_at > clock_timestamp()`

const columns = (sql: Transaction) => sql`member_ref, user_ref, used_biometric, used_security_code, authenticated_at`

/** Anything that is no SHA-256 in hex becomes bytes that no session has. */
const bytes = (sha256: string) => Buffer.from(sha256, 'hex')

function toSession(row: SessionRow): Session {
  return {
    userRef: row.user_ref,
    memberRef: row.member_ref,
    used: { biometric: row.used_biometric, security_code: row.used_security_code },
    authenticatedAt: row.authenticated_at?.getTime() ?? null,
  }
}
