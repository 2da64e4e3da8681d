import { type ChildProcess, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { answers, freePort } from '../../src/storage/postgres/embedded/embedded-running.js'
import { until } from '../harness/patience.js'
import { startChild } from './child.js'
import { scalingBlock, settingsIn } from './scaling-page.js'

/** A PgBouncer in transaction mode before all databases of one server. */
export interface Pgbouncer {
  /** The connection string that leads through it. */
  through(url: string): string
  kill(): Promise<void>
  /** Starts a killed PgBouncer again; resolves when it answers. */
  restart(): Promise<void>
  close(): Promise<void>
}

/** Debian installs it in /usr/sbin, which is not on every PATH. */
const program = ['pgbouncer', '/usr/sbin/pgbouncer'].find((name) => spawnSync(name, ['--version']).status === 0)
/** PgBouncer supports prepared statements from 1.21 on; these tests do not use them. */
const keepsStatements = () => {
  const [, minor] = /PgBouncer 1\.(\d+)/.exec(spawnSync(program ?? '', ['--version']).stdout.toString()) ?? []
  return minor === undefined || Number(minor) >= 21
}

/**
 * Null if PgBouncer is installed, otherwise the reason to skip its tests. Throws instead under `REQUIRE_PGBOUNCER=1`.
 */
export function whyNoPgbouncer(): string | null {
  if (program !== undefined) return null
  const line = 'NO PGBOUNCER: every test behind it is SKIPPED (put pgbouncer on PATH)'
  if (process.env.REQUIRE_PGBOUNCER === '1') throw new Error(line)
  return line
}

/**
 * Server connections in a pool: fewer than a service opens, and used in turn, so that state left on a connection would
 * reach another transaction.
 */
const POOL = 6

/** Settings of docs/scaling.md that need a value of this machine. */
const LOCAL = ['listen_addr', 'listen_port', 'auth_file', 'default_pool_size', 'max_client_conn']

/**
 * Starts it with the configuration of docs/scaling.md. `more` adds settings, or removes one (null), so that PgBouncer's
 * default applies. `users` is the text of its auth_file, the password of `serverUrl` by default.
 */
export async function startPgbouncer(
  serverUrl: string,
  more: Readonly<Record<string, string | number | null>> = {},
  users?: string,
): Promise<Pgbouncer> {
  const server = new URL(serverUrl)
  const folder = mkdtempSync(join(tmpdir(), 'keystride-pgbouncer-'))
  chmodSync(folder, 0o755)
  const port = await freePort()
  const authFile = join(folder, 'users.txt')
  writeFileSync(authFile, users ?? `"${server.username}" "${decodeURIComponent(server.password)}"\n`)
  const documented = settingsIn(scalingBlock('ini pgbouncer.ini'))
  const lacks = [...LOCAL, 'keystride', 'pool_mode'].filter((name) => !(name in documented))
  if (lacks.length > 0) throw new Error(`docs/scaling.md: pgbouncer.ini without ${lacks.join(', ')}`)
  const { keystride: _, ...common } = documented
  const settings = {
    ...common,
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_file: authFile,
    default_pool_size: POOL,
    server_round_robin: 1,
    max_client_conn: 500,
    // Each database has its own pool, and a test uses one or two databases.
    server_idle_timeout: 2,
    ...(keepsStatements() ? { max_prepared_statements: 0 } : {}),
    ...more,
  }
  const lines = Object.entries(settings).flatMap(([name, value]) => (value === null ? [] : `${name} = ${value}`))
  const file = join(folder, 'pgbouncer.ini')
  const databases = ['[databases]', `* = host=${server.hostname} port=${server.port}`]
  writeFileSync(file, [...databases, '[pgbouncer]', ...lines, ''].join('\n'))
  // PgBouncer refuses to run as root.
  const args = process.getuid?.() === 0 ? ['-u', 'nobody', file] : [file]
  const through = (url: string) => {
    const pooled = new URL(url)
    pooled.host = `127.0.0.1:${port}`
    return pooled.href
  }
  let child: ChildProcess
  const pooler: Pgbouncer = {
    through,
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
    async restart() {
      child = startChild(program ?? '', args, { stdio: 'ignore' })
      await until(() => answers(through(serverUrl)))
    },
    async close() {
      await pooler.kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  await pooler.restart()
  return pooler
}
