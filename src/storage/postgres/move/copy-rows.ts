import { pipeline } from 'node:stream/promises'
import { from as copyInto, to as copyOut } from 'pg-copy-streams'
import type { Client } from '../connection/with-client.js'
import type { MovedTable } from './moved-tables.js'

/** Connections in a transaction in both databases; each acts as `keystride_system`. */
export interface Both {
  readonly from: Client
  readonly to: Client
}

const quoted = (names: readonly string[]) => names.map((name) => `"${name}"`).join(', ')

/** Copies the organization's rows of a table that satisfy a condition on `t`, and returns their number. */
export async function copyRows(both: Both, table: MovedTable, organizationId: string, condition = 'true') {
  const { to } = both
  const columns = quoted(table.columns)
  const selected = table.columns.map((name) => `t."${name}"`).join(', ')
  await to.query(
    `create temporary table incoming on commit drop as select ${columns} from keystride.${table.name} limit 0`,
  )
  await pipe(
    both,
    `(select ${selected} from keystride.${table.name} t where t.organization_id = '${organizationId}' and ${condition})`,
    'pg_temp.incoming',
  )
  const { rowCount } = await to.query(
    `insert into keystride.${table.name} (${columns}) select ${columns} from pg_temp.incoming on conflict do nothing`,
  )
  await to.query('drop table pg_temp.incoming')
  return rowCount ?? 0
}

/** Copies rows to a table of the other database. */
async function pipe({ from, to }: Both, rows: string, table: string): Promise<void> {
  try {
    await pipeline(
      from.query(copyOut(`copy ${rows} to stdout (format binary)`)),
      to.query(copyInto(`copy ${table} from stdin (format binary)`)),
    )
  } catch (error) {
    // After a failure nobody reads the rest of the rows: the connection would wait forever.
    void from.end().catch(() => {})
    throw error
  }
}

/** Takes the noted keys, so that `copyChanged` reads them in both databases. Returns their number. */
export async function takeChanged({ from, to }: Both, organizationId: string): Promise<number> {
  for (const client of [from, to])
    await client.query('create temporary table changed (relation text, key jsonb) on commit drop')
  const { rowCount } = await from.query(`
    with gone as (delete from keystride.moved_row where organization_id = '${organizationId}' returning relation, key)
    insert into pg_temp.changed select distinct relation, key from gone`)
  if (rowCount !== null && rowCount > 0) await pipe({ from, to }, 'pg_temp.changed', 'pg_temp.changed')
  for (const client of [from, to]) await client.query('analyze pg_temp.changed')
  return rowCount ?? 0
}

/**
 * Brings the rows of the noted keys to the state of the source, and compares them. Returns the name of a table whose rows differ
 * afterwards; null if none does.
 */
export async function copyChanged(
  both: Both,
  tables: readonly MovedTable[],
  organizationId: string,
): Promise<string | null> {
  const { rows } = await both.from.query<{ relation: string }>('select distinct relation from pg_temp.changed')
  const changed = tables.filter(({ name }) => rows.some(({ relation }) => relation === name))
  const noted = (table: MovedTable) => `exists (select from pg_temp.changed c where ${isNoted(table)})`
  for (const table of changed)
    if (!table.appendOnly)
      await both.to.query(`
        delete from keystride.${table.name} t using pg_temp.changed c
        where t.organization_id = '${organizationId}' and ${isNoted(table)}`)
  for (const table of changed) await copyRows(both, table, organizationId, noted(table))
  for (const table of changed) if (!(await agree(both, table, organizationId, noted(table)))) return table.name
  return null
}

/** The condition that the row `t` has the noted key `c`. */
const isNoted = ({ name, key }: MovedTable): string =>
  [`c.relation = '${name}'`, ...key.map((one) => `t."${one.name}" = (c.key ->> '${one.name}')::${one.type}`)].join(
    ' and ',
  )

/** Whether the organization's rows of a table that satisfy a condition on `t` have the same number and hashes in both databases. */
export async function agree({ from, to }: Both, table: MovedTable, organizationId: string, condition = 'true') {
  const row = table.columns.map((name) => `t."${name}"`).join(', ')
  const text = `
    select count(*) as n, coalesce(sum(hashtextextended(row (${row})::text, 0)::numeric), 0)::text as sum
    from keystride.${table.name} t where t.organization_id = '${organizationId}' and ${condition}`
  const [here, there] = await Promise.all([from, to].map((client) => client.query<{ n: string; sum: string }>(text)))
  return here?.rows[0]?.n === there?.rows[0]?.n && here?.rows[0]?.sum === there?.rows[0]?.sum
}

/** Deletes the organization's rows of a table. */
export async function clearRows(to: Client, name: string, organizationId: string): Promise<void> {
  await to.query(`delete from keystride.${name} where organization_id = '${organizationId}'`)
}
