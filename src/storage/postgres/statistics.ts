import type { Bucket, TimeWindow } from '../../domain/time-window.js'
import type { StatisticsStore, Tally, UserSort, UserStatistics } from '../statistics.js'
import type { Database, Transaction } from './client.js'
import { likeText } from './like-text.js'

interface TallyRow {
  at: Date
  value: string
  n: number
  n_authenticated: number
  n_challenged: number
  n_blocked: number
  sum_confidence: number
  sum_biometrics: number
  n_biometrics: number
  sum_context: number
  n_context: number
}

interface UserRow {
  user_ref: string
  type: UserStatistics['type']
  n: number
  n_authenticated: number
  n_challenged: number
  n_blocked: number
  confidence: number | null
  confidence_biometrics: number | null
  last_at: Date | null
}

/** Statistics in PostgreSQL: closed hours from their counts, see the migration that makes them. */
export function postgresStatistics(database: Database): StatisticsStore {
  return {
    tallies: (organizationId, facet, { from, to }, bucket) =>
      database.scoped(organizationId, async (sql) => {
        const rows = await sql<TallyRow[]>`
          select at, value, sum(n)::int as n,
            sum(n_authenticated)::int as n_authenticated, sum(n_challenged)::int as n_challenged,
            sum(n_blocked)::int as n_blocked, sum(sum_confidence) as sum_confidence, sum(sum_biometrics) as sum_biometrics,
            sum(n_biometrics)::int as n_biometrics, sum(sum_context) as sum_context, sum(n_context)::int as n_context
          from keystride.counts(${facet}, ${new Date(from)}, ${new Date(to)}, ${bucket}) group by 1, 2 order by 1, 2`
        return rows.map(toTally)
      }),

    talliesOfUser: (organizationId, userRef, window, bucket) =>
      database.scoped(organizationId, async (sql) => {
        const rows = await sql<TallyRow[]>`
          select ${started(sql, sql`keystride.time_of(id)`, bucket, window.from)} as at, '' as value, count(*)::int as n,
            count(*) filter (where authenticated)::int as n_authenticated,
            count(*) filter (where recommended_action = 'challenge')::int as n_challenged,
            count(*) filter (where recommended_action = 'block')::int as n_blocked, sum(confidence) as sum_confidence,
            coalesce(sum(confidence_biometrics) filter (where method = 'biometric'), 0) as sum_biometrics,
            count(*) filter (where method = 'biometric')::int as n_biometrics,
            coalesce(sum(confidence_context), 0) as sum_context, count(confidence_context)::int as n_context
          from keystride.authentication
          where organization_id = ${organizationId} and user_ref = ${userRef} and ${within(sql, window)}
          group by 1 order by 1`
        return rows.map(toTally)
      }),

    blockedUsers: (organizationId, window, bucket) =>
      database.scoped(organizationId, async (sql) => {
        const rows = await sql<{ at: Date; n_users: number }[]>`
          select ${started(sql, sql`keystride.time_of(id)`, bucket, window.from)} as at,
            count(distinct account_id)::int as n_users
          from keystride.authentication
          where organization_id = ${organizationId} and recommended_action = 'block' and ${within(sql, window)}
          group by 1 order by 1`
        return rows.map((row) => ({ at: row.at.getTime(), nUsers: row.n_users }))
      }),

    users: (organizationId, window, { sort, descending, skip, limit, userRefFilter }) =>
      database.scoped(organizationId, async (sql) => {
        const like = userRefFilter === null ? sql`true` : sql`a.user_ref like ${likeText(userRefFilter)}`
        const direction = descending ? sql`desc nulls last` : sql`asc nulls first`
        const rows = await sql<UserRow[]>`
          with attempts as (
            select account_id, count(*)::int as n, count(*) filter (where authenticated)::int as n_authenticated,
              count(*) filter (where recommended_action = 'challenge')::int as n_challenged,
              count(*) filter (where recommended_action = 'block')::int as n_blocked, avg(confidence) as confidence,
              avg(confidence_biometrics) filter (where method = 'biometric') as confidence_biometrics,
              max(created_at) as last_at
            from keystride.authentication
            where organization_id = ${organizationId} and ${within(sql, window)} group by account_id)
          select a.user_ref, a.type, coalesce(t.n, 0) as n, coalesce(t.n_authenticated, 0) as n_authenticated,
            coalesce(t.n_challenged, 0) as n_challenged, coalesce(t.n_blocked, 0) as n_blocked, t.confidence,
            t.confidence_biometrics, t.last_at
          from keystride.account a left join attempts t on t.account_id = a.id
          where a.organization_id = ${organizationId} and ${like}
          order by ${SORTS[sort](sql)} ${direction}, a.user_ref offset ${skip} limit ${limit}`
        return rows.map(toUser)
      }),

    countAttempts: () =>
      database.call(async (sql) => {
        const [row] = await sql<{ more: boolean }[]>`select keystride.count_attempts() as more`
        return row?.more === true
      }),
  }
}

const SORTS: Record<UserSort, (sql: Transaction) => ReturnType<typeof within>> = {
  n: (sql) => sql`coalesce(t.n, 0)`,
  authenticated: (sql) => sql`coalesce(t.n_authenticated, 0)`,
  challenged: (sql) => sql`coalesce(t.n_challenged, 0)`,
  blocked: (sql) => sql`coalesce(t.n_blocked, 0)`,
  confidence: (sql) => sql`t.confidence`,
  last: (sql) => sql`t.last_at`,
  user_ref: (sql) => sql`a.user_ref`,
}

/** The attempts of a window: ids begin with the time, and lead to the partitions. */
export const within = (sql: Transaction, { from, to }: TimeWindow) => sql`
  id >= keystride.uuid_from(${new Date(from)}) and id < keystride.uuid_from(${new Date(to)})`

const started = (sql: Transaction, at: ReturnType<typeof within>, bucket: Bucket | null, from: number) =>
  bucket === null ? sql`${new Date(from)}::timestamptz` : sql`date_trunc(${bucket}, ${at}, 'UTC')`

const toTally = (row: TallyRow): Tally => ({
  at: row.at.getTime(),
  value: row.value,
  n: row.n,
  nAuthenticated: row.n_authenticated,
  nChallenged: row.n_challenged,
  nBlocked: row.n_blocked,
  sumConfidence: row.sum_confidence,
  sumBiometrics: row.sum_biometrics,
  nBiometrics: row.n_biometrics,
  sumContext: row.sum_context,
  nContext: row.n_context,
})

function toUser(row: UserRow): UserStatistics {
  return {
    userRef: row.user_ref,
    type: row.type,
    n: row.n,
    nAuthenticated: row.n_authenticated,
    nChallenged: row.n_challenged,
    nBlocked: row.n_blocked,
    confidence: row.confidence,
    confidenceBiometrics: row.confidence_biometrics,
    lastAt: row.last_at?.getTime() ?? null,
  }
}
