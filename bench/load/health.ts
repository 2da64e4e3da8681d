import { cpus } from 'node:os'
import { shownMs } from './quantities.js'
import type { StepReport } from './report-schema.js'

/** The generator's state in a step, as in the report. */
export type Health = StepReport['health']

/**
 * Limits above which the figures describe the generator, not the service. Not measured: at these values a figure of a few
 * ms is off by a tenth or more.
 */
const BUSY_MAX = 0.85
const LATE_MAX_MS = 10
const LOOP_DELAY_MAX_MS = 20
const MACHINE_BUSY_MAX = 0.95
/** Above this share of the latency, waiting for a connection is reported. */
const WAITED_SHARE_MAX = 0.5

/** Measures the generator and its machine; `end` returns the figures since the call. */
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
 * Whether a step measured the service rather than the load generator, with the reasons against it. `latencyP99Ms` is the
 * verify's. With `together` service and generator share a machine; a busy machine is then reported, but is no fault.
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
      `a thread of the generator was busy ${percent(read.busiest_worker)} of the time: use more --workers, or more machines`,
    )
  if ((read.late_p99_ms ?? 0) > LATE_MAX_MS)
    against.push(
      `sign-ins began late, by ${shownMs(read.late_p99_ms)} at the 99th percentile: the generator or its machine was too slow for the schedule`,
    )
  if (read.loop_delay_p99_ms > LOOP_DELAY_MAX_MS)
    against.push(`the generator's event loop was blocked for ${shownMs(read.loop_delay_p99_ms)} at the 99th percentile`)
  if (step.nobodyFree > 0)
    against.push(`${step.nobodyFree} sign-ins did not begin because all people were locked: use more --people`)
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
