import { type SpawnOptions, spawn, spawnSync } from 'node:child_process'

const DIES_WITH_PARENT =
  process.platform === 'linux' && spawnSync('setpriv', ['--pdeathsig', 'KILL', 'true']).status === 0

/**
 * `spawn` of a program that is killed if this process dies, however it dies. On Linux the kernel does it; elsewhere a killed
 * test process leaves its servers running.
 */
export const startChild = ((program: string, args: readonly string[], options: SpawnOptions) =>
  DIES_WITH_PARENT
    ? spawn('setpriv', ['--pdeathsig', 'KILL', '--', program, ...args], options)
    : spawn(program, args, options)) as typeof spawn // the streams of the child follow the options, which are passed on
