import { createHash } from 'node:crypto'
import { createClient, createCluster } from 'redis'
import { Refusal } from '../../domain/refusal.js'

/** A Lua script, sent by its hash. */
export interface Script {
  readonly source: string
  readonly sha1: string
}

export interface Redis {
  /** Runs the script in one round trip (two where the server has not seen it yet). All keys must share a hash tag. */
  run(script: Script, keys: readonly string[], args: readonly string[]): Promise<unknown>
  ping(): Promise<void>
  close(): Promise<void>
}

export interface RedisOptions {
  /** `redis://` or `rediss://`; several, separated by commas, or `?cluster=true` mean a Redis Cluster. */
  readonly url: string
  readonly log?: (line: string) => void
}

/** A round trip takes well under 1 ms: a server that takes this long is lost, and the caller is told so. */
const COMMAND_TIMEOUT_MS = 150
const CONNECT_TIMEOUT_MS = 2000
/** The first connection may have to wait for a server that starts beside us. */
const FIRST_CONNECT_MS = 5000
const RECONNECT_MS = 100
/** A silent server is noticed by a ping, and its connection given up, within this. */
const SILENCE_MS = 2000
/** Commands that wait for an answer: about 150 ms at 60,000 a second. More are refused at once. */
const QUEUE_MAX = 10_000

export const script = (source: string): Script => ({ source, sha1: createHash('sha1').update(source).digest('hex') })

/**
 * Connects, and from then on reconnects by itself; while away every call rejects with `Refusal('degraded')` at once.
 * Rejects with a plain sentence where the server cannot be reached within 5 s, is older than 7, or may evict keys: an
 * evicted session would hand out its attempts again.
 */
export async function connectRedis({ url, log = () => {} }: RedisOptions): Promise<Redis> {
  const { urls, cluster } = parseUrl(url)
  const options = {
    socket: { connectTimeout: CONNECT_TIMEOUT_MS, reconnectStrategy: RECONNECT_MS, socketTimeout: SILENCE_MS },
    disableOfflineQueue: true,
    commandsQueueMaxLength: QUEUE_MAX,
    pingInterval: SILENCE_MS / 4,
    disableClientInfo: true,
    maintNotifications: 'disabled' as const,
    // The library's own time-out makes an abort signal a command, which costs more than the command; see `bounded`.
    commandOptions: { timeout: 0 },
  }
  const { commandOptions, ...node } = options
  const client = cluster
    ? createCluster({
        rootNodes: urls.map((one) => ({ ...node, url: one })),
        defaults: { ...node, ...credentials(urls[0] ?? '') },
        commandOptions,
        topologyRefreshOnReconnectionAttemptStrategy: 500,
      })
    : createClient({ ...options, url: urls[0] ?? '' })
  let lastError = ''
  client.on('error', (error: Error) => {
    const line = `redis: ${error.message || error.name}`
    if (line !== lastError) log(line)
    lastError = line
  })
  const close = async () => {
    client.destroy()
  }
  try {
    await within(FIRST_CONNECT_MS, client.connect())
    for (const info of await memoryInfos(client)) refuseUnfit(info)
  } catch (error) {
    await close()
    if (error instanceof UnfitError) throw new Error(error.message)
    throw new Error(`REDIS_URL: no Redis answers there (${lastError || (error as Error).message})`)
  }

  const send = (keys: readonly string[], args: readonly string[], { source, sha1 }: Script): Promise<unknown> => {
    const given = { keys: [...keys], arguments: [...args] }
    return client.evalSha(sha1, given).catch((error: Error) => {
      if (!error.message.startsWith('NOSCRIPT')) throw error
      return client.eval(source, given)
    })
  }
  return {
    run: (wanted, keys, args) => bounded(() => send(keys, args, wanted)),
    ping: async () => {
      await bounded(() => ('masters' in client ? pingAll(client) : client.ping()))
    },
    close,
  }
}

async function bounded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await within(COMMAND_TIMEOUT_MS, work())
  } catch (error) {
    throw new Refusal('degraded', `try again later: the session store is away`, 1)
  }
}
