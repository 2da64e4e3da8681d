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
/** Work that waits for a connection: past this many per connection it is refused at once. No measurement behind it. */
const WAITING_PER_CONNECTION = 200

/**
 * Connects lazily and reconnects by itself. Nothing is set outside a transaction, so that PgBouncer may hand each
 * transaction another connection.
 */
export function connectPostgres({ url, max, log = () => {}, prepare = true }: PostgresOptions): Database {
  const sql = postgres(url, {
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
  let underway = 0

  async function guarded<T>(work: (expired: () => boolean) => PromiseLike<T>): Promise<T> {
    if (underway >= max * WAITING_PER_CONNECTION) throw degraded('the database has too much waiting')
    underway += 1
    let late = false
    let timer: NodeJS.Timeout | undefined
    const deadline = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        late = true
        reject(degraded('the database does not answer'))
      }, DEADLINE_MS)
    })
    const running = Promise.resolve(work(() => late)).finally(() => {
      underway -= 1
    })
    try {
      return await Promise.race([running, deadline])
    } catch (error) {
      throw asRefusal(error)
    } finally {
      clearTimeout(timer)
      running.catch(() => {}) // told already, by the deadline
    }
  }

  function transaction<T>(
    role: 'keystride_app' | 'keystride_system',
    organizationId: string,
    work: (sql: Transaction) => Promise<T>,
    durable = true,
  ): Promise<T> {
    return guarded(async (expired) => {
      const result = await sql.begin(async (open) => {
        if (expired()) throw degraded('the database was too busy')
        await open`
          select set_config('role', ${role}, true), set_config('keystride.organization_id', ${organizationId}, true),
            set_config('statement_timeout', ${String(STATEMENT_TIMEOUT_MS)}, true),
            set_config('synchronous_commit', coalesce(${durable ? null : 'off'}, current_setting('synchronous_commit')), true)`
        return { value: await work(open) }
      })
      return (result as { value: T }).value // begin() unwraps promise arrays; ours is neither
    })
  }

  return {
    scoped: (organizationId, work, options) => transaction('keystride_app', organizationId, work, options?.durable),
    asSystem: (work) => transaction('keystride_system', '', work),
    call: (work) => guarded(() => work(sql)),
    ping: () =>
      guarded(async () => {
        await sql`select 1`
      }),
    close: () => sql.end({ timeout: 5 }),
  }
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
