import { type ChildProcess, execFile, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '../../src/storage/postgres/embedded/embedded-running.js'
import { until } from '../harness/patience.js'
import { startChild } from './child.js'

/** One of six nodes. */
interface ClusterNode {
  readonly port: number
  cli(...args: string[]): Promise<string>
  kill(): Promise<void>
  /** Starts the node again with its cluster configuration and without data. */
  restart(): Promise<void>
  signal(name: 'SIGSTOP' | 'SIGCONT'): void
}

/** Three masters with one replica each, on this machine. */
export interface RedisCluster {
  readonly nodes: readonly ClusterNode[]
  /** The value of REDIS_URL: all nodes. */
  readonly url: string
  /** The current master of the key's slot, and its replica. */
  ofKey(key: string): Promise<{ master: ClusterNode; replica: ClusterNode; slot: number }>
  masters(): Promise<ClusterNode[]>
  /** Resolves when another node has taken the slots of a killed master and all live nodes agree. */
  replaced(master: ClusterNode): Promise<void>
  /** Resolves when every slot is served and every master has a replica that is up to date. */
  whole(): Promise<void>
  close(): Promise<void>
}

/** Silence after which a master is replaced. The default of 15 s would only make the tests slower. */
const NODE_TIMEOUT_MS = 3000

export const clusterIsPossible = () =>
  spawnSync('redis-server', ['--version']).status === 0 && spawnSync('redis-cli', ['--version']).status === 0

export async function startRedisCluster(): Promise<RedisCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'keystride-redis-cluster-'))
  const nodes = await startNodes(folder)
  const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`)
  const options = ['--cluster-replicas', '1', '--cluster-yes']
  await promisify(execFile)('redis-cli', ['--cluster', 'create', ...addresses, ...options])
  const [first] = nodes
  if (first === undefined) throw new Error('no node')

  /** `cluster nodes` as the first live node answers it, a row for each node. */
  async function topology() {
    for (const node of nodes) {
      const text = await node.cli('cluster', 'nodes').catch(() => '')
      if (text !== '') return text.split('\n').map((line) => toRow(line, nodes))
    }
    throw new Error('no node of the cluster answers')
  }
  const masters = async () => (await topology()).filter((row) => row.master && row.slots.length > 0)
  const states = () => Promise.all(nodes.map((node) => node.cli('cluster', 'info').catch(() => null)))
  const served = (text: string | null) => /^cluster_state:ok/m.test(text ?? '')
  const cluster: RedisCluster = {
    nodes,
    url: addresses.map((address) => `redis://${address}`).join(','),
    async ofKey(key) {
      const slot = Number(await (await masters())[0]?.node.cli('cluster', 'keyslot', key))
      const rows = await topology()
      const master = rows.find((row) => row.master && row.slots.some(([from, to]) => from <= slot && slot <= to))
      const replica = rows.find((row) => row.of === master?.id)
      if (master === undefined || replica === undefined) throw new Error(`slot ${slot} has no master with a replica`)
      return { master: master.node, replica: replica.node, slot }
    },
    masters: async () => (await masters()).map(({ node }) => node),
    replaced: (lost) =>
      until(async () => {
        const now = await masters()
        if (now.length !== 3 || now.some(({ node }) => node.port === lost.port)) return false
        return (await states()).every((text) => text === null || served(text))
      }),
    whole: () =>
      until(async () => {
        if (!(await states()).every((text) => served(text) && /^cluster_known_nodes:6/m.test(text ?? ''))) return false
        const rows = await topology()
        const replicas = rows.filter((row) => !row.master && !row.failed)
        const linked = await Promise.all(replicas.map(({ node }) => node.cli('info', 'replication')))
        return (
          new Set(replicas.map(({ of }) => of)).size === 3 && linked.every((one) => /master_link_status:up/.test(one))
        )
      }),
    async close() {
      await Promise.all(nodes.map((node) => node.kill()))
      rmSync(folder, { recursive: true, force: true })
    },
  }
  await cluster.whole()
  return cluster
}

/**
 * Starts six nodes and resolves when they answer. If another process takes a port first, starts them once more on other
 * ports.
 */
async function startNodes(folder: string, further = 1): Promise<Awaited<ReturnType<typeof makeNode>>[]> {
  const nodes: Awaited<ReturnType<typeof makeNode>>[] = []
  for (let n = 0; n < 6; n++) nodes.push(await makeNode(join(folder, `${further}-${n}.conf`), folder))
  const started = await Promise.allSettled(nodes.map((node) => node.start()))
  const failed = started.find((one) => one.status === 'rejected')
  if (failed === undefined) return nodes
  await Promise.all(nodes.map((node) => node.kill()))
  if (further === 0) throw failed.reason
  return startNodes(folder, further - 1)
}

async function makeNode(configuration: string, folder: string) {
  const port = await freePort()
  const bus = await freePort()
  let server: ChildProcess | null = null
  const cli = async (...args: string[]) =>
    (await promisify(execFile)('redis-cli', ['-p', String(port), ...args], { timeout: 2000 })).stdout.trim()
  const node = {
    port,
    cli,
    async start() {
      const place = ['--port', String(port), '--cluster-port', String(bus), '--bind', '127.0.0.1', '--dir', folder]
      const kept = ['--save', '', '--dbfilename', `${port}.rdb`, '--cluster-config-file', configuration]
      const rules = ['--cluster-node-timeout', String(NODE_TIMEOUT_MS), '--repl-diskless-sync-delay', '0']
      server = startChild('redis-server', [...place, '--cluster-enabled', 'yes', ...kept, ...rules], {
        stdio: 'ignore',
      })
      await until(async () => (await cli('ping').catch(() => '')) === 'PONG')
    },
    async kill() {
      if (server === null || server.exitCode !== null || server.signalCode !== null) return
      server.kill('SIGKILL')
      await once(server, 'exit')
    },
    restart: () => node.start(),
    signal: (name: 'SIGSTOP' | 'SIGCONT') => void server?.kill(name),
  }
  return node
}

/** A row of `cluster nodes`: id, address, flags, master, three figures, link, slots. */
function toRow(line: string, nodes: readonly ClusterNode[]) {
  const [id = '', address = '', flags = '', of = '', , , , , ...slots] = line.split(' ')
  const port = Number(/:(\d+)@/.exec(address)?.[1])
  const node = nodes.find((one) => one.port === port)
  if (node === undefined) throw new Error(`an unknown node: ${address}`)
  return {
    id,
    node,
    of,
    master: flags.includes('master') && !flags.includes('fail'),
    failed: flags.includes('fail'),
    slots: slots
      .filter((range) => !range.startsWith('['))
      .map((range) => {
        const [from = Number.NaN, to = from] = range.split('-').map(Number)
        return [from, to] as const
      }),
  }
}
