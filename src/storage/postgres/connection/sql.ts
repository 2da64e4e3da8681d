import postgres from 'postgres'
import { APPLICATION_NAME, startParameters } from './session-settings.js'

export type Sql = postgres.Sql
export type Transaction = postgres.TransactionSql
/** For fragments of statements inside or outside a transaction. */
export type Statements = Sql | Transaction

interface SqlOptions {
  readonly connectS: number
  readonly log: (line: string) => void
  /** Whether statements stay prepared; by default as the url says, otherwise true. */
  readonly prepare: boolean | undefined
  /** A pooler is between. By default true if statements do not stay prepared. */
  readonly pooled: boolean | undefined
}

/** PostgreSQL's number of the type. */
const BYTEA = 17

/** A connection of a pool, which connects on demand and again after a loss. */
export function openSql(url: string, { connectS, log, prepare, pooled }: SqlOptions): Sql {
  const sql = postgres(url, {
    max: 1,
    ...(prepare === undefined ? {} : { prepare }),
    connect_timeout: connectS,
    // The driver's own back-off grows to 20 s, which would outlast the outage.
    backoff: () => 0.1,
    // Saves a round trip per connection. Therefore arrays travel as text.
    fetch_types: false,
    onnotice: (notice) => log(`postgres: ${notice.message ?? 'notice'}`),
  })
  // They are not among the options above, because parameters of the connection string take precedence over those.
  Object.assign(sql.options.connection, startParameters(pooled ?? !sql.options.prepare, APPLICATION_NAME))
  sql.options.parsers[BYTEA] = readBytes
  return sql
}

/** The driver's own reader takes any text, and bytes that do not open afterwards look like a wrong encryption key. */
function readBytes(text: string): Uint8Array {
  if (!text.startsWith('\\x')) throw new Error('bytes of the database came in another format: bytea_output must be hex')
  return Buffer.from(text.slice(2), 'hex')
}
