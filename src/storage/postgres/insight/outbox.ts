import type { Channel } from '../../../domain/alert.js'
import type { Delivery, DeliveryNext, Outbox } from '../../outbox.js'
import type { Database, Transaction } from '../connection/client.js'
import { toChannel } from './alerts.js'
import { eventColumns, joined, toEvent } from './notifications.js'

type DeliveryRow = Parameters<typeof toEvent>[0] & {
  channel: Channel
  settings: unknown
  secret: Uint8Array | null
  failures: number
  refusals: number
  queued_at: Date
}

/** The outbox in PostgreSQL. A trigger fills it in the commit of the notification. */
export function postgresOutbox(database: Database): Outbox {
  return {
    claim: (most) =>
      database.call(async (sql) => {
        const rows = await sql<{ organization_id: string; id: string }[]>`
          select organization_id, id from keystride.claim_deliveries(${most})`
        return rows.map((row) => ({ organizationId: row.organization_id, id: row.id }))
      }),

    find: ({ organizationId, id }) =>
      database.scoped(organizationId, async (sql) => {
        const [row] = await sql<DeliveryRow[]>`
          select ${eventColumns(sql)}, d.channel, d.refusals, keystride.time_of(d.id) as queued_at, c.settings, c.secret,
            c.failures ${joined(sql)}
            join keystride.alert_delivery d on d.organization_id = n.organization_id and d.notification_id = n.id
            join keystride.alert_channel c on c.organization_id = d.organization_id and c.channel = d.channel
          where n.organization_id = ${organizationId} and d.id = ${id} and d.state = 'waiting'`
        return row === undefined ? null : toDelivery(row)
      }),

    settle: ({ organizationId, id }, { at, outcome, durationMs }, next) =>
      database.scoped(organizationId, async (sql) => {
        const [row] = await sql<{ channel: Channel }[]>`
          update keystride.alert_delivery set ${after(sql, next)}
          where organization_id = ${organizationId} and id = ${id} returning channel`
        // The delivery and its attempts were erased meanwhile.
        if (row === undefined) return
        await sql`
          insert into keystride.alert_attempt (organization_id, delivery_id, at, outcome, duration_ms)
          values (${organizationId}, ${id}, ${new Date(at)}, ${outcome}, ${durationMs}) on conflict do nothing`
        await sql`
          update keystride.alert_channel set ${channelAfter(sql, next)}
          where organization_id = ${organizationId} and channel = ${row.channel}`
      }),

    state: () =>
      database.call(async (sql) => {
        const [row] = await sql<{ waiting: number; oldest_waiting_s: number | null; channels_paused: number }[]>`
          select waiting, oldest_waiting_s, channels_paused from keystride.outbox_state()`
        if (row === undefined) throw new Error('outbox_state returned no row')
        return {
          waiting: row.waiting,
          oldestWaitingS: row.oldest_waiting_s,
          channelsPaused: row.channels_paused,
        }
      }),
  }
}

const inMs = (sql: Transaction, ms: number) => sql`clock_timestamp() + make_interval(secs => ${ms / 1000})`

const after = (sql: Transaction, next: DeliveryNext) => {
  if (next.state !== 'waiting') return sql`state = ${next.state}`
  return 'forMs' in next
    ? sql`due_at = ${inMs(sql, next.forMs)}, refusals = refusals + 1`
    : sql`due_at = clock_timestamp()`
}

/** A refused message shows that the channel works. */
const channelAfter = (sql: Transaction, next: DeliveryNext) =>
  'channelForMs' in next
    ? sql`failures = failures + 1, closed_until = ${inMs(sql, next.channelForMs)}`
    : sql`failures = 0, closed_until = null`

const toDelivery = (row: DeliveryRow): Delivery => ({
  ...toChannel(row.channel, row),
  event: toEvent(row),
  queuedAt: row.queued_at.getTime(),
  refusals: row.refusals,
  failures: row.failures,
})
