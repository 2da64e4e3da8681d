import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../src/storage/postgres/embedded/embedded-running.js'
import { answersAt, startServer } from './child.js'
import { scalingBlock } from './scaling-page.js'

/** An nginx before two processes, configured as in docs/scaling.md. */
interface Nginx {
  readonly port: number
  close(): Promise<void>
}

/** Debian installs it in /usr/sbin, which is not on every PATH. */
const program = ['nginx', '/usr/sbin/nginx'].find((name) => spawnSync(name, ['-v']).status === 0)

/** Null if nginx is installed, otherwise the reason to skip its tests. Throws instead under `REQUIRE_NGINX=1`. */
export function whyNoNginx(): string | null {
  if (program !== undefined) return null
  const line = "NO NGINX: hidden requests behind it are SKIPPED (install Debian's nginx)"
  if (process.env.REQUIRE_NGINX === '1') throw new Error(line)
  return line
}

/** Temporary files go into the working folder. */
const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${name};`)

/** The configuration of docs/scaling.md with ports of this machine; `more` is added before its locations. */
function configuration(port: number, servers: readonly [number, number], more: string): string {
  const local = scalingBlock('nginx')
    .replace('listen 8080', `listen 127.0.0.1:${port}`)
    .replace('10.0.0.1:8080', `127.0.0.1:${servers[0]}`)
    .replace('10.0.0.2:8080', `127.0.0.1:${servers[1]}`)
    .replace('http {\n', `http {\n  ${['access_log off;', ...places].join(' ')}\n`)
    .replace('    location /', `    ${more}\n    location /`)
  if (local.includes('10.0.0.') || !local.includes(`:${port};`) || !local.includes(`${more}\n`))
    throw new Error('docs/scaling.md has another nginx.conf than this function expects')
  return `pid pid;\nerror_log stderr crit;\n${local}`
}

/** Starts nginx before these ports. `more` holds directives that are added to the server. */
export async function startNginx(servers: readonly [number, number], more = ''): Promise<Nginx> {
  const folder = mkdtempSync(join(tmpdir(), 'keystride-nginx-'))
  // If root starts nginx, its workers run as another user, who needs access.
  chmodSync(folder, 0o755)
  const port = await freePort()
  writeFileSync(join(folder, 'nginx.conf'), configuration(port, servers, more))
  const args = ['-p', folder, '-c', 'nginx.conf', '-e', 'stderr', '-g', 'daemon off;']
  // SIGTERM, because the workers outlive a master that gets SIGKILL. Any answer counts: the servers behind nginx are already up,
  // and their probes are not reachable through it.
  const isReady = () => answersAt(`http://127.0.0.1:${port}/`)
  return { port, close: await startServer(program ?? '', args, { folder, isReady, signal: 'SIGTERM' }) }
}
