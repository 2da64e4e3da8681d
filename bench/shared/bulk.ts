import type postgres from 'postgres'

/** Tables of people and attempts, that a bulk load writes without triggers and row level security. */
const FILLED = ['account', 'member', 'reference_pattern', 'comparison_set', 'authentication', 'replay_mark'] as const

interface BulkOptions {
  /** Builds the index on the bands of replay marks afterwards: random keys are sorted once, instead of reading index pages for each mark. */
  readonly rebuildBands: boolean
  readonly say: (line: string) => void
}

/**
 * Runs `work`, which writes many rows, with disabled triggers and without forced row level security, so that the login may use
 * COPY. Then restores both, and vacuums.
 */
export async function inBulk(
  sql: postgres.Sql,
  { rebuildBands, say }: BulkOptions,
  work: () => Promise<void>,
): Promise<void> {
  const alter = async (change: string) => {
    for (const table of FILLED) await sql.unsafe(`alter table keystride.${table} ${change}`)
  }
  await alter('disable trigger user, no force row level security')
  const restoreBands = rebuildBands ? await dropBands(sql) : async () => {}
  await work()
  await restoreBands()
  await alter('enable trigger user, force row level security')
  say('  vacuum')
  await sql`vacuum analyze`
}

async function dropBands(sql: postgres.Sql): Promise<() => Promise<void>> {
  const [index] = await sql<{ definition: string }[]>`
    select pg_get_indexdef('keystride.replay_mark_bands'::regclass) as definition`
  if (index === undefined) throw new Error('no index on the bands of replay marks')
  await sql`drop index keystride.replay_mark_bands`
  return () =>
    sql
      .begin(async (transaction) => {
        await transaction`set local maintenance_work_mem = '1GB'`
        await transaction.unsafe(index.definition)
      })
      .then(() => {})
}
