import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../src/storage/postgres/embedded/embedded-running.js'
import { startChild } from '../servers/child.js'

const checkout = fileURLToPath(new URL('../..', import.meta.url))

export interface ServiceProcess {
  readonly core: string
  readonly process: ChildProcess
  /** Everything that the process has printed so far. */
  readonly output: () => string
  readonly demo: () => { apikey: string; core: string; links: string; dashboard: string }
  /** Sends SIGKILL and waits until the process has ended. */
  kill(): Promise<void>
  /** Asks the process to stop. Returns its exit status. */
  stop(signal?: 'SIGTERM' | 'SIGINT'): Promise<{ status: number | null }>
}

/** Starts the same program as `npm start` in a child process, and waits until it serves. `root` is another built checkout. */
export async function startProcess(env: Record<string, string>, root = checkout): Promise<ServiceProcess> {
  const port = env.PORT ?? String(await freePort())
  const core = `http://localhost:${port}/core`
  const child = startChild(process.execPath, [join(root, 'bin/start.mjs')], {
    cwd: root,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? '',
      PORT: port,
      LOG_LEVEL: 'warn',
      LOG_FORMAT: 'text',
      PROCESSES: '1',
      // A long queue, so that a loaded machine sheds no request; tests of shedding set their own.
      QUEUE_MS: '20000',
      // Tests of a late store set 1.
      STORE_PATIENCE: '10',
      HTTP_SERVER: process.env.HTTP_SERVER ?? 'auto',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const gone = once(child, 'exit')
  let exited = false
  gone.then(
    () => {
      exited = true
    },
    () => {},
  )
  const serving = new Promise<void>((resolve) => {
    const hear = (chunk: Buffer) => {
      output += chunk.toString()
      if (/Next: begin a sign-in|"msg":"serving"/.test(output)) resolve()
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
  })
  await Promise.race([serving, gone])
  if (exited) throw new Error(`the service ended before it served:\n${output}`)
  return {
    core,
    process: child,
    output: () => output,
    demo: () => JSON.parse(readFileSync(join(env.KEYSTRIDE_DATA ?? '.keystride', 'demo.json'), 'utf8')),
    async kill() {
      if (!exited) child.kill('SIGKILL')
      await gone
    },
    async stop(signal = 'SIGTERM') {
      child.kill(signal)
      await gone
      return { status: child.exitCode }
    },
  }
}
