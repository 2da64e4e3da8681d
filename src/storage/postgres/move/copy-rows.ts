import type { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Transaction } from '../connection/sql.js'
import type { MovedTable } from './moved-tables.js'

/** Transactions in both databases; each acts as `keystride_system`. */
export interface Both {
  readonly from: Transaction
  readonly to: Transaction
}

/** A row count and a sum over hashes of the rows. */
interface TableSum {
  readonly n: number
  readonly sum: string
}

const quoted = (names: readonly string[]) => names.map((name) => `"${name}"`).join(', ')

/** Copies the output of one statement to the other database. */
async function pipe({ from, to }: Both, out: string, into: string): Promise<void> {
  const source = (await from.unsafe(`${out} (format binary)`).readable()) as Readable
  const target = (await to.unsafe(`${into} (format binary)`).writable()) as Writable
  await pipeline(source, target)
  // The driver pauses its socket when the stream is full, and resumes it only when the stream reads again (postgres 3.4.9).
  source._read(0)
}

/** Copies the organization's rows of a table that satisfy a condition on `t`, and returns their number. */
export async function copyRows(both: Both, table: MovedTable, organizationId: string, condition = 'true') {
  const { to } = both
  const columns = quoted(table.columns)
  const selected = table.columns.map((name) => `t."${name}"`).join(', ')
  await to.unsafe(
    `create temporary table incoming on commit drop as select ${columns} from keystride.${table.name} limit 0`,
  )
  await pipe(
    both,
    `copy (select ${selected} from keystride.${table.name} t where t.organization_id = '${organizationId}' and ${condition}) to stdout`,
    'copy pg_temp.incoming from stdin',
  )
  const { count } = await to.unsafe(
    `insert into keystride.${table.name} (${columns}) select ${columns} from pg_temp.incoming on conflict do nothing`,
  )
  await to.unsafe('drop table pg_temp.incoming')
  return count
}

/** Takes the noted keys, so that `copyChanged` can read them in both databases. Returns their number. */
export async function takeChanged({ from, to }: Both, organizationId: string): Promise<number> {
  for (const sql of [from, to])
    await sql.unsafe('create temporary table changed (relation text, key jsonb) on commit drop')
  const { count } = await from.unsafe(`
    with gone as (delete from keystride.moved_row where organization_id = '${organizationId}' returning relation, key)
    insert into pg_temp.changed select distinct relation, key from gone`)
  if (count > 0) {
    await pipe({ from, to }, 'copy pg_temp.changed to stdout', 'copy pg_temp.changed from stdin')
    for (const sql of [from, to]) await sql.unsafe('analyze pg_temp.changed')
  }
  return count
}

/** Brings the rows of the noted keys to the state of the source. Tables are in the order of their references. */
export async function copyChanged(both: Both, tables: readonly MovedTable[], organizationId: string): Promise<void> {
  for (const table of [...tables].reverse())
    if (!table.appendOnly)
      await both.to.unsafe(`
        delete from keystride.${table.name} t using pg_temp.changed c
        where t.organization_id = '${organizationId}' and ${isNoted(table)}`)
  const relations = await both.from.unsafe<{ relation: string }[]>('select distinct relation from pg_temp.changed')
  for (const table of tables)
    if (relations.some(({ relation }) => relation === table.name))
      await copyRows(both, table, organizationId, `exists (select from pg_temp.changed c where ${isNoted(table)})`)
}

/** The condition that the row `t` has the noted key `c`. */
const isNoted = ({ name, key }: MovedTable): string =>
  [`c.relation = '${name}'`, ...key.map((one) => `t."${one.name}" = (c.key ->> '${one.name}')::${one.type}`)].join(
    ' and ',
  )

/** The number of an organization's rows of a table and, with `hashed`, the sum of their hashes. */
export async function sumOf(
  sql: Transaction,
  table: MovedTable,
  organizationId: string,
  hashed: boolean,
): Promise<TableSum> {
  const row = table.columns.map((name) => `t."${name}"`).join(', ')
  const sum = hashed ? `coalesce(sum(hashtextextended(row (${row})::text, 0)::numeric), 0)::text` : `''`
  const [found] = await sql.unsafe<TableSum[]>(
    `select count(*)::int as n, ${sum} as sum from keystride.${table.name} t where t.organization_id = '${organizationId}'`,
  )
  return found ?? { n: 0, sum: '' }
}

/** Deletes the organization's rows of a table. */
export async function clearRows(to: Transaction, { name }: MovedTable, organizationId: string): Promise<void> {
  await to.unsafe(`delete from keystride.${name} where organization_id = '${organizationId}'`)
}
