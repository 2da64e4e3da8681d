import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism, cpus, totalmem } from 'node:os'
import { httpServerOf, loadProvider } from '../../src/http/provider.js'
import { readConfig } from '../../src/process/config.js'

/** The machine of a bench, in every report. */
interface Machine {
  readonly cpu: string
  readonly cores: number
  readonly memory_gib: number
  readonly node: string
}

/** The machine of a bench that measures HTTP. */
export interface ServingMachine extends Machine {
  /** The HTTP server of the measured services. */
  readonly http_server: string
}

export function machine(): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memory_gib: Math.round(totalmem() / 2 ** 30),
    node: process.version,
  }
}

export const servingMachine = (): ServingMachine => ({
  ...machine(),
  http_server: httpServerOf(loadProvider(readConfig(process.env).httpServer)),
})

/** Linux reports processor time in hundredths of a second, independent of the kernel's tick (`man 5 proc`, USER_HZ). */
const TICKS_A_SECOND = 100

/** A process and its descendants. */
function family(pid: number): number[] {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => [Number(name), Number(statOf(Number(name))?.[1] ?? 0)] as const)
  const found = [pid]
  for (const of of found) found.push(...parents.filter(([, parent]) => parent === of).map(([child]) => child))
  return found
}

/** Fields of /proc/PID/stat, or of one of its tasks, from the state on: the name before it may contain any character. */
function statOf(pid: number, task = ''): string[] | null {
  try {
    return readFileSync(`/proc/${pid}/${task}stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? null
  } catch {
    return null
  }
}

/** Processor time of a process and its descendants, seconds; null on a system without /proc. */
export function processorS(pid: number): number | null {
  if (process.platform !== 'linux') return null
  // User and system time, also of the ended children.
  const ticks = family(pid).flatMap((each) => statOf(each)?.slice(11, 15).map(Number) ?? [])
  return ticks.reduce((sum, tick) => sum + tick, 0) / TICKS_A_SECOND
}

/** Processor time of a process's main thread, seconds; null on a system without /proc. */
export function mainThreadS(pid: number): number | null {
  const ticks = statOf(pid, `task/${pid}/`)?.slice(11, 13).map(Number)
  return ticks === undefined ? null : ticks.reduce((sum, tick) => sum + tick, 0) / TICKS_A_SECOND
}

/** Resident memory of a process and its descendants, shared pages counted in each; null on a system without /proc. */
export function residentBytes(pid: number): { readonly all: number; readonly largest: number } | null {
  if (process.platform !== 'linux') return null
  const each = family(pid).map((one) => {
    try {
      return 1024 * Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${one}/status`, 'utf8'))?.[1] ?? 0)
    } catch {
      return 0
    }
  })
  return { all: each.reduce((sum, bytes) => sum + bytes, 0), largest: Math.max(...each) }
}
