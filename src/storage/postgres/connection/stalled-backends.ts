import type postgres from 'postgres'

/**
 * Ends connections of this service, whatever process opened them, that have written in a transaction and whose client has
 * left a statement half asked for `silentMs`: frozen, or its machine gone. The server itself ends a transaction in which
 * nothing is under way (`idle_in_transaction_session_timeout`); a statement that it has described, as the library asks of
 * each that is new to a connection, it counts as running, and no time-out of PostgreSQL 15 ends its wait for the execution.
 * @returns how many there were
 */
export async function endAbandoned(sql: postgres.Sql, silentMs: number): Promise<number> {
  const { count } = await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = ${APPLICATION_NAME} and datname = current_database() and usename = session_user
      and state = 'active' and wait_event = 'ClientRead' and backend_xid is not null
      and state_change < clock_timestamp() - make_interval(secs => ${silentMs / 1000})`
  return count
}

/** What connections of the service call themselves. */
export const APPLICATION_NAME = 'keystride'
