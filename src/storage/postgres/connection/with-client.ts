import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { MAINTENANCE_NAME, refusesParameters, startParameters } from './session-settings.js'

/** A connection apart from the pools. It never reconnects, so every statement rejects after a loss. */
export type Client = pg.Client

const CONNECT_MS = 5000
/** A hanging server never closes its connection. */
const END_MS = 1000

interface ClientOptions {
  /** Limit for the connection, ms. Default 5,000. */
  readonly connectMs?: number
  /** Limit for each statement, ms; 0 if there is none. */
  readonly queryMs: number
  readonly applicationName?: string
}

/** A connection apart from the pools, which the caller ends. Rejects as the driver does. */
export async function connectClient(url: string, options: ClientOptions): Promise<Client> {
  try {
    return await connectWith(false, url, options)
  } catch (error) {
    if (!refusesParameters(error)) throw error
    return await connectWith(true, url, options)
  }
}

async function connectWith(
  pooled: boolean,
  url: string,
  { connectMs = CONNECT_MS, queryMs, applicationName = MAINTENANCE_NAME }: ClientOptions,
): Promise<Client> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: connectMs, query_timeout: queryMs })
  // Sound: the driver (8.x) begins every connection with the result of this method, which its types lack.
  const driver = client as unknown as { getStartupConf(): Record<string, string> }
  const own = driver.getStartupConf()
  driver.getStartupConf = () => ({ ...own, ...startParameters(pooled, applicationName) })
  client.on('error', () => {}) // a lost connection rejects its statements; without a listener it would end the process
  try {
    await client.connect()
    return client
  } catch (error) {
    // Not awaited, because a hanging server never closes.
    void client.end().catch(() => {})
    throw error
  }
}

/**
 * Runs `work` on a connection apart from the pools, and then closes it. Rejects as the driver does, also after 5 s without a
 * connection, and for a statement that takes longer than `queryMs`, unless that is 0.
 */
export async function withClient<T>(
  url: string,
  work: (client: Client) => Promise<T>,
  { queryMs = 10_000 }: { readonly queryMs?: number } = {},
): Promise<T> {
  const client = await connectClient(url, { queryMs })
  try {
    return await work(client)
  } finally {
    await endClient(client)
  }
}

/** Runs a statement with a limit of its own. */
export async function queryWithin(client: Client, text: string, queryMs: number): Promise<void> {
  // Sound: the driver reads the limit for each statement; its types lack it.
  await client.query({ text, query_timeout: queryMs } as pg.QueryConfig)
}

/** Ends a connection and its transaction, and does not wait for an unreachable server. */
export const endClient = (client: Client): Promise<void> =>
  Promise.race([client.end(), delay(END_MS, undefined, { ref: false })]).catch(() => {})
