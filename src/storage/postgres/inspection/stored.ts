import { ExpectedFault } from '../../../base/expected-fault.js'
import type { Channel } from '../../../domain/alert.js'
import { type ChannelSettings, readSettings } from '../../../domain/alert-channels.js'
import type { ChannelFacts, OutboxFacts, SchemaFacts, StoredKey, TableFacts } from '../../inspection.js'
import type { Placement } from '../../placement.js'
import type { Client } from '../connection/with-client.js'
import { SCHEMAS } from '../schema/backup-role.js'
import { requireSchema } from '../schema/migrate.js'
import { shippedSchema } from '../schema/shipped-schema.js'
import { only } from './reading.js'

export async function readSchema(client: Client, url: string): Promise<SchemaFacts> {
  const { migrations } = shippedSchema()
  const { rows: made } = await client.query("select 1 where to_regclass('keystride_history.migration') is not null")
  const { rows } =
    made.length === 0
      ? { rows: [] }
      : await client.query<{ name: string }>('select name from keystride_history.migration order by id')
  const unfit = await requireSchema(url, { newer: false }).then(
    () => null,
    (error: unknown) => {
      if (error instanceof ExpectedFault) return error.message
      throw error
    },
  )
  return {
    found: rows.at(-1)?.name ?? null,
    wanted: migrations.at(-1)?.name ?? '',
    migrationsMissing: Math.max(0, migrations.length - rows.length),
    unfit,
  }
}

export async function readTables(client: Client): Promise<TableFacts[]> {
  const { rows } = await client.query<TableFacts>(`
    select schemaname || '.' || case when schemaname = 'pgboss' and relname ~ '^j[0-9a-f]{32}' then 'job, one queue' else relname end as "name", pg_total_relation_size(relid)::float8 as "bytes",
      n_live_tup::float8 as "liveRows", n_dead_tup::float8 as "deadRows",
      extract(epoch from greatest(last_vacuum, last_autovacuum))::float8 * 1000 as "lastVacuumAt"
    from pg_stat_user_tables where schemaname in (${SCHEMAS.map((schema) => `'${schema}'`).join(', ')})
    order by 2 desc, 1`)
  return rows
}

export async function readKeys(client: Client): Promise<StoredKey[]> {
  const { rows } = await client.query<{ organization_id: string; key_id: string; wrapped_key: Uint8Array }>(
    'select organization_id, key_id, wrapped_key from keystride.organization order by organization_id',
  )
  return rows.map((row) => ({ organizationId: row.organization_id, keyId: row.key_id, wrapped: row.wrapped_key }))
}

export async function readOutbox(client: Client): Promise<OutboxFacts> {
  const { rows } = await client.query<Omit<OutboxFacts, 'channels'>>(`
    select count(*)::int as "waiting",
      greatest(0, coalesce(extract(epoch from clock_timestamp() - min(due_at)), 0))::float8 as "overdueS"
    from keystride.alert_delivery where state = 'waiting'`)
  const { rows: channels } = await client.query<
    Omit<ChannelFacts, 'settings'> & { channel: Channel; settings: unknown }
  >(`
    select organization_id as "organizationId", channel, settings, failures,
      coalesce(closed_until > clock_timestamp(), false) as "closed"
    from keystride.alert_channel order by organization_id, channel`)
  return {
    ...only(rows),
    channels: channels.map((one) => ({ ...one, settings: understood(one.channel, one.settings) })),
  }
}

function understood(channel: Channel, stored: unknown): ChannelSettings | null {
  try {
    return readSettings(channel, stored)
  } catch {
    return null
  }
}

export async function readPlacements(client: Client): Promise<Placement[]> {
  const { rows } = await client.query<Placement>(`
    select organization_id as "organizationId", state, other, extract(epoch from since)::float8 * 1000 as since
    from keystride.placement order by since`)
  return rows
}

export async function readLastErasure(client: Client): Promise<number | null> {
  const { rows } = await client.query<{ at: Date | null }>('select max(at) as at from keystride.erasure')
  return only(rows).at?.getTime() ?? null
}
