import { logAtIntervals } from '../../../base/log-at-intervals.js'
import { Refusal } from '../../../domain/refusal.js'
import { type CallOptions, createCallQueue, type DatabaseCall } from './call-queue.js'
import { type Connections, openConnections } from './connections.js'
import { asRefusal, codeOf, DISK_FULL, isBroken, isLost, isTransient, READ_ONLY } from './errors.js'
import { createPing } from './ping.js'
import { followWriter, serversOf } from './primary.js'
import { settingsFault, wrongSettings } from './session-settings.js'
import { openSql, type Sql, type Transaction } from './sql.js'
import { createStalledSearch, endStalled } from './stalled-backends.js'
import { IDLE_TIMEOUT_MS, STATEMENT_TIMEOUT_MS, SYSTEM, transact } from './transaction.js'

export type { Sql, Statements, Transaction } from './sql.js'

/** Access to the database. Every method rejects with `Refusal('degraded')` if the database is unreachable, full or too slow. */
export interface Database {
  /** One transaction as `keystride_app` of this organization, in which rows of other organizations are invisible. */
  scoped<T>(organizationId: string, work: (sql: Transaction) => Promise<T>, options?: ScopedOptions): Promise<T>
  /**
   * `scoped` for statements that find their rows by key. Plans are generic and never scan a whole table, so that they read
   * the same rows with any statistics of the planner.
   */
  keyed: Database['scoped']
  /** One transaction that sees every organization, for administration and start-up only. */
  asSystem<T>(work: (sql: Transaction) => Promise<T>, options?: Pick<ScopedOptions, 'statementMs'>): Promise<T>
  /** One round trip as the login role, which sees no row, to call a security-definer function. */
  call<T>(work: (sql: Sql) => PromiseLike<T>, options?: Pick<CallOptions, 'patienceMs' | 'probe'>): Promise<T>
  /** Rejects if nothing can be written; returns the server's clock, epoch ms. */
  ping(): Promise<number>
  /** STORE_PATIENCE, by which a statement's limit of 1 s is multiplied. */
  readonly patience: number
  /** Connection string of the server in use, for separate connections. */
  server(): string
  /** Waits up to 5 s, multiplied by STORE_PATIENCE, for running work. */
  close(): Promise<void>
}

interface ScopedOptions {
  /** Whether the commit returns only when it is on disk; false for data that a crash may lose. True by default. */
  readonly durable?: boolean
  /** Limit of a long statement, ms. The default, 1,000 multiplied by STORE_PATIENCE, is also the minimum. */
  readonly statementMs?: number
  /** Whether the work is a long read. Such calls together take at most a third of the connections. False by default. */
  readonly slow?: boolean
}

interface PostgresOptions {
  /** One server, or several of which one takes writes at a time: `postgres://user@one:5432,two:5432/name`. */
  readonly url: string
  /** The server to begin with, if there are several; the first by default. */
  readonly primary?: string
  /** Maximum number of connections, 2 or more, one of which is reserved for probes. */
  readonly max: number
  readonly log?: (line: string) => void
  /** Called with the time that a call waited for a connection, ms; not for one that got a connection at once. */
  readonly waited?: (ms: number) => void
  /** Whether statements stay prepared; false behind a pooler without support for it. By default as in the URL, otherwise true. */
  readonly prepare?: boolean
  /** Whether a pooler is in between, which passes on few settings of a session. By default true if statements do not stay prepared. */
  readonly pooled?: boolean
  /** STORE_PATIENCE, by which the limits of statements and calls are multiplied. */
  readonly patience?: number
}

/** Both limits are multiplied by STORE_PATIENCE. */
const CONNECT_TIMEOUT_S = 2
const CLOSE_TIMEOUT_S = 5
/** No end user waits for administration, and its database may be far away. */
const SYSTEM_PATIENCE_MS = 3000

/**
 * Connects lazily and reconnects by itself. Nothing is set outside a transaction, so that PgBouncer may give each
 * transaction another connection. The call queue decides how long work waits and when it is refused.
 */
export function connectPostgres(options: PostgresOptions): Database {
  const { run, probe, server, close } = createRunner(options)
  const { patience = 1 } = options
  /** STORE_PATIENCE does not multiply the limit of a long statement, which is for its work and not for a slow database. */
  const limitsOf = (long: number | undefined) => ({
    statementMs: Math.max(long ?? 0, STATEMENT_TIMEOUT_MS * patience),
    idleMs: IDLE_TIMEOUT_MS * patience,
    long: long !== undefined,
  })
  const scoped =
    (byKey: boolean): Database['scoped'] =>
    (organizationId, work, { durable = true, statementMs: long, slow = false } = {}) =>
      run(
        (sql, call) =>
          transact(sql, { role: 'keystride_app', organizationId, durable, ...limitsOf(long), byKey }, call, work),
        { slow, ...(long === undefined ? {} : { patienceMs: long + 200 }) },
      )
  return {
    scoped: scoped(false),
    keyed: scoped(true),
    asSystem: (work, { statementMs: long } = {}) =>
      run((sql, call) => transact(sql, { ...SYSTEM, ...limitsOf(long) }, call, work), {
        patienceMs: Math.max(SYSTEM_PATIENCE_MS, (long ?? 0) + 200),
      }),
    call: (work, options) => run((sql, call) => call.exchange(work(sql)), options),
    ping: probe,
    patience,
    server,
    close,
  }
}

interface Runner extends Pick<Database, 'server' | 'close'> {
  /** Runs work on a free connection, through the call queue. */
  run<T>(work: (sql: Sql, call: DatabaseCall) => Promise<T>, options?: CallOptions): Promise<T>
  probe: Database['ping']
}

/** Pool, call queue and recovery, which finds a new primary, replaces broken pools and ends stalled connections. */
function createRunner(options: PostgresOptions): Runner {
  const { url, primary, max, log = () => {}, patience = 1 } = options
  const servers = serversOf(url)
  const writer = followWriter(servers, primary ?? servers[0] ?? url, log, () => queue.replace(queue.current()))
  const queue = createCallQueue<Connections>({
    width: max - 1,
    open: () => {
      // The whole pool has one server, even if another one takes the writes before the last connection is opened.
      const server = writer.url()
      return openConnections(() => openClient(server, options), max)
    },
    retire: (broken) => void broken.end({ timeout: CLOSE_TIMEOUT_S * patience }).catch(() => {}),
    probe: () => void probe().catch(() => {}),
    patience,
    ...(options.waited === undefined ? {} : { waited: options.waited }),
  })
  const { ping, noteFullDisk } = createPing()
  const logError = logAtIntervals(log)

  function enter<T>(work: (sql: Sql, call: DatabaseCall) => Promise<T>, options?: CallOptions): Promise<T> {
    return queue.run(async (connections, call) => {
      try {
        return await connections.use((sql) => work(sql, call))
      } catch (error) {
        if (isBroken(error)) queue.replace(connections)
        if (codeOf(error) === DISK_FULL) noteFullDisk()
        if (isLost(error) || codeOf(error) === READ_ONLY) void writer.seek()
        if (isTransient(error)) logError(`postgres: ${(error as Error).message} (SQLSTATE ${codeOf(error)})`)
        throw asRefusal(error)
      }
    }, options)
  }

  const stalled = createStalledSearch(
    () => enter((sql, call) => call.exchange(endStalled(sql, IDLE_TIMEOUT_MS * patience)), { probe: true }),
    log,
  )

  async function run<T>(work: (sql: Sql, call: DatabaseCall) => Promise<T>, options?: CallOptions): Promise<T> {
    try {
      return await enter(work, options)
    } catch (error) {
      if (error instanceof Refusal && error.kind === 'degraded') void stalled.start()
      throw error
    }
  }

  async function probe(): Promise<number> {
    try {
      return await run(ping, { probe: true })
    } catch (error) {
      void writer.seek()
      throw error
    }
  }

  return {
    run,
    probe,
    server: writer.url,
    close: () => {
      writer.stop()
      stalled.stop()
      queue.stop()
      return queue.current().end({ timeout: CLOSE_TIMEOUT_S * patience })
    },
  }
}

const openClient = (server: string, { log = () => {}, prepare, pooled, patience = 1 }: PostgresOptions): Sql =>
  openSql(server, { connectS: CONNECT_TIMEOUT_S * patience, log, prepare, pooled })

/** Throws an error for the operator if a session has other settings than the code relies on. */
export async function requireSettings(database: Database): Promise<void> {
  const wrong = await wrongSettings((statement) =>
    database.call((sql) => sql.unsafe<{ name: string; found: string }[]>(statement)),
  )
  if (wrong.length > 0) throw settingsFault(wrong)
}

/**
 * Runs a prepared statement with large parameters and then releases them. The library's statement object would keep them
 * until V8 collects the old generation: a closure assigned to a property (its `resolve`) is allocated in the old generation,
 * and everything it references stays until then. For a commit that was 3 kB per attempt.
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

/** The UUID of 128 zeros, which no row has as its id. */
export const NIL = '00000000-0000-0000-0000-000000000000'

/** A PostgreSQL array of bigint as text, because the client does not know array types (`fetch_types` in sql.ts). */
export const bigintArray = (values: readonly bigint[]): string => `{${values.join(',')}}`

/** A PostgreSQL array of bytea as text. */
export const byteaArray = (values: readonly Uint8Array[]): string =>
  `{${values.map((bytes) => `"\\\\x${Buffer.from(bytes).toString('hex')}"`).join()}}`

/** One element of a PostgreSQL array of text. */
export const textElement = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`

/** A PostgreSQL array of text as text; null stays null. */
export const textArray = (values: readonly (string | null)[]): string =>
  `{${values.map((text) => (text === null ? 'null' : textElement(text))).join()}}`
