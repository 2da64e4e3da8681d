import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'

const CONNECT_MS = 5000
/** A hanging server never closes its connection. */
const END_MS = 1000

/**
 * Runs `work` on a connection apart from the pools, and then closes it. Rejects as the driver does, also after 5 s without a
 * connection, and for a statement that takes longer than `queryMs` (0: no limit).
 */
export async function withClient<T>(
  url: string,
  work: (client: pg.Client) => Promise<T>,
  { queryMs = 10_000 }: { readonly queryMs?: number } = {},
): Promise<T> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: queryMs,
  })
  client.on('error', () => {}) // a lost connection rejects the statement under way; without a listener, it would end the process
  await client.connect()
  try {
    return await work(client)
  } finally {
    await Promise.race([client.end(), delay(END_MS, undefined, { ref: false })]).catch(() => {})
  }
}
