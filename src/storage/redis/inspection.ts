import type { RedisNodeFacts, SessionStoreInspection } from '../inspection.js'
import { fieldOf, makeClient, PROBE, parseUrl, whyUnfit, within } from './client.js'

const CONNECT_MS = 5000

/** Connects to one node or a cluster. Rejects if it does not answer within 5 s. */
export async function inspectRedis(url: string): Promise<SessionStoreInspection> {
  const { cluster } = parseUrl(url)
  let last = ''
  let fail: (error: Error) => void = () => {}
  // The library retries for ever. A refusal of a single node is final; in a cluster another node may answer.
  const refused = new Promise<never>((_, reject) => {
    fail = reject
  })
  refused.catch(() => {}) // handled below, or after the connection
  const client = makeClient(url, (error) => {
    last = error.message || error.name
    if (!cluster) fail(error)
  })
  const bounded = <T>(work: Promise<T>) => within(CONNECT_MS, work)
  try {
    await Promise.race([bounded(client.connect()), refused])
  } catch (error) {
    client.destroy()
    throw new Error(last || (error as Error).message)
  }
  return {
    cluster,
    clocks: async () => (await bounded(client.probe(PROBE))).map(Number),
    async nodes() {
      try {
        return { value: (await bounded(client.infos())).map(factsOf) }
      } catch (error) {
        const { message } = error as Error
        return { unread: message, denied: message.startsWith('NOPERM') }
      }
    },
    close: () => client.destroy(),
  }
}

function factsOf(info: string): RedisNodeFacts {
  const field = (name: string) => fieldOf(info, name)
  return {
    version: field('redis_version'),
    role: field('role'),
    usedBytes: Number(field('used_memory')),
    limitBytes: Number(field('maxmemory')),
    policy: field('maxmemory_policy'),
    evictedKeys: Number(field('evicted_keys')),
    linkDown: field('master_link_status') === 'down',
    unfit: whyUnfit(info),
  }
}
