import { type ChildProcess, execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startEmbedded } from '../../src/storage/postgres/embedded/embedded.js'
import { findBinaries, launcher } from '../../src/storage/postgres/embedded/embedded-binaries.js'
import { answers, freePort } from '../../src/storage/postgres/embedded/embedded-running.js'
import { startChild } from '../servers/child.js'
import { until } from './patience.js'

/** A Redis server of a test, which may kill, halt and fill it. */
export interface OwnRedis {
  readonly port: number
  cli(...args: string[]): Promise<string>
  kill(): Promise<void>
  /** Restarts the server with its folder and port and further options; resolves when it answers. */
  restart(...more: string[]): Promise<void>
  signal(name: 'SIGSTOP' | 'SIGCONT'): void
  close(): Promise<void>
}

export async function startOwnRedis(...more: string[]): Promise<OwnRedis> {
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), 'keystride-own-redis-'))
  let server: ChildProcess
  const cli = async (...args: string[]) =>
    (await promisify(execFile)('redis-cli', ['-p', String(port), ...args])).stdout.trim()
  const own: OwnRedis = {
    port,
    cli,
    async kill() {
      server.kill('SIGKILL')
      if (server.exitCode === null && server.signalCode === null) await once(server, 'exit')
    },
    async restart(...more) {
      const fixed = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder]
      server = startChild('redis-server', [...fixed, ...more], { stdio: 'ignore' })
      await until(async () => (await cli('ping').catch(() => '')) === 'PONG')
    },
    signal: (name) => void server.kill(name),
    async close() {
      await own.kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  await own.restart(...more)
  return own
}

/** A PostgreSQL server of a test without a supervisor. */
export interface OwnPostgres {
  /** URL of the server itself, not of a proxy. */
  readonly url: string
  readonly port: number
  /** Pids of the processes that serve a connection. */
  backends(): Promise<number[]>
  /** Pids of all children of the postmaster. */
  children(): Promise<number[]>
  /** Sends SIGKILL to the postmaster; its children end too. */
  kill(): Promise<void>
  /** Ends the server after it has written all pages to their files. */
  shutDown(): Promise<void>
  /** Starts the server again after its end; resolves when it answers. */
  restart(): Promise<void>
  accepts(): Promise<boolean>
  signalAll(name: 'SIGSTOP' | 'SIGCONT'): Promise<void>
  close(): Promise<void>
}

/** Creates the database in `folder` like the embedded one; no service supervises the server. */
export async function startOwnPostgres(
  folder = mkdtempSync(join(tmpdir(), 'keystride-own-postgres-')),
): Promise<OwnPostgres> {
  const made = await startEmbedded({ dataFolder: folder })
  await made.stop()
  const port = await freePort()
  const url = new URL(made.url)
  url.port = String(port)
  const binaries = findBinaries(folder)
  const settings = [`port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=60']
  const [program, ...args] = launcher(binaries, { diesWithParent: true })([
    binaries.postgres,
    ...['-D', join(folder, 'postgres')],
    ...settings.flatMap((setting) => ['-c', setting]),
  ])
  let server: ChildProcess
  const gone = () => server.exitCode !== null || server.signalCode !== null
  const start = () => {
    server = startChild(program, args, { stdio: 'ignore', env: binaries.environment })
  }
  const processes = async (): Promise<{ pid: number; what: string }[]> => {
    const ps = await promisify(execFile)('ps', ['-o', 'pid=,args=', '--ppid', String(server.pid)]).catch(() => null)
    return (ps?.stdout ?? '')
      .split('\n')
      .map((line) => ({ pid: Number.parseInt(line, 10), what: line }))
      .filter((one) => one.pid > 0)
  }
  const own: OwnPostgres = {
    url: url.href,
    port,
    backends: async () => (await processes()).filter(({ what }) => what.includes('127.0.0.1(')).map(({ pid }) => pid),
    children: async () => (await processes()).map(({ pid }) => pid),
    async kill() {
      server.kill('SIGKILL')
      await until(gone)
    },
    async shutDown() {
      server.kill('SIGINT')
      await until(gone)
    },
    async restart() {
      // The children of a killed server hold its shared memory for a moment; a new server does not start until they
      // end.
      await until(async () => {
        if (gone()) start()
        return own.accepts()
      })
    },
    accepts: () => answers(url.href),
    async signalAll(name) {
      // The postmaster gets the signal first, so that it starts no further children.
      server.kill(name)
      for (const { pid } of await processes()) {
        try {
          process.kill(pid, name)
        } catch {
          // The process has ended since it was listed.
        }
      }
    },
    async close() {
      if (!gone()) server.kill('SIGINT')
      await until(gone)
      rmSync(folder, { recursive: true, force: true })
    },
  }
  start()
  await own.restart()
  return own
}
