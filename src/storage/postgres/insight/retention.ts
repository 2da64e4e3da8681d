import type { RetentionStore } from '../../retention.js'
import type { Database } from '../connection/client.js'

/** No end user waits for these. */
const PATIENCE_MS = 10_000
/** A table in use is skipped until the next run: queries behind a waiting lock would wait too. */
const LOCK_MS = 150
/** Sessions per statement: some 20 ms, so that no other statement waits long for the connection. */
const SWEPT_AT_ONCE = 2000

/** Retention in PostgreSQL, by SQL functions of the schema. */
export function postgresRetention(database: Database): RetentionStore {
  return {
    makeAhead: (ahead, now) =>
      database.asSystem(async (sql) => {
        await sql`select set_config('lock_timeout', ${String(LOCK_MS)}, true)`
        const [row] = await sql<{ n: number }[]>`
          select keystride.ensure_partitions(${ahead}, ${new Date(now)}::timestamptz) as n`
        return row?.n ?? 0
      }),

    dropOld: (days, now) =>
      database.asSystem(async (sql) => {
        const [row] = await sql<{ n: number }[]>`
          select keystride.drop_partitions(${days}, ${new Date(now)}::timestamptz) as n`
        return row?.n ?? 0
      }),

    forgetOld: (days, now) =>
      database.call(
        async (sql) => {
          const [row] = await sql<{ more: boolean }[]>`select keystride.forget_old(${new Date(now)}, ${days}) as more`
          return row?.more === true
        },
        { patienceMs: PATIENCE_MS },
      ),

    sweepSessions: () =>
      database.call(
        async (sql) => {
          const [row] = await sql<{ more: boolean }[]>`select keystride.sweep_sessions(${SWEPT_AT_ONCE}) as more`
          return row?.more === true
        },
        { patienceMs: PATIENCE_MS },
      ),

    withEndedLinks: () =>
      database.call(async (sql) => {
        const rows = await sql<{ organization_id: string }[]>`
          select organization_id from keystride.organizations_with_ended_links()`
        return rows.map((row) => row.organization_id)
      }),
  }
}
