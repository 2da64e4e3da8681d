import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../../src/process/config.js'
import { jsonLog } from '../../src/process/log.js'
import { packageRoot } from '../../src/scoring/artifacts.js'
import { startEmbedded } from '../../src/storage/postgres/embedded/embedded.js'
import { freePort, readPidFile } from '../../src/storage/postgres/embedded/embedded-running.js'
import { administration, openStores } from '../../src/wiring/open-stores.js'
import type { Stores } from '../../src/wiring/stores.js'
import type { Parts } from './parts.js'
import { within } from './within.js'

/** The stores of a bench's processes, and an organization with a key. */
export interface Deployment {
  readonly databaseUrl: string
  /** Null without Redis; sessions are then in PostgreSQL. */
  readonly redisUrl: string | null
  /** Process ids of the servers, for their processor time; null for a Redis that was not started here. */
  readonly postgresPid: number
  readonly redisPid: number | null
  readonly organizationId: string
  readonly apikey: string
  /** The stores, opened in this process; sessions are in Redis if available. */
  readonly stores: Stores
  /** The stores with sessions in PostgreSQL. */
  readonly withoutRedis: Stores
  /** Starts the service as `npm start` does. */
  service(settings: ServiceSettings): Promise<Running>
  /** Starts a program of bench/ that prints its port first, with the service's settings except Redis. */
  program(file: string, env?: Readonly<Record<string, string>>): Promise<Running>
  close(): Promise<void>
}

interface ServiceSettings {
  readonly processes: number
  readonly scoring: 'inline' | 'pool'
  readonly redis: boolean
  readonly env?: Readonly<Record<string, string>>
}

export interface Running {
  readonly port: number
  readonly pid: number
  stop(): Promise<void>
}

/** The parts of a deployment, of which `running` are the fronts. */
export const partsOf = ({ postgresPid, redisPid }: Deployment, running: readonly Running[]): Parts => ({
  front: running.map(({ pid }) => pid),
  postgres: postgresPid,
  redis: redisPid,
})

/** Connections of a server that several services and a peer share, and the most of each of their processes. */
const CONNECTIONS = 200
const POOL = '10'

/** A process that has not ended after this time is killed. */
const STOP_MS = 30_000

/** Clean-up steps, run in reverse order however the bench ends. */
export type Closing = (() => Promise<void>)[]

/**
 * Starts a PostgreSQL, and a Redis unless `REDIS_URL` is set, in a temporary folder. Redis syncs its append-only file each
 * second, as in docker-compose.yml. Without redis-server on the PATH `redisUrl` is null. `sharedBuffersMib` is by default that of
 * the embedded PostgreSQL.
 */
export async function deploy(name: string, sharedBuffersMib?: number): Promise<Deployment> {
  const closing: Closing = []
  let closed: Promise<void> | undefined
  // A second call, such as after a signal, waits for the same end.
  const close = () => {
    closed ??= (async () => {
      for (const step of closing.splice(0).reverse()) await step().catch(() => {})
    })()
    return closed
  }
  try {
    const folder = mkdtempSync(join(tmpdir(), 'keystride-bench-'))
    closing.push(async () => rmSync(folder, { recursive: true, force: true }))
    const embedded = await startEmbedded({
      dataFolder: folder,
      connections: CONNECTIONS,
      ...(sharedBuffersMib === undefined ? {} : { sharedBuffersMib }),
    })
    closing.push(() => embedded.stop())
    const { redisUrl, redisPid } = await redisFor(folder, closing)
    const settings = {
      DATABASE_URL: embedded.url,
      ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      KEYSTRIDE_DATA: folder,
      LOG_LEVEL: 'warn',
      DATABASE_POOL: POOL,
      // The bench measures capacity, so nothing is shed.
      QUEUE_MS: '60000',
    }
    const opened = async (more: Record<string, string>) => {
      const stores = await openStores(readConfig({ ...settings, ...more }), jsonLog('silent'), {
        redis: true,
        schema: 'migrate',
      })
      closing.push(() => stores.close())
      return stores
    }
    const withoutRedis = await opened({})
    const stores = redisUrl === null ? withoutRedis : await opened({ REDIS_URL: redisUrl })
    const flows = administration(withoutRedis)
    const { id: organizationId } = await flows.create(name)
    const { apikey } = await flows.issueKey(organizationId, 'bench')
    return {
      databaseUrl: embedded.url,
      redisUrl,
      postgresPid: readPidFile(join(folder, 'postgres'))?.pid ?? 0,
      redisPid,
      organizationId,
      apikey,
      stores,
      withoutRedis,
      service: ({ processes, scoring, redis, env = {} }) =>
        launch(closing, 'bin/start.mjs', /serves on \S+:(\d+)[\s\S]*Next:/, {
          ...settings,
          ...(redis && redisUrl !== null ? { REDIS_URL: redisUrl } : { REDIS_URL: '' }),
          PORT: '0',
          LOG_FORMAT: 'text',
          PROCESSES: String(processes),
          SCORING: scoring,
          ...env,
        }),
      program: (file, env = {}) => launch(closing, `build/bench/${file}`, /^(\d+)\n/, { ...settings, ...env }),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function redisFor(
  folder: string,
  closing: Closing,
): Promise<{ readonly redisUrl: string | null; readonly redisPid: number | null }> {
  if (process.env.REDIS_URL) return { redisUrl: process.env.REDIS_URL, redisPid: null }
  const port = await freePort()
  const flags = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'yes']
  const child = spawn('redis-server', flags, { stdio: ['ignore', 'pipe', 'ignore'], detached: true })
  const ready = new Promise<boolean>((resolve) => {
    child.stdout.on('data', (text: Buffer) => text.toString().includes('Ready to accept') && resolve(true))
    child.once('exit', () => resolve(false)).once('error', () => resolve(false))
  })
  if (!(await within('the start of redis-server', ready))) return { redisUrl: null, redisPid: null }
  closing.push(() => ended(child))
  return { redisUrl: `redis://127.0.0.1:${port}`, redisPid: child.pid ?? null }
}

/**
 * Starts a program of this package; resolves with the port that `serving` finds in its output. The process has its own group: Ctrl-C
 * reaches the bench only, which then stops the process.
 */
export async function launch(
  closing: Closing,
  file: string,
  serving: RegExp,
  env: Readonly<Record<string, string>>,
): Promise<Running> {
  const child = spawn(process.execPath, [join(packageRoot(), file)], {
    cwd: packageRoot(),
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  const stop = () => ended(child)
  closing.push(stop)
  const serves = new Promise<number>((resolve, reject) => {
    let output = ''
    child.stdout.on('data', (chunk) => {
      output += chunk
      const found = serving.exec(output)?.[1]
      if (found !== undefined) resolve(Number(found))
    })
    child.once('exit', () => reject(new Error(`${file} ended before it served:\n${output}`)))
  })
  const port = await within(`the port of ${file}`, serves)
  return { port, pid: child.pid ?? 0, stop }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  const exit = once(child, 'exit')
  await within('the end of a process', exit, STOP_MS).catch(async () => {
    child.kill('SIGKILL')
    await exit
  })
}

/** Closes the deployment before a signal ends the bench. */
export function closeOnSignal(deployment: Deployment): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void deployment.close().then(() => process.exit(130)))
}
