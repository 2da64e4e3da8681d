import type { KeyCounts, WrappedKeyStore } from '../../wrapped-key.js'
import type { Database, Transaction } from '../connection/client.js'

interface WrappedRow {
  organization_id: string
  wrapped_key: Uint8Array
}

/** Wrapped data keys on the organizations' rows in PostgreSQL. Methods over all organizations act as `keystride_system`. */
export function postgresWrappedKeys(database: Database): WrappedKeyStore {
  return {
    find: (organizationId) =>
      database.scoped(organizationId, async (sql) => {
        const [row] = await sql<Pick<WrappedRow, 'wrapped_key'>[]>`
          select wrapped_key from keystride.organization where organization_id = ${organizationId}`
        return row?.wrapped_key ?? null
      }),

    counts: () => database.asSystem(counts),

    wrappedByOthers: (keyId, after, limit) =>
      database.asSystem(async (sql) => {
        const rows = await sql<WrappedRow[]>`
          select organization_id, wrapped_key from keystride.organization
          where key_id <> ${keyId} and (${after}::uuid is null or organization_id > ${after}::uuid)
          order by organization_id limit ${limit}`
        return rows.map((row) => ({ organizationId: row.organization_id, wrapped: row.wrapped_key }))
      }),

    swap: (organizationId, before, after, check) =>
      database.scoped(organizationId, async (sql) => {
        const [row] = await sql<Pick<WrappedRow, 'wrapped_key'>[]>`
          update keystride.organization set wrapped_key = ${after}
          where organization_id = ${organizationId} and wrapped_key = ${before} returning wrapped_key`
        if (row === undefined) return false
        check(row.wrapped_key)
        return true
      }),

    alone: (change) =>
      database.asSystem(async (sql) => {
        await sql`select pg_advisory_xact_lock(7241865325823966)`
        return change(await counts(sql))
      }),
  }
}

/** Blocks `alone` until this transaction ends, so that `alone` sees every key that the transaction wraps. */
export async function lockKeyChanges(sql: Transaction): Promise<void> {
  await sql`select pg_advisory_xact_lock_shared(7241865325823966)`
}

async function counts(sql: Transaction): Promise<KeyCounts> {
  const rows = await sql<{ key_id: string; n: number }[]>`
    select key_id, count(*)::int as n from keystride.organization group by key_id order by min(created_at)`
  return new Map(rows.map((row) => [row.key_id, row.n]))
}
