import type { NewSession, Session, SessionStore, SessionWords } from '../../session.js'
import type { Database, Transaction } from '../connection/client.js'

interface SessionRow {
  user_ref: string
  member_ref: string | null
  member_version: string | null
  used_biometric: number
  used_security_code: number
  typing_failed: boolean
  reported_action: string | null
  words: string | null
  words_used: number
}

/**
 * Commits of sessions do not wait for the disk, because a session lives only for minutes. A crash of the server may lose the
 * newest sessions and reservations. An attempt that is scored for longer than the server is down is then missing from the session's
 * budget, but not from the member's counters. The commit of an attempt also flushes its reservation.
 */
const EPHEMERAL = { durable: false }

/** Sessions in PostgreSQL, for a deployment without Redis. The server's clock keeps the time. */
export function postgresSessions(database: Database): SessionStore {
  const ephemeral: Database['keyed'] = (organizationId, work) => database.keyed(organizationId, work, EPHEMERAL)
  return {
    // The database has the person and the comparison set in any case.
    carries: false,

    mint: (organizationId, { sha256, userRef, memberRef, memberVersion = null, lifetimeMs, words = null }) =>
      ephemeral(organizationId, async (sql) => {
        await sql`
          insert into keystride.session (organization_id, user_ref, sha256, member_ref, member_version, words, expires_at)
          values (${organizationId}, ${userRef}, ${bytes(sha256)}, ${memberRef}, ${memberVersion}, ${words},
            clock_timestamp() + ${lifetimeMs} * interval '1 millisecond')`
      }),

    mintImplicit: (organizationId, session) =>
      ephemeral(organizationId, (sql) => mintImplicit(sql, organizationId, session)),

    find: (organizationId, userRef, sha256) =>
      database.keyed(organizationId, (sql) => find(sql, organizationId, userRef, sha256)),

    designate: (organizationId, userRef, sha256, memberRef) =>
      ephemeral(organizationId, async (sql) => {
        const { count } = await sql`
          update keystride.session set member_ref = ${memberRef} where ${live(sql, organizationId, userRef, sha256)}
            and (member_ref is null or member_ref = ${memberRef})`
        return count === 1
      }),

    reserve: (organizationId, userRef, sha256, { kind, budget }) =>
      ephemeral(organizationId, async (sql) => {
        const used = sql(`used_${kind}`)
        const words = kind === 'biometric' ? sql`, words_used = words_used + 1` : sql``
        const [row] = await sql<(SessionRow & { nth: number })[]>`
          update keystride.session set ${used} = ${used} + 1 ${words}
          where ${live(sql, organizationId, userRef, sha256)} and ${used} < ${budget}
          returning ${columns(sql)}, (
            select 1 + sum(s.used_biometric + s.used_security_code)::int from keystride.session s
            where s.organization_id = session.organization_id and s.user_ref = session.user_ref) as nth`
        if (row !== undefined) return { outcome: 'reserved', session: toSession(row), nth: row.nth }
        const session = await find(sql, organizationId, userRef, sha256)
        return session === null ? null : { outcome: 'exhausted', session }
      }),

    release: (organizationId, userRef, sha256, { kind, words }) =>
      ephemeral(organizationId, async (sql) => {
        const used = sql(`used_${kind}`)
        const returned =
          kind === 'biometric' && words !== null && words.used > 0
            ? sql`, words_used = words_used - case when ${holds(sql, words)} then 1 else 0 end`
            : sql``
        await sql`
          update keystride.session set ${used} = greatest(${used} - 1, 0) ${returned}
          where ${live(sql, organizationId, userRef, sha256)}`
      }),

    changeWords: (organizationId, userRef, sha256, { from, to }) =>
      ephemeral(organizationId, async (sql) => {
        const { count } = await sql`
          update keystride.session set words = ${to.issued}, words_used = ${to.used}
          where ${live(sql, organizationId, userRef, sha256)} and ${holds(sql, from)}`
        if (count === 1) return { changed: true, words: to }
        const session = await find(sql, organizationId, userRef, sha256)
        return session === null ? null : { changed: false, words: session.words }
      }),

    markTypingFailed: (organizationId, userRef, sha256) =>
      ephemeral(organizationId, async (sql) => {
        await sql`
          update keystride.session set typing_failed = true where ${live(sql, organizationId, userRef, sha256)}`
      }),

    markReported: (organizationId, userRef, sha256, actionId) =>
      ephemeral(organizationId, async (sql) => {
        await sql`
          update keystride.session set reported_action = ${actionId}
          where ${live(sql, organizationId, userRef, sha256)}`
      }),

    // Durable, like endAll, because an ended session must not return after a crash.
    end: (organizationId, userRef, sha256) =>
      database.keyed(organizationId, async (sql) => {
        await sql`
          delete from keystride.session
          where organization_id = ${organizationId} and user_ref = ${userRef} and sha256 = ${bytes(sha256)}`
      }),

    endAll: (organizationId, userRef, memberRef, except) =>
      database.keyed(organizationId, async (sql) => {
        await sql`
          delete from keystride.session where organization_id = ${organizationId} and user_ref = ${userRef}
            and (${memberRef}::text is null or member_ref is null or member_ref = ${memberRef})
            and (${except === undefined ? null : bytes(except)}::bytea is distinct from sha256)`
      }),
  }
}

/** Ends every session of every organization. */
export async function endEverySession(database: Database): Promise<void> {
  const endSome = () =>
    database.asSystem(
      (sql) =>
        sql`delete from keystride.session where ctid = any (array(select ctid from keystride.session limit 5000))`,
    )
  while ((await endSome()).count > 0);
}

/** One statement, so that the first of several concurrent calls inserts, and the others wait for its row and return it. */
async function mintImplicit(
  sql: Transaction,
  organizationId: string,
  { sha256, userRef, memberRef, lifetimeMs }: NewSession,
) {
  // The time is constant within the statement, unlike clock_timestamp().
  const alive = sql`s.expires_at > statement_timestamp()`
  const [row] = await sql<(SessionRow & { sha256: Buffer; remaining_ms: number })[]>`
    insert into keystride.session as s (organization_id, user_ref, sha256, member_ref, implicit, expires_at)
    values (${organizationId}, ${userRef}, ${bytes(sha256)}, ${memberRef}, true,
      clock_timestamp() + ${lifetimeMs} * interval '1 millisecond')
    on conflict (organization_id, user_ref, member_ref) where implicit do update set
      sha256 = case when ${alive} then s.sha256 else excluded.sha256 end,
      used_biometric = case when ${alive} then s.used_biometric else 0 end,
      used_security_code = case when ${alive} then s.used_security_code else 0 end,
      typing_failed = ${alive} and s.typing_failed,
      reported_action = case when ${alive} then s.reported_action end,
      words = case when ${alive} then s.words end,
      words_used = case when ${alive} then s.words_used else 0 end,
      expires_at = case when ${alive} then s.expires_at else excluded.expires_at end
    returning ${columns(sql)}, sha256,
      extract(epoch from s.expires_at - clock_timestamp())::float8 * 1000 as remaining_ms`
  if (row === undefined) throw new Error('an upsert gave no row')
  return { ...toSession(row), sha256: Buffer.from(row.sha256).toString('hex'), remainingMs: row.remaining_ms }
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

const columns = (sql: Transaction) => sql`
  member_ref, member_version, user_ref, used_biometric, used_security_code, typing_failed, reported_action, words,
  words_used`

/** Whether the session has these words. */
const holds = (sql: Transaction, words: SessionWords | null) =>
  words === null ? sql`words is null` : sql`words = ${words.issued} and words_used = ${words.used}`

/** The bytes of a SHA-256 in hex. Other texts become bytes that no session has. */
const bytes = (sha256: string) => Buffer.from(sha256, 'hex')

function toSession(row: SessionRow): Session {
  return {
    userRef: row.user_ref,
    memberRef: row.member_ref,
    memberVersion: row.member_version === null ? null : Number(row.member_version),
    used: { biometric: row.used_biometric, security_code: row.used_security_code, typingFailed: row.typing_failed },
    reportedAction: row.reported_action,
    words: row.words === null ? null : { issued: row.words, used: row.words_used },
  }
}
