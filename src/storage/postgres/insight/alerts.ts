import { type Channel, type RulesChange, rulesAfter } from '../../../domain/alert.js'
import { readSettings } from '../../../domain/alert-channels.js'
import type { AlertStore } from '../../alerts.js'
import type { Database, Transaction } from '../connection/client.js'

interface ChannelRow {
  settings: unknown
  secret: Uint8Array | null
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

async function rulesOf(sql: Transaction, organizationId: string): Promise<RulesChange> {
  const [row] = await sql<{ rules: RulesChange }[]>`
    select rules from keystride.alerting where organization_id = ${organizationId}`
  return row?.rules ?? {}
}

export const toChannel = (channel: Channel, { settings, secret }: ChannelRow) => ({
  settings: readSettings(channel, settings),
  secret,
})
