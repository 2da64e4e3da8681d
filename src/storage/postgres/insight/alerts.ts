import { type Channel, type EventKind, type RulesChange, rulesAfter } from '../../../domain/alert.js'
import { readSettings } from '../../../domain/alert-channels.js'
import type { AlertStore, DeliveryFilter, DeliveryState, LoggedDelivery } from '../../alerts.js'
import type { Database, Transaction } from '../connection/client.js'

interface ChannelRow {
  settings: unknown
  secret: Uint8Array | null
}

interface DeliveryRow {
  id: string
  notification_id: string
  kind: EventKind
  channel: Channel
  state: DeliveryState
  queued_at: Date
  due_at: Date
  refusals: number
  tries: number
  at: Date | null
  outcome: string | null
  duration_ms: number | null
}

/** Rules and channels of alerts in PostgreSQL. */
export function postgresAlerts(database: Database): AlertStore {
  return {
    rules: (organizationId) =>
      database.scoped(organizationId, async (sql) => rulesAfter(await rulesOf(sql, organizationId))),

    changeRules: (organizationId, change) =>
      database.scoped(organizationId, async (sql) => {
        await sql`
          insert into keystride.alerting (organization_id, derived_until)
          select organization_id, created_at from keystride.organization where organization_id = ${organizationId}
          on conflict do nothing`
        const [row] = await sql<{ rules: RulesChange }[]>`
          select rules from keystride.alerting where organization_id = ${organizationId} for update`
        const rules = rulesAfter(row?.rules ?? {}, change)
        await sql`
          update keystride.alerting set rules = ${JSON.stringify(rules)}::text::jsonb
          where organization_id = ${organizationId}`
        return rules
      }),

    channel: (organizationId, channel) =>
      database.scoped(organizationId, async (sql) => {
        const [row] = await sql<ChannelRow[]>`
          select settings, secret from keystride.alert_channel
          where organization_id = ${organizationId} and channel = ${channel}`
        return row === undefined ? null : toChannel(channel, row)
      }),

    setChannel: (organizationId, { settings: { channel, ...settings }, secret }) =>
      database.scoped(organizationId, async (sql) => {
        await sql`
          insert into keystride.alert_channel (organization_id, channel, settings, secret)
          values (${organizationId}, ${channel}, ${JSON.stringify(settings)}::text::jsonb, ${secret})
          on conflict (organization_id, channel) do update
          set settings = excluded.settings, secret = excluded.secret, failures = 0, closed_until = null`
      }),

    removeChannel: (organizationId, channel) =>
      database.scoped(organizationId, async (sql) => {
        const { count } = await sql`
          delete from keystride.alert_channel where organization_id = ${organizationId} and channel = ${channel}`
        await sql`
          update keystride.alert_delivery set state = 'dropped'
          where organization_id = ${organizationId} and channel = ${channel} and state = 'waiting'`
        return count === 1
      }),

    deliveries: (organizationId, filter, { skip, limit }) =>
      database.scoped(organizationId, async (sql) => {
        const matching = ofDeliveries(sql, organizationId, filter)
        const rows = await sql<DeliveryRow[]>`
          select d.id, d.notification_id, n.kind, d.channel, d.state, keystride.time_of(d.id) as queued_at, d.due_at, d.refusals,
            (select count(*)::int from keystride.alert_attempt a
              where a.organization_id = d.organization_id and a.delivery_id = d.id) as tries,
            last.at, last.outcome, last.duration_ms
          from (select * from keystride.alert_delivery where ${matching} order by id desc offset ${skip} limit ${limit}) d
            join keystride.notification n on n.organization_id = d.organization_id and n.id = d.notification_id
            left join lateral (select a.at, a.outcome, a.duration_ms from keystride.alert_attempt a
              where a.organization_id = d.organization_id and a.delivery_id = d.id order by a.at desc limit 1) last on true
          order by d.id desc`
        const [all] = await sql<{ n: number }[]>`
          select count(*)::int as n from keystride.alert_delivery where ${matching}`
        return { deliveries: rows.map(toDelivery), count: all?.n ?? 0 }
      }),

    channelStates: (organizationId) =>
      database.scoped(organizationId, async (sql) => {
        const rows = await sql<{ channel: Channel; failures: number; closed_until: Date | null; n_waiting: number }[]>`
          select c.channel, c.failures, c.closed_until, (select count(*)::int from keystride.alert_delivery d
            where d.organization_id = c.organization_id and d.channel = c.channel and d.state = 'waiting') as n_waiting
          from keystride.alert_channel c where c.organization_id = ${organizationId} order by c.channel`
        return rows.map((row) => ({
          channel: row.channel,
          nWaiting: row.n_waiting,
          failures: row.failures,
          closedUntil: row.closed_until?.getTime() ?? null,
        }))
      }),

    mayTest: (organizationId, channel, everyMs) =>
      database.scoped(organizationId, async (sql) => {
        const { count } = await sql`
          update keystride.alert_channel set tested_at = clock_timestamp()
          where organization_id = ${organizationId} and channel = ${channel}
            and coalesce(tested_at < clock_timestamp() - make_interval(secs => ${everyMs / 1000}), true)`
        return count === 1
      }),
  }
}

const ofDeliveries = (sql: Transaction, organizationId: string, { channel, state }: DeliveryFilter) => sql`
  organization_id = ${organizationId}
  and ${channel === null ? sql`true` : sql`channel = ${channel}`}
  and ${state === null ? sql`true` : sql`state = ${state}`}`

const toDelivery = (row: DeliveryRow): LoggedDelivery => ({
  id: row.id,
  notificationId: row.notification_id,
  kind: row.kind,
  channel: row.channel,
  state: row.state,
  queuedAt: row.queued_at.getTime(),
  dueAt: row.state === 'waiting' ? row.due_at.getTime() : null,
  refusals: row.refusals,
  tries: row.tries,
  lastTry:
    row.at === null ? null : { at: row.at.getTime(), outcome: row.outcome ?? '', durationMs: row.duration_ms ?? 0 },
})

async function rulesOf(sql: Transaction, organizationId: string): Promise<RulesChange> {
  const [row] = await sql<{ rules: RulesChange }[]>`
    select rules from keystride.alerting where organization_id = ${organizationId}`
  return row?.rules ?? {}
}

export const toChannel = (channel: Channel, { settings, secret }: ChannelRow) => ({
  settings: readSettings(channel, settings),
  secret,
})
