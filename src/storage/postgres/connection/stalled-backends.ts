import type postgres from 'postgres'

/** Connections of the service have this name. */
export const APPLICATION_NAME = 'keystride'
/** Interval of the search for stalled connections while calls are refused. */
const LOOK_EVERY_MS = 250

interface StalledSearch {
  /** Looks for stalled connections, unless it did so lately. Never rejects. */
  look(): Promise<void>
  stop(): void
}

/** `end` runs `endStalled` and returns its count. */
export function createStalledSearch(end: () => Promise<number>, log: (line: string) => void): StalledSearch {
  let lookedAt = Number.NEGATIVE_INFINITY
  let looking = false
  let stopped = false
  return {
    async look() {
      if (looking || stopped || performance.now() - lookedAt < LOOK_EVERY_MS) return
      lookedAt = performance.now()
      looking = true
      try {
        const ended = await end()
        if (ended > 0)
          log(`postgres: ended ${ended} connections whose client had described a statement and not executed it`)
      } catch {
        // The next refused call looks again.
      } finally {
        looking = false
      }
    },
    stop() {
      stopped = true
    },
  }
}

/**
 * Ends connections of this service, of any process, that have written in a transaction and whose client has described a
 * statement and not executed it for `silentMs`, because the client is frozen or its machine is gone. The server itself ends an
 * idle transaction (`idle_in_transaction_session_timeout`). But a statement that the client has only described, as the library
 * does with each statement that is new to a connection, counts as running, and no time-out of PostgreSQL 15 ends its wait for
 * the execution.
 * @returns the number of ended connections
 */
export async function endStalled(sql: postgres.Sql, silentMs: number): Promise<number> {
  const { count } = await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = ${APPLICATION_NAME} and datname = current_database() and usename = session_user
      and state = 'active' and wait_event = 'ClientRead' and backend_xid is not null
      and state_change < clock_timestamp() - make_interval(secs => ${silentMs / 1000})`
  return count
}
