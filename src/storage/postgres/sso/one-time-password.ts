import type { OneTimePasswordStore } from '../../one-time-password.js'
import type { Database, Transaction } from '../connection/client.js'

/** One-time passwords in PostgreSQL, also with Redis: a flush of Redis must not restore used tries. */
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
        select greatest(0, 1000 * extract(epoch from case
          when ${wrongToday(sql)} >= ${wrongPerDay} then wrong_since + interval '24 hours' else sent_at[1] + interval '1 hour' end
          - clock_timestamp()))::float8 as wait_ms
        from keystride.one_time_password p where organization_id = ${organizationId} and user_ref = ${userRef}`
      return row?.wait_ms ?? 0
    }),

  try: (organizationId, userRef) =>
    database.keyed(organizationId, async (sql) => {
      const [open] = await sql<{ hash: Uint8Array; tries_left: number }[]>`
        update keystride.one_time_password p set tries_left = tries_left - 1, wrong = ${wrongToday(sql)} + 1,
          wrong_since = case when ${wrongToday(sql)} = 0 then clock_timestamp() else wrong_since end
        where organization_id = ${organizationId} and user_ref = ${userRef} and hash is not null and tries_left > 0
          and expires_at > clock_timestamp()
        returning hash, tries_left`
      if (open !== undefined)
        return { outcome: 'open' as const, hash: new Uint8Array(open.hash), triesLeft: open.tries_left }
      const [row] = await sql<{ expired: boolean }[]>`
        select hash is not null and expires_at <= clock_timestamp() as expired from keystride.one_time_password
        where organization_id = ${organizationId} and user_ref = ${userRef}`
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

const wrongToday = (sql: Transaction) => sql`
  (case when p.wrong_since > clock_timestamp() - interval '24 hours' then p.wrong else 0 end)`
