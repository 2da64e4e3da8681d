import type { DatabaseInspection, MemberFacts } from '../../inspection.js'
import { poolerBetween } from '../connection/pooler.js'
import { findPrimary, serversOf } from '../connection/primary.js'
import { wrongSettings } from '../connection/session-settings.js'
import { type Client, connectClient, queryWithin } from '../connection/with-client.js'
import { createReader, read } from './reading.js'
import { readActivity, readReplication, readServer } from './server.js'
import { readKeys, readLastErasure, readOutbox, readPlacements, readSchema, readTables } from './stored.js'
import { readJobs } from './work.js'

/** A server that does not answer within this counts as unreachable. */
const CONNECT_MS = 5000
const STATEMENT_MS = 20_000

/**
 * Connects to the server that takes writes, otherwise to the first one that answers a statement; a pooler accepts connections
 * although its server is down. If none answers, rejects within 10 s per server.
 */
export async function inspectPostgres(url: string): Promise<DatabaseInspection> {
  const servers = serversOf(url)
  const primary = servers.length === 1 ? null : await findPrimary(servers)
  const { client, server } = await firstOf(primary === null ? servers : [primary.url])
  const { asLogin, asMonitor, asSystem } = createReader(client)
  return {
    async clock() {
      const { rows } = await client.query<{ now: number }>(
        'select extract(epoch from clock_timestamp())::float8 * 1000 as now',
      )
      return rows[0]?.now ?? Number.NaN
    },
    host: new URL(server).host,
    server: () => asMonitor(readServer),
    members: () => Promise.all(servers.map(memberOf)),
    pooler: () => read(() => poolerBetween(server)),
    settings: () => asLogin((one) => wrongSettings(async (statement) => (await one.query(statement)).rows)),
    schema: () => asLogin((one) => readSchema(one, server)),
    tables: () => asLogin(readTables),
    activity: () => asMonitor(readActivity),
    replication: () => asMonitor(readReplication),
    keys: () => asSystem(readKeys),
    outbox: () => asSystem(readOutbox),
    jobs: () => asLogin(readJobs),
    placements: () => asSystem(readPlacements),
    lastErasure: () => asSystem(readLastErasure),
    close: () => client.end(),
  }
}

async function firstOf(urls: readonly string[]): Promise<{ client: Client; server: string }> {
  let why: unknown
  for (const url of urls) {
    try {
      const client = await connectClient(url, { connectMs: CONNECT_MS, queryMs: STATEMENT_MS })
      await answers(client)
      return { client, server: url }
    } catch (error) {
      why = error
    }
  }
  throw why
}

async function answers(client: Client): Promise<void> {
  await queryWithin(client, 'select 1', CONNECT_MS).catch((error: Error) => {
    // Not awaited, because a hanging server never closes.
    void client.end().catch(() => {})
    throw new Error(`it accepts connections and answers no statement: ${error.message}`)
  })
}

async function memberOf(url: string): Promise<MemberFacts> {
  const { host } = new URL(url)
  try {
    const client = await connectClient(url, { connectMs: CONNECT_MS, queryMs: CONNECT_MS })
    try {
      const { rows } = await client.query<{ standby: boolean }>('select pg_is_in_recovery() as standby')
      return { host, role: rows[0]?.standby === true ? 'standby' : 'primary' }
    } finally {
      void client.end().catch(() => {}) // as above
    }
  } catch {
    return { host, role: 'unreachable' }
  }
}
