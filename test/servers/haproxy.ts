import { spawnSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../src/storage/postgres/embedded/embedded-running.js'
import { startServer } from './child.js'
import { scalingBlock } from './scaling-page.js'

/** A haproxy before two processes, configured as in docs/scaling.md. */
export interface Haproxy {
  readonly port: number
  /** Number of the two servers that are up. */
  up(): Promise<number>
  close(): Promise<void>
}

/** Debian installs it in /usr/sbin, which is not on every PATH. */
const program = ['haproxy', '/usr/sbin/haproxy'].find((name) => spawnSync(name, ['-v']).status === 0)

/** Null if haproxy is installed, otherwise the reason to skip its tests. Throws instead under `REQUIRE_HAPROXY=1`. */
export function whyNoHaproxy(): string | null {
  if (program !== undefined) return null
  const line = "NO HAPROXY: rolling restarts and hidden requests behind it are SKIPPED (install Debian's haproxy)"
  if (process.env.REQUIRE_HAPROXY === '1') throw new Error(line)
  return line
}

/**
 * The configuration of docs/scaling.md with ports of this machine and a stats socket; `more` is added to the backend.
 */
function configuration(port: number, servers: readonly [number, number], socket: string, more: string): string {
  const local = scalingBlock('haproxy')
    .replace('bind :8080', `bind 127.0.0.1:${port}`)
    .replace('10.0.0.1:8080', `127.0.0.1:${servers[0]}`)
    .replace('10.0.0.2:8080', `127.0.0.1:${servers[1]}`)
    .replace('global\n', `global\n  stats socket ${socket}\n`)
    .replace('backend keystride\n', `backend keystride\n  ${more}\n`)
  if (local.includes('10.0.0.') || !local.includes(`:${port}\n`) || !local.includes(socket) || !local.includes(more))
    throw new Error('docs/scaling.md has another haproxy.cfg than this function expects')
  return local
}

/** Starts haproxy before these ports. `more` is a line that is added to the backend. */
export async function startHaproxy(servers: readonly [number, number], more = ''): Promise<Haproxy> {
  const folder = mkdtempSync(join(tmpdir(), 'keystride-haproxy-'))
  const port = await freePort()
  const [file, socket] = [join(folder, 'haproxy.cfg'), join(folder, 'asked')]
  writeFileSync(file, configuration(port, servers, socket, more))
  const up = async () =>
    (await askedBy(socket)).split('\n').filter((row) => /^keystride,(one|two),.*,UP,/.test(row)).length
  const isReady = async () => (await up().catch(() => 0)) === 2
  return { port, up, close: await startServer(program ?? '', ['-db', '-f', file], { folder, isReady }) }
}

async function askedBy(path: string): Promise<string> {
  const socket = connect(path)
  // The socket stays open for writing: haproxy does not answer a half-closed connection.
  socket.write('show stat\n')
  let text = ''
  for await (const chunk of socket) text += String(chunk)
  return text
}
