import type { Client } from '../connection/with-client.js'

/** A table with rows of organizations. */
export interface MovedTable {
  readonly name: string
  /** Columns that are written; the others are generated. */
  readonly columns: readonly string[]
  readonly key: readonly { readonly name: string; readonly type: string }[]
  /** Rows are only added. */
  readonly appendOnly: boolean
  /** Jobs work on every organization that this table names, so its rows come last, with the switch. */
  readonly late: boolean
  /** Whether an insertion or update is refused once the source is closed. */
  readonly refuses: boolean
}

/** Archives of exports, which do not move: they are ordered anew. */
export const ARCHIVES = ['export_piece', 'export_archive']
const STAYING = ['placement', 'moved_row', ...ARCHIVES]
/**
 * Tables that jobs write for all organizations in one statement. A write of a job after the switch is repeated by the destination's job.
 */
const OF_JOBS = [
  ...['headcount', 'headcount_change', 'usage_event', 'api_usage', 'request_log', 'comparison_set'],
  ...['attempt_counted', 'attempt_count', 'attempt_day', 'attempt_recent', 'user_total', 'user_totaled'],
  ...['notification', 'alert_delivery', 'alert_attempt', 'alerting'],
]
/** Tables by which jobs find organizations. */
const LATE = ['headcount', 'attempt_counted', 'user_totaled', 'alerting', 'alert_channel']

/**
 * The tables that move, read from the catalog, so that none is forgotten. The organization's row comes first, because rows that are only
 * added are deleted with it.
 */
export async function movedTables(client: Client): Promise<MovedTable[]> {
  const { rows } = await client.query<Omit<MovedTable, 'late' | 'refuses'>>(`
    select c.relname as name,
      (select json_agg(a.attname order by a.attnum) from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns,
      (select json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod)) order by k.n)
        from pg_index i cross join unnest(i.indkey::int2[]) with ordinality k (attnum, n)
          join pg_attribute a on a.attrelid = c.oid and a.attnum = k.attnum
        where i.indrelid = c.oid and i.indisprimary) as key,
      not has_table_privilege('keystride_system', c.oid, 'delete') as "appendOnly"
    from pg_class c join pg_attribute o on o.attrelid = c.oid and o.attname = 'organization_id'
    where c.relnamespace = 'keystride'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    order by c.relname <> 'organization', c.relname`)
  return rows
    .filter(({ name }) => !STAYING.includes(name))
    .map((table) => ({ ...table, late: LATE.includes(table.name), refuses: !OF_JOBS.includes(table.name) }))
}
