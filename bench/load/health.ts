import { cpus } from 'node:os'
import { shownMs } from './quantities.js'
import type { StepReport } from './report-schema.js'

/** The generator's own state in a step, as the report has it. */
export type Health = StepReport['health']

/** Where the generator's own figures stop being the service's. No measurement behind these: they are where a figure of some ms is off by a tenth or more. */
const BUSY_MAX = 0.85
const LATE_MAX_MS = 10
const LOOP_DELAY_MAX_MS = 20
const MACHINE_BUSY_MAX = 0.95
/** Waiting for a connection is the pool's doing where it is most of the latency. */
const WAITED_SHARE_MAX = 0.5

/** What is read of the generator and its machine; `end` gives it for the time since. */
export function watchMachine() {
  const before = { cpu: process.cpuUsage(), at: performance.now(), machine: machineTimes() }
  return {
    end() {
      const used = process.cpuUsage(before.cpu)
      const machine = machineTimes()
      const all = machine.all - before.machine.all
      return {
        generator_cores: (used.user + used.system) / 1000 / (performance.now() - before.at),
        machine_busy: all === 0 ? 0 : 1 - (machine.idle - before.machine.idle) / all,
      }
    },
  }
}

function machineTimes(): { all: number; idle: number } {
  let [all, idle] = [0, 0]
  for (const { times } of cpus()) {
    idle += times.idle
    all += times.user + times.nice + times.sys + times.irq + times.idle
  }
  return { all, idle }
}

/**
 * Whether a step measured the service or the load generator, and what speaks against it. `latencyP99Ms` is the verify's;
 * `together` where service and generator share a machine, and a busy one is no fault but belongs beside the figures.
 */
export function judgeHealth(
  read: Omit<Health, 'sound' | 'reasons'>,
  step: { latencyP99Ms: number | null; nobodyFree: number; connections: number; together: boolean },
): Health {
  const against: string[] = []
  const beside: string[] = []
  const percent = (value: number) => `${Math.round(100 * value)} %`
  if (read.busiest_worker > BUSY_MAX)
    against.push(
      `a thread of the generator was busy ${percent(read.busiest_worker)} of the time: give it more --workers, or more machines`,
    )
  if ((read.late_p99_ms ?? 0) > LATE_MAX_MS)
    against.push(
      `sign-ins began late, by ${shownMs(read.late_p99_ms)} at the 99th percentile: the generator, or what else its machine did, did not let it keep its schedule`,
    )
  if (read.loop_delay_p99_ms > LOOP_DELAY_MAX_MS)
    against.push(`the generator's event loop stood still for ${shownMs(read.loop_delay_p99_ms)} at the 99th percentile`)
  if (step.nobodyFree > 0)
    against.push(`${step.nobodyFree} sign-ins did not begin because everybody was locked: give more --people`)
  const waited = read.waited_p99_ms ?? 0
  if (waited > 1 && waited > WAITED_SHARE_MAX * (step.latencyP99Ms ?? 0))
    beside.push(
      `requests waited ${shownMs(waited)} at the 99th percentile for one of ${step.connections} connections: the service is slow, or --connections is low for the rate`,
    )
  if (read.machine_busy > MACHINE_BUSY_MAX)
    beside.push(
      step.together
        ? `generator and service share a machine that was busy ${percent(read.machine_busy)}; the generator used ${read.generator_cores.toFixed(2)} cores of it`
        : `the generator's machine was busy ${percent(read.machine_busy)}, with ${read.generator_cores.toFixed(2)} cores used by the generator`,
    )
  return { ...read, sound: against.length === 0, reasons: [...against, ...beside] }
}
