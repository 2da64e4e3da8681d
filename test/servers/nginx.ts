import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../src/storage/postgres/embedded/embedded-running.js'
import { until } from '../storage/fixtures.js'

/** An nginx before two processes, set up as docs/scaling.md says. */
interface Nginx {
  readonly port: number
  close(): Promise<void>
}

/** Debian puts it where only root looks. */
const program = ['nginx', '/usr/sbin/nginx'].find((name) => spawnSync(name, ['-v']).status === 0)

/** Null where there is one; else why its tests are skipped. Throws instead under `REQUIRE_NGINX=1`. */
export function whyNoNginx(): string | null {
  if (program !== undefined) return null
  const line = "NO NGINX: hidden requests behind it are SKIPPED (install Debian's nginx)"
  if (process.env.REQUIRE_NGINX === '1') throw new Error(line)
  return line
}

const page = fileURLToPath(new URL('../../docs/scaling.md', import.meta.url))

/** What it wants to write goes into the working folder. */
const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${name};`)

/** The page's configuration with ports of this machine; `more` goes before its locations. */
function configuration(port: number, servers: readonly [number, number], more: string): string {
  const text = /```nginx\n([\s\S]*?)```/.exec(readFileSync(page, 'utf8'))?.[1] ?? ''
  const local = text
    .replace('listen 8080', `listen 127.0.0.1:${port}`)
    .replace('10.0.0.1:8080', `127.0.0.1:${servers[0]}`)
    .replace('10.0.0.2:8080', `127.0.0.1:${servers[1]}`)
    .replace('http {\n', `http {\n  ${['access_log off;', ...places].join(' ')}\n`)
    .replace('    location /', `    ${more}\n    location /`)
  if (local.includes('10.0.0.') || !local.includes(`:${port};`) || !local.includes(`${more}\n`))
    throw new Error('docs/scaling.md has another nginx.conf than this expects')
  return `pid pid;\nerror_log stderr crit;\n${local}`
}

/** `more`: directives of the server beside the page's. */
export async function startNginx(servers: readonly [number, number], more = ''): Promise<Nginx> {
  const folder = mkdtempSync(join(tmpdir(), 'keystride-nginx-'))
  // Its workers are somebody else where root starts it.
  chmodSync(folder, 0o755)
  const port = await freePort()
  writeFileSync(join(folder, 'nginx.conf'), configuration(port, servers, more))
  const args = ['-p', folder, '-c', 'nginx.conf', '-e', 'stderr', '-g', 'daemon off;']
  const child: ChildProcess = spawn(program ?? '', args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  const gone = once(child, 'exit').then(() => {
    throw new Error(`nginx ended: ${said}`)
  })
  gone.catch(() => {})
  const nginx: Nginx = {
    port,
    async close() {
      // Its workers outlive one that is killed.
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
      await gone.catch(() => {})
      rmSync(folder, { recursive: true, force: true })
    },
  }
  try {
    await Promise.race([gone, until(() => serves(port), 20_000)])
  } catch (error) {
    await nginx.close()
    throw error
  }
  return nginx
}

/** Any answer will do: what is behind it was up before, and its probes are hidden. */
const serves = (port: number) =>
  fetch(`http://127.0.0.1:${port}/`).then(
    () => true,
    () => false,
  )
