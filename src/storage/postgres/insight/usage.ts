import type { ApiUsageDay, LoggedRequest, UsageEvent, UsageKind, UsageStore } from '../../usage.js'
import { within } from '../connection/attempts-within.js'
import type { Database, Transaction } from '../connection/client.js'

interface EventRow {
  kind: UsageKind
  at: Date
  n_accounts: number
  n_accounts_generic: number
  n_users_nominative: number
  n_users_generic: number
  over_quota: boolean
}

interface RequestRow {
  id: string
  api: string
  method: string
  route: string
  status: number
  duration_ms: number
}

/** Usage in PostgreSQL. */
export function postgresUsage(database: Database): UsageStore {
  return {
    history: (organizationId, { from, to }, { skip, limit }) =>
      database.scoped(organizationId, async (sql) => {
        const inWindow = sql`organization_id = ${organizationId} and at >= ${new Date(from)} and at < ${new Date(to)}`
        const rows = await sql<EventRow[]>`
          select ${eventColumns(sql)} from keystride.usage_event where ${inWindow} order by at, n offset ${skip} limit ${limit}`
        const [all] = await sql<{ n: number }[]>`select count(*)::int as n from keystride.usage_event where ${inWindow}`
        return { events: rows.map(toEvent), count: all?.n ?? 0 }
      }),

    before: (organizationId, at) =>
      database.scoped(organizationId, async (sql) => {
        const [row] = await sql<EventRow[]>`
          select ${eventColumns(sql)} from keystride.usage_event
          where organization_id = ${organizationId} and at < ${new Date(at)} order by at desc, n desc limit 1`
        return row === undefined ? null : toEvent(row)
      }),

    api: (organizationId, { from, to }) =>
      database.scoped(organizationId, async (sql) => {
        const counted = await sql<{ at: Date; class: string; n: number }[]>`
          select day::timestamp at time zone 'utc' as at, class, n::float8 as n from keystride.api_usage
          where organization_id = ${organizationId} and day >= (${new Date(from)}::timestamptz at time zone 'utc')::date
            and day::timestamp at time zone 'utc' < ${new Date(to)}
          order by day`
        const peaks = await sql<{ at: Date; n: number }[]>`
          with counted as (
            select coalesce(max(until), '-infinity') as until from keystride.attempt_counted
            where organization_id = ${organizationId}
          ), hourly as (
            select hour, n from keystride.attempt_count
            where organization_id = ${organizationId} and facet = 'users' and hour >= ${new Date(from)} and hour < ${new Date(to)}
            union all
            select date_trunc('hour', keystride.time_of(id), 'UTC'), count(distinct member_id)
            from keystride.authentication
            where organization_id = ${organizationId} and authenticated
              and id >= keystride.uuid_from(greatest(${new Date(from)}::timestamptz, (select until from counted)))
              and id < keystride.uuid_from(${new Date(to)})
            group by 1
          )
          select date_trunc('day', hour, 'UTC') as at, max(n)::int as n from hourly group by 1 order by 1`
        return daysOf(counted, peaks)
      }),

    requests: (organizationId, window, { skip, limit }, failed) =>
      database.scoped(organizationId, async (sql) => {
        const outcome = failed === null ? sql`true` : failed ? sql`status >= 400` : sql`status < 400`
        const wanted = sql`organization_id = ${organizationId} and ${within(sql, window)} and ${outcome}`
        const rows = await sql<RequestRow[]>`
          select ${requestColumns(sql)} from keystride.request_log where ${wanted}
          order by id desc offset ${skip} limit ${limit}`
        const [all] = await sql<{ n: number }[]>`select count(*)::int as n from keystride.request_log where ${wanted}`
        return { requests: rows.map(toRequest), count: all?.n ?? 0 }
      }),

    request: (organizationId, id) =>
      database.scoped(organizationId, async (sql) => {
        const [row] = await sql<RequestRow[]>`
          select ${requestColumns(sql)} from keystride.request_log where organization_id = ${organizationId} and id = ${id}`
        return row === undefined ? null : toRequest(row)
      }),

    add: async (counted, logged) => {
      const counts = counted.map((one) => ({ ...one, organization_id: one.organizationId }))
      const requests = logged.map((one) => ({
        ...one,
        organization_id: one.organizationId,
        duration_ms: one.durationMs,
      }))
      await database.call(
        (sql) =>
          sql`select keystride.add_usage(${JSON.stringify(counts)}::text::jsonb, ${JSON.stringify(requests)}::text::jsonb)`,
      )
      return null
    },

    addUpHeadcounts: () =>
      database.call(async (sql) => {
        const [row] = await sql<{ more: boolean }[]>`select keystride.add_up_headcounts() as more`
        return row?.more === true
      }),

    appendCheckpoints: async () => {
      await database.call((sql) => sql`select keystride.append_checkpoints()`)
    },

    forgetRequests: (before) =>
      database.call(async (sql) => {
        const [row] = await sql<{ more: boolean }[]>`select keystride.forget_requests(${new Date(before)}) as more`
        return row?.more === true
      }),
  }
}

const eventColumns = (sql: Transaction) => sql`
  kind, at, n_accounts, n_accounts_generic, n_users_nominative, n_users_generic, over_quota`

const requestColumns = (sql: Transaction) => sql`id, api, method, route, status, duration_ms`

function daysOf(
  counted: readonly { at: Date; class: string; n: number }[],
  peaks: readonly { at: Date; n: number }[],
): ApiUsageDay[] {
  const days = new Map<number, { byClass: Record<string, number>; nActiveUsersMax: number }>()
  const dayAt = (at: Date) => {
    const day = days.get(at.getTime()) ?? { byClass: {}, nActiveUsersMax: 0 }
    days.set(at.getTime(), day)
    return day
  }
  for (const one of counted) dayAt(one.at).byClass[one.class] = one.n
  for (const { at, n } of peaks) dayAt(at).nActiveUsersMax = n
  return [...days].map(([at, day]) => ({ at, ...day })).sort((a, b) => a.at - b.at)
}

const toEvent = (row: EventRow): UsageEvent => ({
  kind: row.kind,
  at: row.at.getTime(),
  nAccounts: row.n_accounts,
  nAccountsGeneric: row.n_accounts_generic,
  nUsersNominative: row.n_users_nominative,
  nUsersGeneric: row.n_users_generic,
  overQuota: row.over_quota,
})

const toRequest = (row: RequestRow): LoggedRequest => ({
  id: row.id,
  api: row.api,
  method: row.method,
  route: row.route,
  status: row.status,
  durationMs: row.duration_ms,
})
