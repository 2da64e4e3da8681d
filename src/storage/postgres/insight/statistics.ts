import type { Bucket, TimeWindow } from '../../../domain/time-window.js'
import type { StatisticsStore, Tally } from '../../statistics.js'
import { within } from '../connection/attempts-within.js'
import type { Database, Sql, Transaction } from '../connection/client.js'
import { usersTable } from './users-table.js'

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

/** Time-out for one more hour of a large organization, or its first totals (10 to 30 s for 100,000 users). No end user waits. */
const COUNT_PATIENCE_MS = 180_000

/** Statistics in PostgreSQL, from counts per hour and from attempts that are not counted yet; see the SQL functions. */
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

    talliesOfUser: (organizationId, userRef, { facet, window, bucket }) =>
      database.scoped(organizationId, async (sql) => {
        const rows = await sql<TallyRow[]>`
          select ${started(sql, sql`keystride.time_of(id)`, bucket, window.from)} as at, f.value, count(*)::int as n,
            count(*) filter (where authenticated)::int as n_authenticated,
            count(*) filter (where recommended_action = 'challenge')::int as n_challenged,
            count(*) filter (where recommended_action = 'block')::int as n_blocked, sum(confidence) as sum_confidence,
            coalesce(sum(confidence_biometrics) filter (where method = 'biometric'), 0) as sum_biometrics,
            count(*) filter (where method = 'biometric')::int as n_biometrics,
            coalesce(sum(confidence_context), 0) as sum_context, count(confidence_context)::int as n_context
          from keystride.authentication a, lateral (select ${facetOf(sql, facet)} as value) f
          where organization_id = ${organizationId} and user_ref = ${userRef} and ${within(sql, window)}
            and f.value is not null
          group by 1, 2 order by 1, 2`
        return rows.map(toTally)
      }),

    blockedUsers: (organizationId, window, bucket) =>
      database.scoped(organizationId, async (sql) => {
        const days = bucket === 'day' ? await countedDays(sql, organizationId, window) : null
        const { from, to } = window
        const left =
          days === null
            ? [window]
            : [
                { from, to: days.from },
                { from: days.to, to },
              ]
        const raw = left.map(
          (rest) => sql`
            select at, count(*)::int as n_users from (
              select distinct ${started(sql, sql`created_at`, bucket, from)} as at, account_id
              from keystride.authentication
              where organization_id = ${organizationId} and recommended_action = 'block' and ${within(sql, rest)}) blocked
            group by 1`,
        )
        const rows = await sql<{ at: Date; n_users: number }[]>`
          ${raw.reduce((all, one) => sql`${all} union all ${one}`)}
          union all
          select day, n from keystride.attempt_day
          where organization_id = ${organizationId} and facet = 'blocked-users'
            and day >= ${new Date(days?.from ?? 0)} and day < ${new Date(days?.to ?? 0)}
          order by 1`
        return rows.map((row) => ({ at: row.at.getTime(), nUsers: row.n_users }))
      }),

    users: (organizationId, window, order) => usersTable(database, organizationId, window, order),

    async countAttempts() {
      const count = async (call: (sql: Sql) => Promise<{ more: boolean }[]>) =>
        (await database.call(call, { patienceMs: COUNT_PATIENCE_MS }))[0]?.more === true
      if (await count((sql) => sql`select keystride.count_attempts() as more`)) return true
      const days = await count((sql) => sql`select keystride.count_days() as more`)
      const totals = await count((sql) => sql`select keystride.slide_totals() as more`)
      return days || totals
    },

    async countAgain(organizationId, since) {
      await database.scoped(organizationId, (sql) => sql`select keystride.count_again(${new Date(since)})`)
    },
  }
}

/** The value of a facet of an attempt `a`, as in the SQL function `counts`. */
const facetOf = (sql: Transaction, facet: string) => {
  if (facet === 'all') return sql`''`
  if (facet === 'method') return sql`a.method`
  if (facet === 'reason') return sql`a.reason`
  if (facet === 'confidence') return sql`keystride.confidence_bin(a.method, a.confidence)`
  return sql`a.facets ->> ${facet}`
}

/** The whole days of a window that are counted; null if there are none. */
async function countedDays(
  sql: Transaction,
  organizationId: string,
  { from, to }: TimeWindow,
): Promise<TimeWindow | null> {
  const [counted] = await sql<{ first: Date; last: Date }[]>`
    select date_trunc('day', ${new Date(from)}::timestamptz + interval '24 hours' - interval '1 microsecond', 'UTC') as first,
      least(date_trunc('day', ${new Date(to)}::timestamptz, 'UTC'), greatest(days_until, 'epoch')) as last
    from keystride.attempt_counted where organization_id = ${organizationId}`
  if (counted === undefined || counted.last <= counted.first) return null
  return { from: counted.first.getTime(), to: counted.last.getTime() }
}

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
