import { type SpawnOptions, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { until } from '../harness/patience.js'

const DIES_WITH_PARENT =
  process.platform === 'linux' && spawnSync('setpriv', ['--pdeathsig', 'KILL', 'true']).status === 0

/**
 * `spawn` of a program that is killed if this process dies, however it dies. On Linux the kernel does it; elsewhere a killed
 * test process leaves its servers running.
 */
export const startChild = ((program: string, args: readonly string[], options: SpawnOptions) =>
  DIES_WITH_PARENT
    ? spawn('setpriv', ['--pdeathsig', 'KILL', '--', program, ...args], options)
    : spawn(program, args, options)) as typeof spawn // Sound: the options, which decide the streams, are passed on.

interface ServerOptions {
  /** Folder of the server's files, which the stop removes. */
  readonly folder: string
  readonly isReady: () => Promise<boolean>
  readonly signal?: NodeJS.Signals
  /** Further text of the error if the server ends by itself. */
  readonly log?: () => string
}

/** Starts a server, and returns its stop once it is ready. Throws with its error output if it ends before. */
export async function startServer(
  program: string,
  args: readonly string[],
  { folder, isReady, signal = 'SIGKILL', log = () => '' }: ServerOptions,
): Promise<() => Promise<void>> {
  const child = startChild(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  const gone = once(child, 'exit').then(() => {
    throw new Error(`${program} ended: ${said}${log()}`)
  })
  gone.catch(() => {})
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal)
    await gone.catch(() => {})
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await Promise.race([gone, until(isReady)])
  } catch (error) {
    await stop()
    throw error
  }
  return stop
}

/** Whether anything answers at an address, with any status. */
export const answersAt = (url: string): Promise<boolean> =>
  fetch(url, { redirect: 'manual' }).then(
    () => true,
    () => false,
  )
