import type { DatabaseCall } from './call-queue.js'
import { degraded, isLost } from './errors.js'
import { LONG_NAME } from './session-settings.js'
import type { Sql, Transaction } from './sql.js'

export const STATEMENT_TIMEOUT_MS = 1000
/** The locks of a process that freezes, or whose machine is gone, are released after this time. TCP would detect it in hours. */
export const IDLE_TIMEOUT_MS = 1200

/** Role, organization and settings of one transaction. */
interface TransactionScope {
  readonly role: 'keystride_app' | 'keystride_system'
  readonly organizationId: string
  readonly durable: boolean
  readonly statementMs: number
  readonly idleMs: number
  /** The statements may wait and run longer than those of other transactions. */
  readonly long: boolean
  readonly byKey: boolean
}

export const SYSTEM: TransactionScope = {
  role: 'keystride_system',
  organizationId: '',
  durable: true,
  statementMs: STATEMENT_TIMEOUT_MS,
  idleMs: IDLE_TIMEOUT_MS,
  long: false,
  byKey: false,
}

/**
 * Runs `work` in one transaction in this scope. If the connection is lost, the driver rejects by itself, but must not see a
 * rejection of the work too. It would then send a `rollback` into the closed socket, an uncaught TypeError that ends the process
 * (postgres 3.4.9), or, if the connection is open again, into another call's transaction. So the promise of the work never settles
 * in this case, and its further statements are not sent.
 */
export async function transact<T>(
  sql: Sql,
  scope: TransactionScope,
  call: DatabaseCall,
  work: (sql: Transaction) => Promise<T>,
): Promise<T> {
  let over = false
  const scoped = async (open: Transaction): Promise<T> => {
    await call.exchange(setScope(open, scope))
    if (scope.long) await call.exchange(open`select set_config('application_name', ${LONG_NAME}, true)`)
    const result = await work(
      new Proxy(open, {
        apply(target, _, args) {
          if (over || call.expired()) throw tooLate()
          return Reflect.apply(target, undefined, args)
        },
      }),
    )
    // Rolls back if the caller has been refused, because the caller may send the same again.
    if (call.expired()) throw tooLate()
    return result
  }
  try {
    const result = await sql.begin(
      (open) =>
        new Promise<{ value: T }>((resolve, reject) => {
          scoped(open).then(
            (value) => resolve({ value }),
            (error: unknown) => {
              if (!over && !isLost(error)) reject(error)
            },
          )
        }),
    )
    return (result as { value: T }).value // begin() unwraps arrays of promises; this is none
  } finally {
    over = true
  }
}

const tooLate = () => degraded('the database did not answer in time')

const setScope = (
  sql: Transaction,
  { role, organizationId, durable, statementMs, idleMs, byKey }: TransactionScope,
) => sql`
  select set_config('role', ${role}, true), set_config('keystride.organization_id', ${organizationId}, true),
    set_config('statement_timeout', ${String(statementMs)}, true),
    set_config('idle_in_transaction_session_timeout', ${String(idleMs)}, true),
    set_config('synchronous_commit', coalesce(${durable ? null : 'off'}, current_setting('synchronous_commit')), true),
    set_config('plan_cache_mode', coalesce(${byKey ? 'force_generic_plan' : null}, current_setting('plan_cache_mode')), true),
    set_config('enable_seqscan', coalesce(${byKey ? 'off' : null}, current_setting('enable_seqscan')), true),
    set_config('jit', coalesce(${byKey ? 'off' : null}, current_setting('jit')), true)`
