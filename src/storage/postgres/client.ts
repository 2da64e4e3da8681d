import postgres from 'postgres'
import { Refusal } from '../../domain/refusal.js'

export type Sql = postgres.Sql
export type Transaction = postgres.TransactionSql

/** Every way into the database. Each rejects with `Refusal('degraded')` where the database is lost, full or too slow. */
export interface Database {
  /** One transaction as `keystride_app` of this organization: rows of others do not exist in it. */
  scoped<T>(organizationId: string, work: (sql: Transaction) => Promise<T>, options?: ScopedOptions): Promise<T>
  /** One transaction that sees every organization: administration and start-up only. */
  asSystem<T>(work: (sql: Transaction) => Promise<T>): Promise<T>
  /** One call of a narrow security-definer function as the bare login, which sees no row by itself: one round trip. */
  call<T>(work: (sql: Sql) => PromiseLike<T>): Promise<T>
  ping(): Promise<void>
  /** Waits up to 5 s for what is running. */
  close(): Promise<void>
}

export interface ScopedOptions {
  /** False lets the commit return before it is on disk: for what may be lost with a crash. Default true. */
  readonly durable?: boolean
}

export interface PostgresOptions {
  readonly url: string
  /** Connections at most. */
  readonly max: number
  readonly log?: (line: string) => void
  /** False for a PgBouncer older than 1.21 in transaction mode. Default true. */
  readonly prepare?: boolean
}

const STATEMENT_TIMEOUT_MS = 1000
const CONNECT_TIMEOUT_S = 2
/** Catches what a statement time-out cannot: a server that stopped answering. Connect and one statement fit in. */
const DEADLINE_MS = 3000
const CLOSE_TIMEOUT_S = 5
/** Work that waits for a connection: past this many per connection it is refused at once. No measurement behind it. */
const WAITING_PER_CONNECTION = 200

/**
 * Connects lazily and reconnects by itself. Nothing is set outside a transaction, so that PgBouncer may hand each
 * transaction another connection.
 */
export function connectPostgres({ url, max, log = () => {}, prepare = true }: PostgresOptions): Database {
  const open = () =>
    postgres(url, {
      max,
      prepare,
      connect_timeout: CONNECT_TIMEOUT_S,
      // The library's own back-off grows to 20 s, which would outlast the outage.
      backoff: () => 0.1,
      // Saves a round trip a connection; arrays therefore travel as text.
      fetch_types: false,
      onnotice: (notice) => log(`postgres: ${notice.message ?? 'notice'}`),
      connection: { application_name: 'keystride' },
    })
  let pool = open()
  let underway = 0

  /** A connection of this library that broke while it was writing may never work again (3.4.9): no work goes to it. */
  function replace(broken: Sql): void {
    if (broken !== pool) return
    pool = open()
    broken.end({ timeout: CLOSE_TIMEOUT_S }).catch(() => {})
  }

  async function guarded<T>(work: (sql: Sql, expired: () => boolean) => Promise<T>): Promise<T> {
    if (underway >= max * WAITING_PER_CONNECTION) throw degraded('the database has too much waiting')
    underway += 1
    const used = pool
    let late = false
    let timer: NodeJS.Timeout | undefined
    const deadline = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        late = true
        reject(degraded('the database does not answer'))
      }, DEADLINE_MS)
    })
    try {
      return await Promise.race([work(used, () => late), deadline])
    } catch (error) {
      if (late || isLost(error)) replace(used)
      throw asRefusal(error)
    } finally {
      clearTimeout(timer)
      underway -= 1
    }
  }

  const transaction = <T>(scope: Scope, work: (sql: Transaction) => Promise<T>): Promise<T> =>
    guarded((sql, expired) => transact(sql, scope, expired, work))

  return {
    scoped: (organizationId, work, { durable = true } = {}) =>
      transaction({ role: 'keystride_app', organizationId, durable }, work),
    asSystem: (work) => transaction({ role: 'keystride_system', organizationId: '', durable: true }, work),
    call: (work) => guarded(async (sql) => work(sql)),
    ping: () =>
      guarded(async (sql) => {
        await sql`select 1`
      }),
    close: () => pool.end({ timeout: CLOSE_TIMEOUT_S }),
  }
}

interface Scope {
  readonly role: 'keystride_app' | 'keystride_system'
  readonly organizationId: string
  readonly durable: boolean
}

/**
 * One transaction in its scope. Where the connection is lost, the library rejects by itself, but must not hear of it from
 * the work too: it would send a `rollback` into the closed socket, an uncaught TypeError that ends the process
 * (postgres 3.4.9), or, the connection being open again, into somebody else's transaction. So then the work never ends,
 * and what it still asks for is not sent.
 */
async function transact<T>(
  sql: Sql,
  { role, organizationId, durable }: Scope,
  expired: () => boolean,
  work: (sql: Transaction) => Promise<T>,
): Promise<T> {
  let over = false
  const scoped = async (open: Transaction): Promise<T> => {
    if (expired()) throw degraded('the database was too busy')
    await open`
      select set_config('role', ${role}, true), set_config('keystride.organization_id', ${organizationId}, true),
        set_config('statement_timeout', ${String(STATEMENT_TIMEOUT_MS)}, true),
        set_config('synchronous_commit', coalesce(${durable ? null : 'off'}, current_setting('synchronous_commit')), true)`
    return work(
      new Proxy(open, {
        apply(target, _, args) {
          if (over) throw degraded('the database is not reachable')
          return Reflect.apply(target, undefined, args)
        },
      }),
    )
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

/** The server says FATAL as it hangs up; a broken line has a code of the library's or the system's. */
function isLost(error: unknown): boolean {
  const { code, severity } = (error ?? {}) as { code?: string; severity?: string } // what the library rejects with
  return LOST.has(code ?? '') || severity === 'FATAL' || severity === 'PANIC'
}

const degraded = (why: string) => new Refusal('degraded', `try again later: ${why}`, 1)

const LOST = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
])
/** SQLSTATE: connection (08), read-only after a fail-over (25006), deadlock and the like (40), resources (53), cancelled or shut down (57), I/O (58). */
const TRANSIENT = /^(08|25006|40|53|57|58)/

/** Whatever means "not now" as the one refusal for it; everything else as it came. */
function asRefusal(error: unknown): unknown {
  const code = (error as { code?: unknown } | null)?.code
  if (typeof code !== 'string') return error
  if (LOST.has(code)) return degraded('the database is not reachable')
  return TRANSIENT.test(code) ? degraded('the database is not ready') : error
}

/** A PostgreSQL array of bigint as text: the client does not know array types (see `fetch_types`). */
export const bigintArray = (values: readonly bigint[]): string => `{${values.join(',')}}`
