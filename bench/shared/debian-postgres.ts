import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { findBinaries, handOver, launcher } from '../../src/storage/postgres/embedded/embedded-binaries.js'
import { answers, freePort } from '../../src/storage/postgres/embedded/embedded-running.js'

/** A server that runs Debian's PostgreSQL. */
export interface DebianServer {
  readonly port: number
  readonly url: string
  /** Sends SIGKILL to the postmaster; its children end too. */
  kill(): Promise<void>
  /** Starts a killed server again, in the same role. */
  restart(): Promise<void>
  /** Sends the signal to the postmaster and all its children. */
  signalAll(name: 'SIGSTOP' | 'SIGCONT'): Promise<void>
  /** Runs a statement as superuser, in the database `postgres` by default. */
  run(statement: string, database?: string): Promise<Record<string, unknown>[]>
}

/** A folder for database clusters. Debian's programs run in it as a user that may run them. */
export interface DebianPostgres {
  /** Folder of the programs. */
  readonly bin: string
  /** Creates an empty folder in it and returns its path. */
  folder(name: string): string
  run(program: string, ...args: string[]): Promise<void>
  /** Creates an empty database cluster in a new folder and returns its path. */
  initialize(name: string): Promise<string>
  /** Starts a server and resolves when it answers. `settings` are `name=value`. */
  serve(data: string, ...settings: string[]): Promise<DebianServer>
  remove(): void
}

/** The newest of Debian's versions; the embedded PostgreSQL has no pg_basebackup. */
const programs = () => {
  const place = '/usr/lib/postgresql'
  const versions = existsSync(place) ? readdirSync(place).sort((a, b) => Number(b) - Number(a)) : []
  return versions.map((version) => join(place, version, 'bin')).find((bin) => existsSync(join(bin, 'pg_basebackup')))
}

/**
 * Null if the programs are installed, otherwise the reason to skip their tests. Throws instead under
 * `REQUIRE_STANDBY=1`.
 */
export function whyNoStandby(): string | null {
  if (programs() !== undefined) return null
  const line = "NO STANDBY: fail-over of PostgreSQL is SKIPPED (install Debian's postgresql)"
  if (process.env.REQUIRE_STANDBY === '1') throw new Error(line)
  return line
}

export function debianPostgres(): DebianPostgres {
  const bin = programs() ?? ''
  const root = mkdtempSync(join(tmpdir(), 'keystride-debian-'))
  const binaries = findBinaries(root)
  const environment = { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' }
  const command = (program: string, args: readonly string[], diesWithParent = false) =>
    launcher(binaries, { diesWithParent })([join(bin, program), ...args])
  const run = async (program: string, ...args: string[]) => {
    const [file, ...rest] = command(program, args)
    await promisify(execFile)(file, rest, { env: environment })
  }
  const folder = (name: string) => {
    const made = join(root, name)
    mkdirSync(made, { mode: 0o700 })
    handOver(binaries, made)
    return made
  }
  return {
    bin,
    folder,
    run,
    async initialize(name) {
      const data = folder(name)
      await run('initdb', '-D', data, '-U', 'keystride', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync')
      return data
    },
    async serve(data, ...settings) {
      const port = await freePort()
      const fixed = [`port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=60']
      const args = ['-D', data, ...[...fixed, ...settings].flatMap((setting) => ['-c', setting])]
      return serverOf(port, command('postgres', args, true), environment)
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  }
}

/** Longest time until a started server answers. */
const START_MS = 30_000

async function serverOf(
  port: number,
  [file, ...args]: readonly [string, ...string[]],
  env: NodeJS.ProcessEnv,
): Promise<DebianServer> {
  let child: ChildProcess | undefined
  const gone = () => child === undefined || child.exitCode !== null || child.signalCode !== null
  const url = `postgres://keystride@127.0.0.1:${port}/postgres`
  const start = async () => {
    // The children of a killed server hold its shared memory for a moment; a new server does not start until they end.
    for (const deadline = Date.now() + START_MS; ; await delay(10)) {
      if (gone()) child = spawn(file, args, { stdio: 'ignore', env })
      if (await answers(url)) return
      if (Date.now() > deadline) throw new Error(`PostgreSQL does not answer on port ${port} within ${START_MS} ms`)
    }
  }
  await start()
  return {
    port,
    url,
    restart: start,
    async kill() {
      if (child === undefined || gone()) return
      child.kill('SIGCONT')
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
    async signalAll(name) {
      child?.kill(name)
      const children = spawnSync('ps', ['-o', 'pid=', '--ppid', String(child?.pid)]).stdout.toString()
      for (const pid of children
        .split('\n')
        .map(Number)
        .filter((one) => one > 0)) {
        try {
          process.kill(pid, name)
        } catch (error) {
          // A process of the server may have ended since the list was made.
          if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
        }
      }
    },
    async run(statement, database = 'postgres') {
      const client = new pg.Client({ connectionString: url.replace(/postgres$/, database) })
      client.on('error', () => {})
      await client.connect()
      const { rows } = await client.query(statement)
      await client.end()
      return rows
    },
  }
}
