import { APPLICATION_NAME, LONG_NAME } from './session-settings.js'
import type { Sql } from './sql.js'

/** Interval of the search for stalled connections while calls are refused. */
const LOOK_EVERY_MS = 250
/** The search is repeated after this: when a call is refused, its statement is still too young, and no later call may follow. */
const LOOK_AGAIN_MS = 300

interface StalledSearch {
  /** Searches for stalled connections, unless a search was recent, and again a moment later. Never rejects. */
  start(): Promise<void>
  stop(): void
}

interface Stalled {
  /** Connections that were ended, because their client had described a statement and not executed it. */
  readonly ended: number
  /** Statements that were canceled, because they waited for a lock. */
  readonly canceled: number
}

/** `end` runs `endStalled`. */
export function createStalledSearch(end: () => Promise<Stalled>, log: (line: string) => void): StalledSearch {
  let lookedAt = Number.NEGATIVE_INFINITY
  let looking = false
  let stopped = false
  let again: NodeJS.Timeout | undefined

  async function search(): Promise<void> {
    if (looking) return
    lookedAt = performance.now()
    looking = true
    try {
      const { ended, canceled } = await end()
      if (ended > 0)
        log(`postgres: ended ${ended} connections whose client had described a statement and not executed it`)
      if (canceled > 0) log(`postgres: canceled ${canceled} statements that waited for a lock`)
    } catch {
      // The next refused call looks again.
    } finally {
      looking = false
    }
  }
  return {
    async start() {
      if (stopped) return
      again ??= setTimeout(() => {
        again = undefined
        void search()
      }, LOOK_AGAIN_MS).unref()
      if (performance.now() - lookedAt >= LOOK_EVERY_MS) await search()
    },
    stop() {
      stopped = true
      clearTimeout(again)
    },
  }
}

/**
 * Ends connections of this service, of any process, that have written in a transaction and whose client has described a
 * statement and not executed it for `silentMs`, because the client is frozen or its machine is gone. The server itself ends an
 * idle transaction (`idle_in_transaction_session_timeout`). But a statement that the client has only described, as the driver
 * does with each statement that is new to a connection, counts as running, and no time-out of PostgreSQL 15 ends its wait for
 * the execution.
 *
 * Also cancels statements of this service that have waited for a lock for as long. Those of a transaction end by their own time-out,
 * but a call of a function has none, and a server process that waits for a lock does not notice that its client is gone.
 */
export async function endStalled(sql: Sql, silentMs: number): Promise<Stalled> {
  const stalled = await sql<{ isLock: boolean }[]>`
    select wait_event_type = 'Lock' as "isLock",
      case wait_event_type when 'Lock' then pg_cancel_backend(pid) else pg_terminate_backend(pid) end
    from pg_stat_activity
    where application_name in (${APPLICATION_NAME}, ${LONG_NAME}) and datname = current_database() and usename = session_user
      and state = 'active' and (wait_event = 'ClientRead' and backend_xid is not null
        or wait_event_type = 'Lock' and application_name = ${APPLICATION_NAME})
      and state_change < clock_timestamp() - make_interval(secs => ${silentMs / 1000})`
  const canceled = stalled.filter(({ isLock }) => isLock).length
  return { ended: stalled.length - canceled, canceled }
}
