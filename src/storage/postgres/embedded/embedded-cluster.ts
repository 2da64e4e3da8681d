import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { type Binaries, handOver, launcher } from './embedded-binaries.js'
import { type Credentials, isRunning } from './embedded-running.js'

const SECRET_FILE = 'keystride.json'
const TEMPORARY = 'postgres.making-'
/** The removal is retried for up to 3 s, because programs of a killed start may still write into its folder. */
const REMOVED = { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }

export function readCredentials(folder: string): Credentials {
  return JSON.parse(readFileSync(path.join(folder, SECRET_FILE), 'utf8'))
}

/**
 * Makes the database `folder` with the service's login and database. Works in a temporary folder and renames it when it is
 * complete, so that a kill at any moment leaves nothing or the whole.
 */
export async function createCluster(
  binaries: Binaries,
  root: string,
  folder: string,
  log: (line: string) => void,
): Promise<void> {
  clearAbandoned(root)
  const making = path.join(root, `${TEMPORARY}${process.pid}`)
  const credentials: Credentials = { user: 'keystride', password: randomBytes(24).toString('base64url') }
  log(`making the embedded database in ${folder}`)
  mkdirSync(making, { mode: 0o700 })
  handOver(binaries, making)
  try {
    await run(binaries, [
      binaries.initdb,
      ...['-D', making, '-U', 'postgres', '-E', 'UTF8', '--auth=trust', '--no-instructions'],
      ...['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
    ])
    await run(
      binaries,
      [binaries.postgres, '--single', '-D', making, '-c', 'log_min_messages=warning', 'postgres'],
      [
        `create role keystride login createrole createdb password '${credentials.password}'`,
        'create database keystride owner keystride',
        // Only the superuser can create this role.
        'create role keystride_backup nologin bypassrls',
        'grant keystride_backup to keystride with inherit false, set true',
        '',
      ].join('\n'),
    )
    // No server has run with `trust` so far. The superuser has no password, so SCRAM never admits it.
    writeFileSync(path.join(making, 'pg_hba.conf'), 'host all all 127.0.0.1/32 scram-sha-256\n')
    writeFileSync(path.join(making, SECRET_FILE), `${JSON.stringify(credentials)}\n`, { mode: 0o600 })
    renameSync(making, folder)
  } catch (error) {
    rmSync(making, { recursive: true, force: true })
    // Another service finished first, so its database is used.
    if (!existsSync(path.join(folder, 'PG_VERSION'))) throw error
  }
}

/** Removes the temporary folders of killed starts. */
function clearAbandoned(root: string): void {
  for (const name of readdirSync(root)) {
    if (!name.startsWith(TEMPORARY)) continue
    const maker = Number(name.slice(TEMPORARY.length))
    if (maker === process.pid || !isRunning(maker)) rmSync(path.join(root, name), REMOVED)
  }
}

function run(binaries: Binaries, command: string[], input = ''): Promise<void> {
  const [program, ...rest] = launcher(binaries, { diesWithParent: true })(command)
  return new Promise((resolve, reject) => {
    const child = spawn(program, rest, { stdio: ['pipe', 'pipe', 'pipe'], env: binaries.environment })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (text: Buffer) => {
        output += text.toString()
      })
    child.once('error', reject)
    child.stdin.once('error', () => {}) // the child ended before reading: `exit` reports it
    child.once('exit', (code) => {
      const failed = code !== 0 || /ERROR|FATAL|PANIC/.test(output)
      if (!failed) resolve()
      else reject(new Error(`${path.basename(command[0] ?? '')} failed (${code}): ${output.trim().slice(-600)}`))
    })
    child.stdin.end(input)
  })
}
