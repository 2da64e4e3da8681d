import { createClient, createCluster, type RedisClusterOptions } from '@redis/client'
import { type Client, IN_BYTES, type NodeOptions } from './connection.js'

/** After a broken connection, the cluster is asked for its masters at this interval. */
const ASK_AGAIN_MS = 500

/**
 * A Redis Cluster behind the interface of one node: keys select the master of their slot, MOVED and ASK are followed, and a
 * promoted replica is found automatically. `urls` are the seed nodes; they report all others, which get the user, the
 * password and the encryption of the first seed.
 */
export function clusterClient(urls: readonly string[], node: NodeOptions, onError: (error: Error) => void): Client {
  const { username, password, protocol } = new URL(urls[0] ?? '')
  const defaults: NonNullable<RedisClusterOptions['defaults']> = {
    ...node,
    ...(username === '' ? {} : { username: decodeURIComponent(username) }),
    ...(password === '' ? {} : { password: decodeURIComponent(password) }),
    ...(protocol === 'rediss:' ? { socket: { ...node.socket, tls: true as const } } : {}),
  }
  const client = createCluster({
    rootNodes: urls.map((url) => ({ ...node, url })),
    defaults,
    commandOptions: node.commandOptions,
    topologyRefreshOnReconnectionAttemptStrategy: ASK_AGAIN_MS,
  })
  const bytesClient = client.withTypeMapping(IN_BYTES)
  client.on('error', onError)
  client.on('node-error', onError)
  const masters = () => Promise.all(client.masters.map((master) => client.nodeClient(master)))

  /** INFO of a replica, which serves no commands yet; null if it is unreachable. */
  async function infoOf(host: string, port: number): Promise<string | null> {
    const replica = createClient({ ...defaults, socket: { ...defaults.socket, host, port, reconnectStrategy: false } })
    replica.on('error', () => {})
    try {
      await replica.connect()
      return await replica.info()
    } catch {
      return null
    } finally {
      replica.destroy()
    }
  }

  return {
    connect: () => client.connect(),
    async infos() {
      const [first, ...others] = await masters()
      if (first === undefined) throw new Error('a cluster without a master')
      const replicas = replicasIn(await first.clusterNodes())
      const found = await Promise.all([
        ...[first, ...others].map((master) => master.info()),
        ...replicas.map(({ host, port }) => infoOf(host, port)),
      ])
      return found.filter((info) => info !== null)
    },
    evalSha: (sha1, keys, args, inBytes) =>
      (inBytes ? bytesClient : client).evalSha(sha1, { keys: [...keys], arguments: [...args] }),
    eval: (source, keys, args, inBytes) =>
      (inBytes ? bytesClient : client).eval(source, { keys: [...keys], arguments: [...args] }),
    async onEveryMaster(work) {
      for (const master of await masters()) await work((source, args) => master.eval(source, { arguments: [...args] }))
    },
    async probe(source) {
      const probes = (await masters()).map(async (master) => {
        const [info, given] = await Promise.all([master.clusterInfo(), master.eval(source)])
        // A master of a broken cluster still answers commands without keys.
        if (!/^cluster_state:ok/m.test(info)) throw new Error('the cluster is down')
        return given
      })
      return Promise.all(probes)
    },
    destroy: () => client.destroy(),
  }
}

/** The replicas in a reply of `cluster nodes`, which has one row per node: `id host:port@bus[,name] flags ...`. */
function replicasIn(nodes: string): { host: string; port: number }[] {
  return nodes.split('\n').flatMap((row) => {
    const [, address = '', flags = ''] = row.split(' ')
    const [, host = '', port = ''] = /^(.*):(\d+)@/.exec(address) ?? []
    return /slave/.test(flags) && !/fail|noaddr/.test(flags) && host !== '' ? [{ host, port: Number(port) }] : []
  })
}
