import { createHash } from 'node:crypto'
import { createClient, ErrorReply } from '@redis/client'
import { atMost } from '../../base/at-most.js'
import { startBeats } from '../../base/beats.js'
import { ExpectedFault } from '../../base/expected-fault.js'
import { logAtIntervals } from '../../base/log-at-intervals.js'
import { createUnorderedList, type Listed } from '../../base/unordered-list.js'
import { Refusal } from '../../domain/refusal.js'
import { observed, type StoreObserver } from '../store-observer.js'
import { clusterClient } from './cluster.js'
import { type Argument, type Client, IN_BYTES, NODE, type RunThere } from './connection.js'

/** A Lua script, sent by its hash. */
interface Script {
  readonly source: string
  readonly sha1: string
}

export interface Redis {
  /** Runs the script in one round trip, or in two if the server does not know it yet. All keys must share a hash tag. */
  run(script: Script, keys: readonly string[], args: readonly Argument[], options?: RunOptions): Promise<unknown>
  /** Calls `work` for every master, one after the other; `run` runs a script without keys there. */
  onEveryMaster(work: (run: RunThere) => Promise<void>): Promise<void>
  /**
   * Rejects if the server is unreachable, or takes no writes because it is full, read-only, or unable to save. Returns the clock
   * of each master, epoch ms.
   */
  ping(): Promise<readonly number[]>
  close(): Promise<void>
}

interface RunOptions {
  /** The keys to run with if `keys` are on two nodes, because their slot is being moved. */
  readonly fewer?: readonly string[]
  /** Whether texts of the reply are bytes; false by default. */
  readonly inBytes?: boolean
}

interface RedisOptions {
  /** `redis://` or `rediss://`; several, separated by commas, or `?cluster=true` mean a Redis Cluster. */
  readonly url: string
  readonly log?: (line: string) => void
  readonly observer?: StoreObserver | null
  /** STORE_PATIENCE, by which the limit of a command is multiplied. */
  readonly patience?: number
}

const BEAT_MS = 25
/** A round trip takes well under 1 ms, so a server that takes this long counts as lost, and the call is refused. */
const PATIENCE_MS = 150
/** The first connection may have to wait for a server that starts at the same time. */
const FIRST_CONNECT_MS = 5000

export const script = (source: string): Script => ({ source, sha1: createHash('sha1').update(source).digest('hex') })

/**
 * Connects, and from then on reconnects by itself; while disconnected, every call rejects with `Refusal('degraded')` at
 * once. Rejects with an error for the operator if the server cannot be reached within 5 s, is older than 7, or may evict keys,
 * because an evicted session would restore its used attempts.
 */
export async function connectRedis({
  url,
  log = () => {},
  observer = null,
  patience = 1,
}: RedisOptions): Promise<Redis> {
  const logError = logAtIntervals(log)
  let lastLine = ''
  const client = makeClient(url, (error) => {
    lastLine = `redis: ${error.message || error.name}`
    logError(lastLine)
  })
  try {
    await within(FIRST_CONNECT_MS, client.connect())
    const infos = await within(FIRST_CONNECT_MS, client.infos())
    const unfit = infos.map(whyUnfit).find((why) => why !== null)
    if (unfit) throw new ExpectedFault(unfit)
  } catch (error) {
    client.destroy()
    if (error instanceof ExpectedFault) throw error
    if (says('NOPERM', error))
      throw new ExpectedFault(
        `REDIS_URL: its user may not run INFO, which the start needs: ${(error as Error).message}`,
      )
    throw new ExpectedFault(`no Redis answers at REDIS_URL: ${lastLine || (error as Error).message}`)
  }
  const limit = startLimit(patience)
  const bounded = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await limit.bound(work)
    } catch (error) {
      if (error instanceof ErrorReply && !TRANSIENT.test(error.message)) throw error
      throw new Refusal('degraded', 'try again later: the session store does not answer', undefined, error)
    }
  }
  const send = (
    { source, sha1 }: Script,
    { keys, args, inBytes }: { keys: readonly string[]; args: readonly Argument[]; inBytes: boolean },
  ): Promise<unknown> =>
    client.evalSha(sha1, keys, args, inBytes).catch((error: unknown) => {
      if (!says('NOSCRIPT', error)) throw error
      return client.eval(source, keys, args, inBytes)
    })
  const run: Redis['run'] = (script, keys, args, { fewer, inBytes = false } = {}) =>
    bounded(
      send(script, { keys, args, inBytes }).catch((error: unknown) => {
        if (fewer === undefined || !says('TRYAGAIN', error)) throw error
        return send(script, { keys: fewer, args, inBytes })
      }),
    )
  return {
    run: observer === null ? run : (...call) => observed(observer, 'redis', performance.now(), run(...call)),
    onEveryMaster: (work) => client.onEveryMaster((run) => work((source, args) => bounded(run(source, args)))),
    ping: async () => (await bounded(client.probe(PROBE))).map(Number),
    close: async () => {
      limit.stop()
      client.destroy()
    },
  }
}

/** Writes nothing, but a server that refuses writes refuses a script without the flag `no-writes` (Redis 7, EVAL). */
export const PROBE = `#!lua
local time = redis.call('time')
return time[1] * 1000 + math.floor(time[2] / 1000)`

/** A client of one node or of a cluster, not connected yet. */
export function makeClient(url: string, onError: (error: Error) => void): Client {
  const { urls, cluster } = parseUrl(url)
  if (cluster) return clusterClient(urls, NODE, onError)
  const given = (keys: readonly string[], args: readonly Argument[]) => ({ keys: [...keys], arguments: [...args] })
  const client = createClient({ ...NODE, url: urls[0] ?? url })
  const bytesClient = client.withTypeMapping(IN_BYTES)
  client.on('error', onError)
  return {
    connect: () => client.connect(),
    infos: async () => [await client.info()],
    evalSha: (sha1, keys, args, inBytes) => (inBytes ? bytesClient : client).evalSha(sha1, given(keys, args)),
    eval: (source, keys, args, inBytes) => (inBytes ? bytesClient : client).eval(source, given(keys, args)),
    onEveryMaster: (work) => work((source, args) => client.eval(source, { arguments: [...args] })),
    probe: async (source) => [await client.eval(source)],
    destroy: () => client.destroy(),
  }
}

/** Several urls, or `?cluster=true`, mean a cluster. */
export function parseUrl(url: string): { urls: string[]; cluster: boolean } {
  const given = url.split(',').map((one) => new URL(one.trim()))
  const cluster = given.length > 1 || given.some((one) => one.searchParams.get('cluster') === 'true')
  for (const one of given) one.searchParams.delete('cluster')
  return { urls: given.map(String), cluster }
}

/** A field of INFO; empty if there is none. */
export const fieldOf = (info: string, name: string): string =>
  new RegExp(`^${name}:(.*?)\\s*$`, 'm').exec(info)?.[1] ?? ''

/** Why a server with this INFO cannot keep sessions; null if it can. Reads INFO, because managed servers hide CONFIG. */
export function whyUnfit(info: string): string | null {
  const field = (name: string) => fieldOf(info, name)
  if (Number.parseInt(field('redis_version'), 10) < 7)
    return `Redis 7 or newer is needed, this is ${field('redis_version')}`
  const policy = field('maxmemory_policy')
  if (field('maxmemory') === '0' || policy === '' || policy === 'noeviction') return null
  return `this Redis evicts keys when full (maxmemory-policy ${policy}), which would forget used-up attempts: set maxmemory-policy noeviction`
}

/** Transient error replies; any other reply is a bug. Keys that are not local are being moved (session.ts). */
const TRANSIENT =
  /^(LOADING|BUSY|OOM|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|MOVED|ASK|NOREPLICAS|MISCONF|UNBLOCKED)|access a non local key/

const says = (word: string, error: unknown): boolean => error instanceof ErrorReply && error.message.startsWith(word)

/** Rejects commands that take too long. One timer serves all, because a timer per command costs more than the command. */
function startLimit(patience: number) {
  const waiting = createUnorderedList<Listed & { readonly since: number; readonly giveUp: () => void }>()
  const beats = startBeats(BEAT_MS, patience, () => {
    for (const { since, giveUp } of [...waiting.items]) if (beats.now() - since >= PATIENCE_MS) giveUp()
    return waiting.items.length > 0
  })
  return {
    bound<T>(work: Promise<T>): Promise<T> {
      return new Promise((resolve, reject) => {
        const giveUp = () => settle(() => reject(new Error('no answer in time')))
        const command = { listIndex: -1, since: beats.now(), giveUp }
        const settle = (how: () => void) => {
          waiting.delete(command)
          how()
        }
        beats.wake()
        waiting.add(command)
        work.then(
          (value) => settle(() => resolve(value)),
          (error: unknown) => settle(() => reject(error)),
        )
      })
    },
    stop: beats.stop,
  }
}

/** Rejects if the work takes longer than `patienceMs`. */
export const within = <T>(patienceMs: number, work: Promise<T>): Promise<T> =>
  atMost(patienceMs, work, () => {
    throw new Error(`no answer within ${patienceMs} ms`)
  })
