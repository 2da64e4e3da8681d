import type { Client } from '../connection/with-client.js'
import { limitWaiting, untilUnlocked } from '../schema/table-locks.js'
import type { MovedTable } from './moved-tables.js'

export type Say = (line: string) => void

/** Longest wait for the locks of the tables, which a long reader, a dump or a vacuum holds. */
export const LOCKED_MS = 10 * 60_000

const triggerOf = (organizationId: string) => `moved_${organizationId.replaceAll('-', '')}`

/** Notes the keys of the organization's rows that change from now on; once the source is closed, refuses the changes. */
export const addTriggers = (client: Client, tables: readonly MovedTable[], id: string, say: Say): Promise<void> =>
  forTables(client, tables, say, ({ name, key, refuses }) => {
    const args = [name, refuses ? 'refuses' : 'notes', ...key.map((one) => one.name)]
    const noting = `execute function keystride.note_moved_row(${args.map((arg) => `'${arg}'`).join(', ')})`
    return [
      ...droppingTriggers(name, id),
      `create trigger ${triggerOf(id)} after insert or update on keystride.${name}
        for each row when (new.organization_id = '${id}') ${noting}`,
      `create trigger ${triggerOf(id)}_deleted after delete on keystride.${name}
        for each row when (old.organization_id = '${id}') ${noting}`,
    ]
  })

export const dropTriggers = (client: Client, tables: readonly MovedTable[], id: string, say: Say): Promise<void> =>
  forTables(client, tables, say, ({ name }) => droppingTriggers(name, id))

const droppingTriggers = (table: string, id: string): string[] =>
  [triggerOf(id), `${triggerOf(id)}_deleted`].map(
    (trigger) => `drop trigger if exists ${trigger} on keystride.${table}`,
  )

/** Changes each table by itself, with a short wait for its lock. */
async function forTables(
  client: Client,
  tables: readonly MovedTable[],
  say: Say,
  statementsOf: (table: MovedTable) => readonly string[],
): Promise<void> {
  for (const table of tables)
    await untilUnlocked(client, say, LOCKED_MS, async () => {
      await client.query('begin')
      await limitWaiting(client)
      for (const statement of statementsOf(table)) await client.query(statement)
      await client.query('commit')
    })
}
