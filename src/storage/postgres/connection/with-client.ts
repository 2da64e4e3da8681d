import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { refusesParameters, startParameters } from './session-settings.js'

const CONNECT_MS = 5000
/** A hanging server never closes its connection. */
const END_MS = 1000

interface ClientOptions {
  /** Limit for the connection, ms. Default 5,000. */
  readonly connectMs?: number
  /** Limit for each statement, ms. 0: none. */
  readonly queryMs: number
  readonly applicationName?: string
}

/** A connection apart from the pools, for the caller to end. Rejects as the driver does. */
export async function connectClient(url: string, options: ClientOptions): Promise<pg.Client> {
  try {
    return await connectWith(startParameters(false), url, options)
  } catch (error) {
    if (!refusesParameters(error)) throw error
    return await connectWith(startParameters(true), url, options)
  }
}

async function connectWith(
  parameters: Readonly<Record<string, string>>,
  url: string,
  { connectMs = CONNECT_MS, queryMs, applicationName }: ClientOptions,
): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: connectMs,
    query_timeout: queryMs,
    ...(applicationName === undefined ? {} : { application_name: applicationName }),
  })
  // Sound: the driver (8.x) begins every connection with the result of this method; its types lack it.
  const driver = client as unknown as { getStartupConf(): Record<string, string> }
  const own = driver.getStartupConf()
  driver.getStartupConf = () => ({ ...own, ...parameters })
  client.on('error', () => {}) // a lost connection rejects the statement under way; without a listener, it would end the process
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
 * connection, and for a statement that takes longer than `queryMs` (0: no limit).
 */
export async function withClient<T>(
  url: string,
  work: (client: pg.Client) => Promise<T>,
  { queryMs = 10_000 }: { readonly queryMs?: number } = {},
): Promise<T> {
  const client = await connectClient(url, { queryMs })
  try {
    return await work(client)
  } finally {
    await endClient(client)
  }
}

/** Ends a connection and its transaction, and does not wait for an unreachable server. */
export const endClient = (client: pg.Client): Promise<void> =>
  Promise.race([client.end(), delay(END_MS, undefined, { ref: false })]).catch(() => {})
