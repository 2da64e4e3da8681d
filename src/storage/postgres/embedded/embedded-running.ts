import { randomInt } from 'node:crypto'
import { readFileSync, readlinkSync, realpathSync } from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import postgres from 'postgres'

/** The service's login in an embedded database; the password is in a 0600 file in the database's folder. */
export interface Credentials {
  readonly user: string
  readonly password: string
}

/** PostgreSQL's `postmaster.pid`: process id in line 1, port in line 4, state in line 8. */
interface PidFile {
  readonly pid: number
  /** Null while the server starts. */
  readonly port: number | null
  readonly status: string
}

export const urlOf = ({ user, password }: Credentials, port: number): string =>
  `postgres://${user}:${password}@127.0.0.1:${port}/keystride`

/** The content of the file; null if there is none, or if it is still being written. */
export function readPidFile(folder: string): PidFile | null {
  let lines: string[]
  try {
    lines = readFileSync(path.join(folder, 'postmaster.pid'), 'utf8').split('\n')
  } catch {
    return null
  }
  const pid = Number.parseInt(lines[0] ?? '', 10)
  if (!(pid > 0)) return null
  return { pid, port: Number.parseInt(lines[3] ?? '', 10) || null, status: lines[7]?.trim() ?? 'starting' }
}

/** Whether a process with this id is alive, of any user. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !isZombie(pid)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM' // what kill throws
  }
}

/** Whether the process is dead but not reaped by its parent, as in a container without an init process. */
function isZombie(pid: number): boolean {
  try {
    return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

/** Whether the process is alive and, on Linux, has `folder` as working directory, like the PostgreSQL of the folder. */
export function isOurPostgres(pid: number, folder: string): boolean {
  if (!isRunning(pid)) return false
  if (process.platform !== 'linux') return true
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(folder)
  } catch {
    return true
  }
}

/**
 * Whether a server at `url` accepts the login. Then it is the service's own server, because with SCRAM it proves that it knows the
 * verifier of the password, which is random.
 */
export async function answers(url: string): Promise<boolean> {
  const sql = postgres(url, { max: 1, connect_timeout: 2, fetch_types: false, onnotice: () => {} })
  try {
    await sql`select 1`
    return true
  } catch {
    return false
  } finally {
    await sql.end({ timeout: 1 })
  }
}

/** The range is below the ephemeral ports of Linux, macOS and Windows, which an outgoing connection could take before `listen`. */
const PORTS = { from: 20_000, to: 32_768 }

/** A port without a listener, outside of the ephemeral range. */
export async function freePort(): Promise<number> {
  for (let i = 0; i < 100; i++) {
    const port = randomInt(PORTS.from, PORTS.to)
    if (await canListen(port)) return port
  }
  throw new Error(`no free port among 100 tried from ${PORTS.from} to ${PORTS.to - 1}`)
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = net.createServer()
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' || error.code === 'EACCES' ? resolve(false) : reject(error),
    )
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
