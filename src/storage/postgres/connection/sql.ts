import postgres from 'postgres'
import { APPLICATION_NAME, startParameters } from './session-settings.js'

export type Sql = postgres.Sql
export type Transaction = postgres.TransactionSql
/** Makes fragments of statements inside or outside a transaction. */
export type Statements = Sql | Transaction

interface SqlOptions {
  readonly connectS: number
  readonly log: (line: string) => void
  /** Whether statements stay prepared; by default as in the URL, otherwise true. */
  readonly prepare: boolean | undefined
  /** Whether a pooler is in between. By default true if statements do not stay prepared. */
  readonly pooled: boolean | undefined
}

/** PostgreSQL's number of the type. */
const BYTEA = 17

/** A connection of a pool, which connects on demand and reconnects after a loss. */
export function openSql(url: string, { connectS, log, prepare, pooled }: SqlOptions): Sql {
  const sql = postgres(url, {
    max: 1,
    ...(prepare === undefined ? {} : { prepare }),
    connect_timeout: connectS,
    // The driver's own back-off grows to 20 s, which would outlast the outage.
    backoff: () => 0.1,
    // Saves a round trip per connection. Arrays are therefore sent as text.
    fetch_types: false,
    onnotice: (notice) => log(`postgres: ${notice.message ?? 'notice'}`),
  })
  // The start parameters are not among the options above, because those of the connection string would take precedence.
  Object.assign(sql.options.connection, startParameters(pooled ?? !sql.options.prepare, APPLICATION_NAME))
  sql.options.parsers[BYTEA] = readBytes
  return sql
}

/** Replaces the driver's reader, which accepts any text; bytes that then fail to open would look like a wrong encryption key. */
function readBytes(text: string): Uint8Array {
  if (!text.startsWith('\\x')) throw new Error('bytes of the database came in another format: bytea_output must be hex')
  return Buffer.from(text.slice(2), 'hex')
}
