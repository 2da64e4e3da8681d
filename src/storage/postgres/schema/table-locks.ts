import { setTimeout as delay } from 'node:timers/promises'
import { ExpectedFault } from '../../../base/expected-fault.js'
import type { Client } from '../connection/with-client.js'

/** Limit of a wait for a lock. Statements of the service, which may take 1 s, queue behind the wait. */
const LOCK_MS = 150
/** Pause between two tries, during which the queue of statements empties. */
const PAUSE_MS = 500
const LOCK_NOT_AVAILABLE = '55P03'

/** Advisory lock for changes of the schema, its roles and the settings of the login, which fail if they are concurrent. */
export const SCHEMA_LOCK = '7241865325823964'

/** Makes later statements of the transaction fail if they wait longer than `LOCK_MS` for a lock. */
export const limitWaiting = (client: Client): Promise<unknown> =>
  client.query(`set local lock_timeout = '${LOCK_MS}ms'`)

/**
 * Runs a transaction that calls `limitWaiting`, and retries it for `patienceMs` if it does not get a lock. Then throws an error for
 * the operator with the connections that hold locks. A transaction that did not get its locks changes nothing.
 */
export async function untilUnlocked<T>(
  client: Client,
  log: (line: string) => void,
  patienceMs: number,
  transaction: () => Promise<T>,
): Promise<T> {
  const deadline = performance.now() + patienceMs
  for (let tries = 1; ; tries += 1) {
    try {
      return await transaction()
    } catch (error) {
      if (codeOf(error) !== LOCK_NOT_AVAILABLE) throw error
      await client.query('rollback')
      const holders = await holdersOfTables(client)
      if (performance.now() > deadline)
        throw new ExpectedFault(
          `nothing was changed, because the tables are in use by ${holders}: end these connections, or try again later`,
        )
      if (tries === 1) log(`waiting for tables that are in use by ${holders}`)
      await delay(PAUSE_MS)
    }
  }
}

/** An error that names the file of a function has PostgreSQL's error as its cause. */
const codeOf = (error: unknown): string | undefined => {
  const { code, cause } = error as { code?: string; cause?: { code?: string } } // what pg rejects with
  return code ?? cause?.code
}

async function holdersOfTables(client: Client): Promise<string> {
  const { rows } = await client.query<{ pid: number; name: string }>(
    `select l.pid, max(coalesce(nullif(a.application_name, ''), 'without a name')) as name
     from pg_locks l join pg_class c on c.oid = l.relation left join pg_stat_activity a on a.pid = l.pid
     where c.relnamespace = 'keystride'::regnamespace and l.granted and l.pid <> pg_backend_pid()
       and l.database = (select oid from pg_database where datname = current_database())
     group by l.pid order by l.pid limit 5`,
  )
  return rows.length === 0 ? 'others' : rows.map(({ pid, name }) => `pid ${pid} (${name})`).join(', ')
}
