import type { EventDetails, EventKind } from '../../../domain/alert.js'
import type { Notification, NotificationFilter, NotificationStore } from '../../notifications.js'
import type { Database, Transaction } from '../connection/client.js'

interface NotificationRow {
  id: string
  kind: EventKind
  at: Date
  user_ref: string | null
  member_ref: string | null
  authentication_id: string | null
  details: EventDetails
  read_at: Date | null
}

/** Time-out for some hundred rows with their indexes. No end user waits for it. */
const JOB = { patienceMs: 10_000 }

/** Notifications in PostgreSQL; SQL functions write them. */
export function postgresNotifications(database: Database): NotificationStore {
  return {
    page: (organizationId, filter, { skip, limit }) =>
      database.scoped(organizationId, async (sql) => {
        const rows = await sql<NotificationRow[]>`
          select ${eventColumns(sql)}, ${readAt(sql)} as read_at ${joined(sql)}
          where ${matching(sql, organizationId, filter)} order by n.id desc offset ${skip} limit ${limit}`
        const [all] = await sql<{ n: number }[]>`
          select count(*)::int as n from keystride.notification n
            left join keystride.alerting s on s.organization_id = n.organization_id
          where ${matching(sql, organizationId, filter)}`
        return {
          notifications: rows.map(toNotification),
          count: all?.n ?? 0,
          unread: await countUnread(sql, organizationId),
        }
      }),

    markRead: (organizationId, id) =>
      database.scoped(organizationId, async (sql) => {
        const { count } = await sql`
          update keystride.notification set read_at = coalesce(read_at, clock_timestamp())
          where organization_id = ${organizationId} and id = ${id}`
        return count === 1
      }),

    markAllRead: (organizationId) =>
      database.scoped(organizationId, async (sql) => {
        await sql`
          insert into keystride.alerting (organization_id, read_all_at, derived_until)
          select organization_id, clock_timestamp(), created_at from keystride.organization
          where organization_id = ${organizationId}
          on conflict (organization_id) do update set read_all_at = excluded.read_all_at`
      }),

    unread: (organizationId) => database.scoped(organizationId, (sql) => countUnread(sql, organizationId)),

    derive: (since) =>
      database.call(async (sql) => {
        const [row] = await sql<{ more: boolean }[]>`
          select keystride.derive_notifications(${since === null ? null : new Date(since)}) as more`
        return row?.more === true
      }, JOB),

    noteOutage: async (beganAt, endedAt) => {
      await database.call((sql) => sql`select keystride.note_outage(${new Date(beganAt)}, ${new Date(endedAt)})`)
    },

    forget: (before) =>
      database.call(async (sql) => {
        const [row] = await sql<{ more: boolean }[]>`select keystride.forget_notifications(${new Date(before)}) as more`
        return row?.more === true
      }, JOB),
  }
}

/** User references are those of the present account, because a notification itself names nobody. */
export const joined = (sql: Transaction) => sql`
  from keystride.notification n
    left join keystride.account a on a.organization_id = n.organization_id and a.id = n.account_id
    left join keystride.member m on m.organization_id = n.organization_id and m.id = n.member_id
    left join keystride.alerting s on s.organization_id = n.organization_id`

export const eventColumns = (sql: Transaction) => sql`
  n.id, n.kind, n.at, a.user_ref, m.member_ref, n.authentication_id, n.details`

const readAt = (sql: Transaction) => sql`
  coalesce(n.read_at, case when n.noted_at <= s.read_all_at then s.read_all_at end)`

const matching = (sql: Transaction, organizationId: string, { kind, read }: NotificationFilter) => sql`
  n.organization_id = ${organizationId} and ${kind === null ? sql`true` : sql`n.kind = ${kind}`}
  and ${read === null ? sql`true` : sql`(${readAt(sql)} is not null) = ${read}`}`

async function countUnread(sql: Transaction, organizationId: string): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    select count(*)::int as n from keystride.notification
    where organization_id = ${organizationId} and read_at is null and noted_at > coalesce(
      (select read_all_at from keystride.alerting where organization_id = ${organizationId}), '-infinity')`
  return row?.n ?? 0
}

export const toEvent = (row: Omit<NotificationRow, 'read_at'>) => ({
  kind: row.kind,
  at: row.at.getTime(),
  userRef: row.user_ref,
  memberRef: row.member_ref,
  details: row.details,
})

const toNotification = (row: NotificationRow): Notification => ({
  ...toEvent(row),
  id: row.id,
  authenticationId: row.authentication_id,
  readAt: row.read_at?.getTime() ?? null,
})
