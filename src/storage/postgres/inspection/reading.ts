import type { Reading } from '../../inspection.js'
import type { Client } from '../connection/with-client.js'

const INSUFFICIENT_PRIVILEGE = '42501'

/** The server answered, but left out data that the login may not see. */
export class NotShown extends Error {}

/** Runs one reading. An error becomes the reason, without the values of the statement. */
export async function read<T>(work: () => Promise<T>): Promise<Reading<T>> {
  try {
    return { value: await work() }
  } catch (error) {
    const { code, message } = error as { code?: string; message: string } // what pg rejects with
    const denied = code === INSUFFICIENT_PRIVILEGE || error instanceof NotShown
    return { unread: code === undefined ? message : `${message} (${code})`, denied }
  }
}

type Work<T> = (client: Client) => Promise<T>

/** Readings on one connection. */
interface Reader {
  /** Reads as the login role, which row level security shows nothing. */
  asLogin: <T>(work: Work<T>) => Promise<Reading<T>>
  /** Reads as `pg_monitor` if the login is a member, otherwise as the login role. Before PostgreSQL 16 the login inherits no right. */
  asMonitor: <T>(work: Work<T>) => Promise<Reading<T>>
  /** Reads as `keystride_system`, which sees the rows of all organizations. */
  asSystem: <T>(work: Work<T>) => Promise<Reading<T>>
}

const BECOME_MONITOR = `select set_config('role', 'pg_monitor', true) where pg_has_role(session_user, 'pg_monitor', 'member')`

/** Runs readings one after the other, each in a read-only transaction that is rolled back. */
export function createReader(client: Client): Reader {
  let last: Promise<unknown> = Promise.resolve()
  const after =
    (statement: string | null) =>
    <T>(work: Work<T>): Promise<Reading<T>> => {
      const next = last.then(() =>
        read(async () => {
          await client.query('begin read only')
          try {
            if (statement !== null) await client.query(statement)
            return await work(client)
          } finally {
            await client.query('rollback').catch(() => {}) // the connection is lost: the work has the reason
          }
        }),
      )
      last = next
      return next
    }
  return { asLogin: after(null), asMonitor: after(BECOME_MONITOR), asSystem: after('set local role keystride_system') }
}

/** The only row of a statement without a table. */
export function only<T>(rows: readonly T[]): T {
  const [row] = rows
  if (row === undefined) throw new Error('a select without a table came back without its row')
  return row
}
