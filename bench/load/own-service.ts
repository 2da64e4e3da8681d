import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A service started by the load tester. */
interface OwnService {
  readonly core: string
  readonly apikey: string
  /** Names of its stores. */
  readonly stores: string
  /** Whether its stores are deleted with it: then people need not be deleted. */
  readonly throwaway: boolean
  stop(): Promise<void>
}

const root = fileURLToPath(new URL('../../..', import.meta.url))

/**
 * Starts the service as `npm start` does, on a free port: with a new PostgreSQL in a temporary folder, or on DATABASE_URL
 * in an organization created for the run. Throws with the service's output if it does not start.
 */
export async function startOwnService(env: NodeJS.ProcessEnv, name: string): Promise<OwnService> {
  const folder = mkdtempSync(join(tmpdir(), 'keystride-load-'))
  const ownDatabase = !env.DATABASE_URL
  const settings = {
    LOG_LEVEL: 'warn',
    ...(ownDatabase || env.ENCRYPTION_KEY ? {} : { ENCRYPTION_KEY: randomBytes(32).toString('base64') }),
    ...env,
    PORT: '0',
    LOG_FORMAT: 'text',
    KEYSTRIDE_DATA: folder,
  }
  // In its own process group: the Ctrl-C that ends a run must not stop the service before the last answers.
  const child = spawn(process.execPath, [join(root, 'bin/start.mjs')], {
    cwd: root,
    env: settings,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  const end = () => child.kill('SIGTERM')
  process.once('exit', end)
  const stop = async () => {
    process.off('exit', end)
    if (child.exitCode === null && child.kill('SIGTERM')) await once(child, 'exit')
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    const port = await servingOn(child)
    const apikey = ownDatabase ? demoKey(folder) : issuedKey(settings, name)
    const stores = `${ownDatabase ? 'a PostgreSQL started for it' : 'PostgreSQL at DATABASE_URL'}${env.REDIS_URL ? ', Redis' : ''}`
    return { core: `http://127.0.0.1:${port}/core`, apikey, stores, throwaway: ownDatabase, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** The port that the service prints, once its start-up output is complete. */
function servingOn(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let output = ''
    child.stdout?.on('data', (chunk) => {
      output += chunk
      const port = /serves on \S+:(\d+)[\s\S]*Next:/.exec(output)?.[1]
      if (port !== undefined) resolve(Number(port))
    })
    child.once('exit', () => reject(new Error(`the service ended before it served:\n${output}`)))
  })
}

const demoKey = (folder: string): string =>
  (JSON.parse(readFileSync(join(folder, 'demo.json'), 'utf8')) as { apikey: string }).apikey

/** A key of an organization created for the run, with the administration command. */
function issuedKey(env: NodeJS.ProcessEnv, name: string): string {
  const keystride = (...args: string[]): string => {
    const { stdout, stderr, status } = spawnSync(process.execPath, [join(root, 'bin/keystride.mjs'), ...args], {
      cwd: root,
      env,
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(`keystride ${args.join(' ')}:\n${stderr}`)
    return stdout.split('\n')[0]?.trim() ?? ''
  }
  return keystride('key', 'issue', keystride('organization', 'create', `Load test ${name}`), '--label', 'load test')
}
