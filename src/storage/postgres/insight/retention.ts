import type { RetentionStore } from '../../retention.js'
import type { Database } from '../connection/client.js'
import { withClient } from '../connection/with-client.js'

/** Time-out of the deletions, for which no end user waits. */
const PATIENCE_MS = 10_000
/** A table in use is skipped until the next run, because queries behind a waiting lock would wait too. */
const LOCK_MS = 150
/** Sessions per statement, which takes some 20 ms, so that no other statement waits long for the connection. */
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

    async vacuumErased(signal) {
      const tables = await tablesToVacuum(database)
      const foreign = tables.filter(({ may }) => !may).map(({ name }) => name)
      if (foreign.length > 0)
        throw new Error(
          `the login does not own ${foreign.join(', ')}, so it cannot vacuum rows of erased people from their files`,
        )
      if (tables.length === 0) return
      // VACUUM runs outside of transactions and without a time-out.
      await withClient(
        database.server(),
        async (client) => {
          for (const { name } of tables)
            if (!signal.aborted) await client.query(`vacuum (analyze, index_cleanup on) ${name}`)
        },
        { queryMs: 0 },
      )
    },

    withEndedLinks: () =>
      database.call(async (sql) => {
        const rows = await sql<{ organization_id: string }[]>`
          select organization_id from keystride.organizations_with_ended_links()`
        return rows.map((row) => row.organization_id)
      }),
  }
}

/** A vacuum keeps rows that an older transaction may see, so a table is vacuumed again until this long after the newest erasure. */
const AGAIN_AFTER = '1 hour'

/** The tables without a vacuum since the newest erasure, small ones first, and the planner's statistics, which come last. */
async function tablesToVacuum(
  database: Database,
): Promise<readonly { readonly name: string; readonly may: boolean }[]> {
  const [newest] = await database.asSystem(
    (sql) => sql<{ at: string | null }[]>`select max(at)::text as at from keystride.erasure`,
  )
  const at = newest?.at ?? null
  if (at === null) return []
  return database.call(
    (sql) => sql<{ name: string; may: boolean }[]>`
      select format('%I.%I', c.relnamespace::regnamespace, c.relname) as name,
        pg_has_role(c.relowner, 'usage') or owns or case when current_setting('server_version_num')::int >= 170000
          then has_table_privilege(c.oid, 'MAINTAIN') else false end as may
      from pg_catalog.pg_class c left join pg_catalog.pg_stat_all_tables s on s.relid = c.oid,
        lateral (select pg_has_role(d.datdba, 'usage') as owns from pg_catalog.pg_database d where d.datname = current_database()) o
      where c.relkind = 'r' and (c.relnamespace = 'keystride'::regnamespace or (owns and c.oid = 'pg_catalog.pg_statistic'::regclass))
        and coalesce(s.last_vacuum, '-infinity') < ${at}::text::timestamptz + ${AGAIN_AFTER}::text::interval
      order by c.oid = 'pg_catalog.pg_statistic'::regclass, pg_catalog.pg_relation_size(c.oid)`,
    { patienceMs: PATIENCE_MS },
  )
}
