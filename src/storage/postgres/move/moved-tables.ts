import type { Sql, Transaction } from '../connection/sql.js'

/** A table with rows of organizations. */
export interface MovedTable {
  readonly name: string
  /** Columns that are written; the others are generated. */
  readonly columns: readonly string[]
  readonly key: readonly { readonly name: string; readonly type: string }[]
  /** Rows are only added. */
  readonly appendOnly: boolean
  /** Background jobs work on every organization that this table names, so its rows come last, with the switch. */
  readonly late: boolean
}

interface TableRow extends Omit<MovedTable, 'late'> {
  readonly parents: readonly string[]
}

/** Tables that stay: those of moves, and archives of exports, which are ordered anew. */
const STAYING = ['placement', 'moved_row', 'export_archive', 'export_piece']
const LATE = ['api_key', 'profile_link', 'headcount', 'attempt_counted', 'user_totaled', 'alerting', 'alert_channel']

/** The tables that move, in an order in which each follows those that it refers to. Read from the catalog, so that none is forgotten. */
export async function movedTables(sql: Sql | Transaction): Promise<MovedTable[]> {
  const rows = await sql.unsafe<TableRow[]>(`
    select c.relname as name,
      (select json_agg(a.attname order by a.attnum) from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns,
      (select json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod)) order by k.n)
        from pg_index i cross join unnest(i.indkey::int2[]) with ordinality k (attnum, n)
          join pg_attribute a on a.attrelid = c.oid and a.attnum = k.attnum
        where i.indrelid = c.oid and i.indisprimary) as key,
      not has_table_privilege('keystride_system', c.oid, 'delete') as "appendOnly",
      coalesce((select json_agg(distinct p.relname) from pg_constraint f join pg_class p on p.oid = f.confrelid
        where f.conrelid = c.oid and f.contype = 'f' and p.oid <> c.oid), '[]') as parents
    from pg_class c join pg_attribute o on o.attrelid = c.oid and o.attname = 'organization_id'
    where c.relnamespace = 'keystride'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    order by c.relname`)
  const left = rows.filter(({ name }) => !STAYING.includes(name))
  const sorted: TableRow[] = []
  while (left.length > 0) {
    const next = left.findIndex(({ parents }) => parents.every((parent) => left.every(({ name }) => name !== parent)))
    const [table] = left.splice(next, 1)
    if (next < 0 || table === undefined) throw new Error('tables refer to one another in a circle')
    sorted.push(table)
  }
  return sorted.map(({ parents: _, ...table }) => ({ ...table, late: LATE.includes(table.name) }))
}
