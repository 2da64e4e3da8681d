import type { OneTimePasswordStore } from '../../one-time-password.js'
import type { Database, Transaction } from '../connection/client.js'

/** One-time passwords in PostgreSQL, also if Redis is configured, because a flush of Redis must not restore used tries. */
export const postgresOneTimePasswords = (database: Database): OneTimePasswordStore => ({
  issue: (organizationId, userRef, hash, { lifetimeMs, tries, sendsPerHour, wrongPerDay }) =>
    database.keyed(organizationId, async (sql) => {
      const recent = recentSends(sql)
      const { count } = await sql`
        insert into keystride.one_time_password as p
          (organization_id, user_ref, hash, tries_left, expires_at, sent_at, wrong_since)
        values (${organizationId}, ${userRef}, ${Buffer.from(hash)}, ${tries},
          clock_timestamp() + ${lifetimeMs} * interval '1 millisecond', array[clock_timestamp()], clock_timestamp())
        on conflict (organization_id, user_ref) do update set hash = excluded.hash, tries_left = excluded.tries_left,
          expires_at = excluded.expires_at, sent_at = ${recent} || clock_timestamp()
        where cardinality(${recent}) < ${sendsPerHour} and ${wrongToday(sql)} < ${wrongPerDay}`
      if (count === 1) return null
      const [row] = await sql<{ wait_ms: number }[]>`
        select case when ${wrongToday(sql)} >= ${wrongPerDay} then ${untilForgotten(sql)}
          else ${msUntil(sql, sql`sent_at[1] + interval '1 hour'`)} end as wait_ms
        from keystride.one_time_password p where organization_id = ${organizationId} and user_ref = ${userRef}`
      return row?.wait_ms ?? 0
    }),

  // Each try sets `wrong_since`. With a fixed day, ten tries at its end and ten at the start of the next could be a minute apart.
  try: (organizationId, userRef, { wrongPerDay }) =>
    database.keyed(organizationId, async (sql) => {
      const [open] = await sql<{ hash: Uint8Array }[]>`
        update keystride.one_time_password p
        set tries_left = tries_left - 1, wrong = ${wrongToday(sql)} + 1, wrong_since = clock_timestamp()
        where organization_id = ${organizationId} and user_ref = ${userRef} and hash is not null and tries_left > 0
          and expires_at > clock_timestamp() and ${wrongToday(sql)} < ${wrongPerDay}
        returning hash`
      if (open !== undefined) return { outcome: 'open' as const, hash: new Uint8Array(open.hash) }
      const [row] = await sql<{ expired: boolean; wait_ms: number | null }[]>`
        select hash is not null and expires_at <= clock_timestamp() as expired,
          case when ${wrongToday(sql)} >= ${wrongPerDay} then ${untilForgotten(sql)} end as wait_ms
        from keystride.one_time_password p where organization_id = ${organizationId} and user_ref = ${userRef}`
      if (row?.wait_ms != null) return { outcome: 'wait' as const, waitMs: row.wait_ms }
      return { outcome: row?.expired === true ? ('expired' as const) : ('none' as const) }
    }),

  redeem: (organizationId, userRef, hash) =>
    database.keyed(organizationId, async (sql) => {
      const { count } = await sql`
        update keystride.one_time_password set hash = null, wrong = 0
        where organization_id = ${organizationId} and user_ref = ${userRef} and hash = ${Buffer.from(hash)}
          and expires_at > clock_timestamp()`
      return count === 1
    }),
})

const recentSends = (sql: Transaction) => sql`
  array(select t from unnest(p.sent_at) t where t > clock_timestamp() - interval '1 hour' order by t)`

/** Milliseconds until a time; 0 if it is past. */
const msUntil = (sql: Transaction, time: ReturnType<Transaction>) => sql`
  greatest(0, 1000 * extract(epoch from ${time} - clock_timestamp()))::float8`

const untilForgotten = (sql: Transaction) => msUntil(sql, sql`p.wrong_since + interval '24 hours'`)

const wrongToday = (sql: Transaction) => sql`
  (case when p.wrong_since > clock_timestamp() - interval '24 hours' then p.wrong else 0 end)`
