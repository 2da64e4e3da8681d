import type { NewSession, Session, SessionStore, SessionWords } from '../../session.js'
import type { Database, Transaction } from '../connection/client.js'
import { mintTogether, reserveTogether } from './session-batches.js'
import { type SessionRow, sessionBytes, sessionColumns, toSession } from './session-row.js'

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
    keepsCarried: false,

    mint: mintTogether(database),

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

    reserve: reserveTogether(database),

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
          where organization_id = ${organizationId} and user_ref = ${userRef} and sha256 = ${sessionBytes(sha256)}`
      }),

    endAll: (organizationId, userRef, memberRef, except) =>
      database.keyed(organizationId, async (sql) => {
        await sql`
          delete from keystride.session where organization_id = ${organizationId} and user_ref = ${userRef}
            and (${memberRef}::text is null or member_ref is null or member_ref = ${memberRef})
            and (${except === undefined ? null : sessionBytes(except)}::bytea is distinct from sha256)`
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
  const alive = sql`session.expires_at > statement_timestamp()`
  const [row] = await sql<(SessionRow & { sha256: Buffer; remaining_ms: number })[]>`
    insert into keystride.session (organization_id, user_ref, sha256, member_ref, implicit, expires_at)
    values (${organizationId}, ${userRef}, ${sessionBytes(sha256)}, ${memberRef}, true,
      clock_timestamp() + ${lifetimeMs} * interval '1 millisecond')
    on conflict (organization_id, user_ref, member_ref) where implicit do update set
      sha256 = case when ${alive} then session.sha256 else excluded.sha256 end,
      used_biometric = case when ${alive} then session.used_biometric else 0 end,
      used_security_code = case when ${alive} then session.used_security_code else 0 end,
      typing_failed = ${alive} and session.typing_failed,
      reported_action = case when ${alive} then session.reported_action end,
      words = case when ${alive} then session.words end,
      words_used = case when ${alive} then session.words_used else 0 end,
      expires_at = case when ${alive} then session.expires_at else excluded.expires_at end
    returning ${sessionColumns(sql)}, sha256,
      extract(epoch from session.expires_at - clock_timestamp())::float8 * 1000 as remaining_ms`
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
    select ${sessionColumns(sql)} from keystride.session where ${live(sql, organizationId, userRef, sha256)}`
  return row === undefined ? null : toSession(row)
}

const live = (sql: Transaction, organizationId: string, userRef: string, sha256: string) => sql`
  organization_id = ${organizationId} and user_ref = ${userRef} and sha256 = ${sessionBytes(sha256)}
  and expires_at > clock_timestamp()`

/** Whether the session has these words. */
const holds = (sql: Transaction, words: SessionWords | null) =>
  words === null ? sql`words is null` : sql`words = ${words.issued} and words_used = ${words.used}`
