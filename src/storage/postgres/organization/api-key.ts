import type { KeyScope } from '../../../domain/organization.js'
import type { ApiKeyRecord, ApiKeyStore, KeyHolder } from '../../api-key.js'
import type { Database } from '../connection/client.js'
import { type KeyRateRow, toKeyRate } from './organization.js'

interface ApiKeyRow {
  organization_id: string
  id: string
  label: string
  scopes: KeyScope[]
  created_at: Date
  expires_at: Date | null
  revoked_at: Date | null
}

type HolderRow = Pick<ApiKeyRow, 'organization_id' | 'id' | 'scopes'> & KeyRateRow

/** API keys in PostgreSQL. `resolve` is one of the few look-ups across organizations, and has its own SQL function. */
export function postgresApiKeys(database: Database): ApiKeyStore {
  return {
    add: (record, sha256) =>
      database.scoped(record.organizationId, async (sql) => {
        await sql`
          insert into keystride.api_key (organization_id, id, label, scopes, sha256, created_at, expires_at)
          values (${record.organizationId}, ${record.id}, ${record.label}, ${`{${record.scopes.join(',')}}`}, ${sha256},
            ${new Date(record.createdAt)}, ${record.expiresAt == null ? null : new Date(record.expiresAt)})`
      }),

    resolve: (sha256) =>
      database.call(async (sql) => {
        const [row] = await sql<HolderRow[]>`
          select organization_id, id, scopes, key_rate, key_burst from keystride.resolve_api_key(${sha256})`
        return row === undefined ? null : toHolder(row)
      }),

    list: (organizationId) =>
      database.scoped(organizationId, async (sql) => {
        const rows = await sql<ApiKeyRow[]>`
          select organization_id, id, label, to_jsonb(scopes) as scopes, created_at, expires_at, revoked_at
          from keystride.api_key where organization_id = ${organizationId} order by created_at, id`
        return rows.map(toApiKey)
      }),

    page: (organizationId, live, { skip, limit }) =>
      database.scoped(organizationId, async (sql) => {
        const wanted = sql`organization_id = ${organizationId}
          and (not ${live}::boolean or (revoked_at is null and (expires_at is null or expires_at > now())))`
        const rows = await sql<ApiKeyRow[]>`
          select organization_id, id, label, to_jsonb(scopes) as scopes, created_at, expires_at, revoked_at
          from keystride.api_key where ${wanted} order by id desc offset ${skip} limit ${limit}`
        const [all] = await sql<{ n: number }[]>`select count(*)::int as n from keystride.api_key where ${wanted}`
        return { keys: rows.map(toApiKey), count: all?.n ?? 0 }
      }),

    find: (organizationId, keyId) =>
      database.scoped(organizationId, async (sql) => {
        const [row] = await sql<ApiKeyRow[]>`
          select organization_id, id, label, to_jsonb(scopes) as scopes, created_at, expires_at, revoked_at
          from keystride.api_key where organization_id = ${organizationId} and id = ${keyId}`
        return row === undefined ? null : toApiKey(row)
      }),

    revoke: (organizationId, keyId, at) =>
      database.scoped(organizationId, async (sql) => {
        const { count } = await sql`
          update keystride.api_key set revoked_at = ${new Date(at)}
          where organization_id = ${organizationId} and id = ${keyId} and revoked_at is null`
        return count === 1
      }),
  }
}

const toHolder = (row: HolderRow): KeyHolder => ({
  organizationId: row.organization_id,
  keyId: row.id,
  scopes: row.scopes,
  rate: toKeyRate(row),
})

function toApiKey(row: ApiKeyRow): ApiKeyRecord {
  return {
    id: row.id,
    organizationId: row.organization_id,
    label: row.label,
    scopes: row.scopes,
    createdAt: row.created_at.getTime(),
    expiresAt: row.expires_at?.getTime() ?? null,
    revokedAt: row.revoked_at?.getTime() ?? null,
  }
}
