import postgres from 'postgres'
import { Refusal } from '../../../domain/refusal.js'
import { createTurnstile, degraded, type Turn, type TurnOptions } from './circuit-breaker.js'
import { type Connections, openConnections } from './connections.js'
import { findPrimary, serversOf } from './primary.js'
import { APPLICATION_NAME, endAbandoned } from './stalled-backends.js'

export type Sql = postgres.Sql
export type Transaction = postgres.TransactionSql
/** For fragments of statements in a transaction or out of one. */
export type Statements = Sql | Transaction

/** Every way into the database. Each rejects with `Refusal('degraded')` where the database is lost, full or too slow. */
export interface Database {
  /** One transaction as `keystride_app` of this organization: rows of others do not exist in it. */
  scoped<T>(organizationId: string, work: (sql: Transaction) => Promise<T>, options?: ScopedOptions): Promise<T>
  /**
   * `scoped` for statements that find their rows by key. Planned once without regard to the values, and never with a scan
   * of a whole table, so that they read the same rows whatever statistics the planner has.
   */
  keyed: Database['scoped']
  /** One transaction that sees every organization: administration and start-up only. */
  asSystem<T>(work: (sql: Transaction) => Promise<T>, options?: Pick<ScopedOptions, 'statementMs'>): Promise<T>
  /** One call of a narrow security-definer function as the bare login, which sees no row by itself: one round trip. */
  call<T>(work: (sql: Sql) => PromiseLike<T>, options?: Pick<TurnOptions, 'patienceMs'>): Promise<T>
  /** Rejects where nothing can be written; what the server's clock shows, epoch ms. */
  ping(): Promise<number>
  /** The server in use now, as a connection string, for connections apart from these. */
  server(): string
  /** Waits up to 5 s for what is running. */
  close(): Promise<void>
}

interface ScopedOptions {
  /** False lets the commit return before it is on disk: for what may be lost with a crash. Default true. */
  readonly durable?: boolean
  /** Milliseconds that a statement may take. Default 1,000. */
  readonly statementMs?: number
}

interface PostgresOptions {
  /** One server, or several of which one takes writes at a time: `postgres://user@one:5432,two:5432/name`. */
  readonly url: string
  /** Which of several to begin with; the first unless given. */
  readonly primary?: string
  /** Connections at most: 2 or more, one of which is kept for signs of life. */
  readonly max: number
  readonly log?: (line: string) => void
  /** Whether statements stay prepared; not behind a pooler that does not know them. Unless given as the url says, else true. */
  readonly prepare?: boolean
}

const STATEMENT_TIMEOUT_MS = 1000
/** What a process that freezes, or whose machine is gone, has locked is free after this: TCP would notice in hours. */
const IDLE_TIMEOUT_MS = 1200
/** While calls are refused, the abandoned connections that may be why are looked for once in so long. */
const LOOKS_EVERY_MS = 250
const CONNECT_TIMEOUT_S = 2
const CLOSE_TIMEOUT_S = 5
const TELLS_EVERY_MS = 1000
/** Administration has no end user waiting, and may reach a database far away. */
const SYSTEM_PATIENCE_MS = 3000

/**
 * Connects lazily and reconnects by itself. Nothing is set outside a transaction, so that PgBouncer may hand each
 * transaction another connection. How long work waits, and when it is refused, is the turnstile's affair.
 */
export function connectPostgres({ url, primary, max, log = () => {}, prepare }: PostgresOptions): Database {
  const servers = serversOf(url)
  let server = primary ?? servers[0] ?? url
  const connect = (to: string): Sql =>
    postgres(to, {
      max: 1,
      ...(prepare === undefined ? {} : { prepare }),
      connect_timeout: CONNECT_TIMEOUT_S,
      // The library's own back-off grows to 20 s, which would outlast the outage.
      backoff: () => 0.1,
      // Saves a round trip a connection; arrays therefore travel as text.
      fetch_types: false,
      onnotice: (notice) => log(`postgres: ${notice.message ?? 'notice'}`),
      connection: { application_name: APPLICATION_NAME },
    })
  const turnstile = createTurnstile<Connections>({
    width: max - 1,
    open: () => {
      // All of one server, though another may take the writes before the last is opened.
      const to = server
      return openConnections(() => connect(to), max)
    },
    retire: (broken) => void broken.end({ timeout: CLOSE_TIMEOUT_S }).catch(() => {}),
    probe: () => void probe().catch(() => {}),
  })
  /** A full disk answers pings: from the first write it refuses, a ping asks for room as well. */
  let full = false

  let toldAt = Number.NEGATIVE_INFINITY

  /** What the server said where callers hear "not ready": now and then, for an outage has thousands of it. */
  function tell(error: unknown): void {
    if (performance.now() - toldAt < TELLS_EVERY_MS) return
    toldAt = performance.now()
    log(`postgres: ${(error as Error).message} (SQLSTATE ${codeOf(error)})`)
  }

  let seeking = false
  let closed = false
  /** The highest that was found. */
  let timeline = 0

  /**
   * Looks among several servers for the one that takes writes now. The library's own way with several hosts dials without
   * a pause while none does, and takes a standby for `read-write` (3.4.9).
   */
  async function seek(): Promise<void> {
    if (servers.length === 1 || seeking) return
    seeking = true
    const found = await findPrimary(servers, timeline)
    seeking = false
    if (found === null || closed) return
    timeline = found.timeline
    if (found.url === server) return
    server = found.url
    log(`postgres: ${new URL(server).host} takes the writes now`)
    turnstile.replace(turnstile.current())
  }

  let lookedAt = Number.NEGATIVE_INFINITY
  let looking = false

  /** Of what was locked by a process that froze, the server frees most by itself; see `endAbandoned` for the rest. */
  async function lookForAbandoned(): Promise<void> {
    if (looking || closed || performance.now() - lookedAt < LOOKS_EVERY_MS) return
    lookedAt = performance.now()
    looking = true
    try {
      const ended = await enter((sql, turn) => turn.exchange(endAbandoned(sql, IDLE_TIMEOUT_MS)), { probe: true })
      if (ended > 0) log(`postgres: ended ${ended} connections whose client had left a statement half asked`)
    } catch {
      // As lost as the call that was refused: the next one looks again.
    } finally {
      looking = false
    }
  }

  async function pass<T>(work: (sql: Sql, turn: Turn) => Promise<T>, options?: TurnOptions): Promise<T> {
    try {
      return await enter(work, options)
    } catch (error) {
      if (error instanceof Refusal && error.kind === 'degraded') void lookForAbandoned()
      throw error
    }
  }

  function enter<T>(work: (sql: Sql, turn: Turn) => Promise<T>, options?: TurnOptions): Promise<T> {
    return turnstile.pass(async (connections, turn) => {
      try {
        return await connections.use((sql) => work(sql, turn))
      } catch (error) {
        if (isBroken(error)) turnstile.replace(connections)
        if (codeOf(error) === DISK_FULL) full = true
        if (isLost(error) || codeOf(error) === READ_ONLY) void seek()
        if (isTransient(error)) tell(error)
        throw asRefusal(error)
      }
    }, options)
  }

  async function probe(): Promise<number> {
    try {
      return await pass(ping, { probe: true })
    } catch (error) {
      void seek()
      throw error
    }
  }

  async function ping(sql: Sql, turn: Turn): Promise<number> {
    const [row] = await turn.exchange(sql<{ read_only: string; now: number }[]>`
      select current_setting('transaction_read_only') as read_only,
        extract(epoch from clock_timestamp())::float8 * 1000 as now`)
    if (row?.read_only !== 'off') throw degraded('the database takes no writes')
    if (!full) return row.now
    try {
      await transact(sql, SYSTEM, turn, takeRoom)
    } catch (error) {
      // A login that may not make temporary tables finds out with the next write.
      if (codeOf(error) !== FORBIDDEN) throw error
    }
    full = false
    return row.now
  }

  const scoped =
    (byKey: boolean): Database['scoped'] =>
    (organizationId, work, { durable = true, statementMs = STATEMENT_TIMEOUT_MS } = {}) =>
      pass(
        (sql, turn) =>
          transact(sql, { role: 'keystride_app', organizationId, durable, statementMs, byKey }, turn, work),
        statementMs === STATEMENT_TIMEOUT_MS ? undefined : { patienceMs: statementMs + 200 },
      )

  return {
    scoped: scoped(false),
    keyed: scoped(true),
    asSystem: (work, { statementMs = STATEMENT_TIMEOUT_MS } = {}) =>
      pass((sql, turn) => transact(sql, { ...SYSTEM, statementMs }, turn, work), {
        patienceMs: Math.max(SYSTEM_PATIENCE_MS, statementMs + 200),
      }),
    call: (work, options) => pass((sql, turn) => turn.exchange(work(sql)), options),
    ping: probe,
    server: () => server,
    close: () => {
      closed = true
      turnstile.stop()
      return turnstile.current().end({ timeout: CLOSE_TIMEOUT_S })
    },
  }
}

interface Scope {
  readonly role: 'keystride_app' | 'keystride_system'
  readonly organizationId: string
  readonly durable: boolean
  readonly statementMs: number
  readonly byKey: boolean
}
const SYSTEM: Scope = {
  role: 'keystride_system',
  organizationId: '',
  durable: true,
  statementMs: STATEMENT_TIMEOUT_MS,
  byKey: false,
}

/** 400 kB of disk, given back at once: rows short enough not to be compressed. */
async function takeRoom(sql: Transaction): Promise<void> {
  await sql`create temporary table keystride_room (filler text) on commit drop`
  await sql`insert into keystride_room select repeat('x', 1900) from generate_series(1, 200)`
}

/**
 * One transaction in its scope. Where the connection is lost, the library rejects by itself, but must not hear of it from
 * the work too: it would send a `rollback` into the closed socket, an uncaught TypeError that ends the process
 * (postgres 3.4.9), or, the connection being open again, into somebody else's transaction. So then the work never ends,
 * and what it still asks for is not sent.
 */
async function transact<T>(
  sql: Sql,
  { role, organizationId, durable, statementMs, byKey }: Scope,
  turn: Turn,
  work: (sql: Transaction) => Promise<T>,
): Promise<T> {
  let over = false
  const scoped = async (open: Transaction): Promise<T> => {
    await turn.exchange(open`
      select set_config('role', ${role}, true), set_config('keystride.organization_id', ${organizationId}, true),
        set_config('statement_timeout', ${String(statementMs)}, true),
        set_config('idle_in_transaction_session_timeout', ${String(IDLE_TIMEOUT_MS)}, true),
        set_config('synchronous_commit', coalesce(${durable ? null : 'off'}, current_setting('synchronous_commit')), true),
        set_config('plan_cache_mode', coalesce(${byKey ? 'force_generic_plan' : null}, current_setting('plan_cache_mode')), true),
        set_config('enable_seqscan', coalesce(${byKey ? 'off' : null}, current_setting('enable_seqscan')), true),
        set_config('jit', coalesce(${byKey ? 'off' : null}, current_setting('jit')), true)`)
    const result = await work(
      new Proxy(open, {
        apply(target, _, args) {
          if (over || turn.expired()) throw degraded('the database did not answer in time')
          return Reflect.apply(target, undefined, args)
        },
      }),
    )
    // Whose caller has been told no is better rolled back: they may send the same again.
    if (turn.expired()) throw degraded('the database did not answer in time')
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

/** The server says FATAL as it hangs up; a broken line has a code of the library's or the system's. */
function isLost(error: unknown): boolean {
  const { severity } = (error ?? {}) as { severity?: string } // what the library rejects with
  return BROKEN.has(codeOf(error)) || UNREACHABLE.has(codeOf(error)) || severity === 'FATAL' || severity === 'PANIC'
}

/** A connection of this library that broke while it was at work may never work again (3.4.9): no work goes to its pool. */
const isBroken = (error: unknown): boolean => BROKEN.has(codeOf(error))

const BROKEN = new Set(['CONNECTION_CLOSED', 'CONNECTION_DESTROYED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT'])
const UNREACHABLE = new Set([
  'CONNECTION_ENDED',
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
])
const DISK_FULL = '53100'
const FORBIDDEN = '42501'
const READ_ONLY = '25006'
/**
 * SQLSTATE: connection (08), read-only after a fail-over (25006), deadlock and the like (40), resources (53), a lock that
 * was not to be had (55P03), cancelled or shut down (57), I/O (58).
 */
const TRANSIENT = /^(08|25006|40|53|55P03|57|58)/

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : ''
}

/** Whatever means "not now" as the one refusal for it; everything else as it came. */
function asRefusal(error: unknown): unknown {
  if (isLost(error)) return degraded('the database is not reachable')
  return isTransient(error) ? degraded('the database is not ready') : error
}

const isTransient = (error: unknown): boolean => TRANSIENT.test(codeOf(error))

/**
 * Runs a prepared statement with large parameters, which it then lets go of. The library's object of a statement would keep
 * them until the old generation is collected: V8 makes a closure that is assigned to a property (its `resolve`) in the old
 * generation at once, and what that leads to is not collected with the young one. Of a commit that was 3 kB an attempt.
 */
export async function ask<Row extends object>(sql: Sql, text: string, parameters: Parameter[]): Promise<Row[]> {
  const statement = sql.unsafe<Row[]>(text, parameters, { prepare: true })
  try {
    return await statement
  } finally {
    parameters.length = 0
    const { parameters: copied } = statement as { readonly parameters?: Parameter[] }
    if (copied !== undefined) copied.length = 0
  }
}

type Parameter = string | number

/** A PostgreSQL array of bigint as text: the client does not know array types (see `fetch_types`). */
export const bigintArray = (values: readonly bigint[]): string => `{${values.join(',')}}`

/** The same of bytea. */
export const byteaArray = (values: readonly Uint8Array[]): string =>
  `{${values.map((bytes) => `"\\\\x${Buffer.from(bytes).toString('hex')}"`).join()}}`

/** One element of an array of text. */
export const textElement = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`

/** The same of text, null for itself. */
export const textArray = (values: readonly (string | null)[]): string =>
  `{${values.map((text) => (text === null ? 'null' : textElement(text))).join()}}`
