import type { SeenMessage } from './crew.js'
import { type Health, judgeHealth } from './health.js'
import { type Histogram, QUANTILES } from './histogram.js'
import { COUNTS, type Count, errorsOf, OPERATIONS, type Operation, type Recorder, recorder } from './recorder.js'
import type { StepReport } from './report-schema.js'

/** The figures of all threads for a step: in total, and per second. */
export interface StepSeen {
  readonly all: Recorder
  readonly seconds: Map<number, Recorder>
  /** Busy share of each thread, per second. */
  readonly busy: number[][]
  loopDelayMs: number[]
  add(message: SeenMessage, worker: number): void
}

/** Empty figures. */
export function stepSeen(): StepSeen {
  const seen: StepSeen = {
    all: recorder(),
    seconds: new Map(),
    busy: [],
    loopDelayMs: [],
    add(message, worker) {
      seen.all.add(message.seen)
      if (message.second < 0) return
      const second = seen.seconds.get(message.second) ?? recorder()
      second.add(message.seen)
      seen.seconds.set(message.second, second)
      const theirs = seen.busy[worker] ?? []
      seen.busy[worker] = [...theirs, message.busy]
      seen.loopDelayMs.push(message.loopDelayMs)
    },
  }
  return seen
}

/** The quantiles of the report, ms; null if nothing was recorded. */
export const latencyOf = (histogram: Histogram) => ({
  p50: histogram.quantileMs(QUANTILES.p50),
  p90: histogram.quantileMs(QUANTILES.p90),
  p99: histogram.quantileMs(QUANTILES.p99),
  'p99.9': histogram.quantileMs(QUANTILES['p99.9']),
  max: histogram.quantileMs(QUANTILES.max),
  mean: histogram.meanMs(),
})

/** Facts of a step that the threads do not know. */
interface StepFacts {
  readonly rate: number | null
  /** Measured time as planned, or until the stop. */
  readonly seconds: number
  readonly warmUpS: number
  /** From the end of the warm-up to the last answer. */
  readonly untilLastS: number
  readonly service: StepReport['service_series']
  readonly machine: { generator_cores: number; machine_busy: number }
  readonly connections: number
  readonly together: boolean
  readonly bounds: { readonly p99Ms: number; readonly errors: number } | null
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)
const part = (some: number, all: number) => (all === 0 ? null : some / all)

/** The report of one step. Its bounds, if any, apply to the p99 of bootstrap and verify and to the errors of all requests. */
export function stepReport(seen: StepSeen, facts: StepFacts): StepReport {
  const { all } = seen
  const { all: failed, of, ...errors } = errorsOf(all)
  const lasted = Math.max(facts.seconds, facts.untilLastS)
  const share = of === 0 ? 0 : failed / of
  const p99 = all.of('verify').latency.quantileMs(QUANTILES.p99)
  // Sound: every name of COUNTS is a key of it.
  const counts = Object.fromEntries(COUNTS.map((name) => [name, all.counted(name)])) as Record<Count, number>
  const { arrivals, signins_completed, signins_begun: _, signins_dropped: __, nobody_free, ...accuracy } = counts
  const read: Omit<Health, 'sound' | 'reasons'> = {
    late_p99_ms: all.late.quantileMs(QUANTILES.p99),
    waited_p99_ms: all.waited.quantileMs(QUANTILES.p99),
    busiest_worker: Math.max(0, ...seen.busy.map(mean)),
    loop_delay_p99_ms: mean(seen.loopDelayMs),
    ...facts.machine,
  }
  return {
    rate: facts.rate,
    seconds: facts.seconds,
    warm_up_s: facts.warmUpS,
    arrivals,
    arrivals_per_s: arrivals / facts.seconds,
    goodput_per_s: signins_completed / lasted,
    requests_per_s: (of - errors.dropped) / lasted,
    errors: { share, ...errors },
    operations: Object.fromEntries(
      OPERATIONS.filter((name) => isSeen(all, name)).map((name) => [name, operationReport(all, name)]),
    ),
    accuracy: {
      ...accuracy,
      false_reject_share: part(accuracy.genuine_patterns - accuracy.genuine_accepted, accuracy.genuine_patterns),
      false_accept_share: part(accuracy.impostor_accepted, accuracy.impostor_patterns),
    },
    health: judgeHealth(read, { latencyP99Ms: p99, nobodyFree: nobody_free, ...facts }),
    passed: facts.bounds === null ? null : holds(facts.bounds, all, share),
    series: series(seen),
    service_series: facts.service,
  }
}

/** A stall delays the bootstraps of its arrivals, so bootstraps have the same bound as verifies. */
const holds = (bounds: { readonly p99Ms: number; readonly errors: number }, all: Recorder, errorShare: number) =>
  errorShare <= bounds.errors &&
  (['bootstrap', 'verify'] as const).every((name) => {
    const p99 = all.of(name).latency.quantileMs(QUANTILES.p99)
    return p99 !== null && p99 <= bounds.p99Ms
  })

function isSeen(all: Recorder, name: Operation): boolean {
  const { latency, statuses, transport } = all.of(name)
  return latency.count() > 0 || statuses.size > 0 || transport.size > 0
}

function operationReport(all: Recorder, name: Operation) {
  const { latency, service, statuses, transport, wrong } = all.of(name)
  const answers = [...statuses.values()].reduce((sum, count) => sum + count, 0)
  return {
    answers: name === 'signin' ? latency.count() : answers,
    statuses: Object.fromEntries(statuses),
    transport: Object.fromEntries(transport),
    wrong: Object.fromEntries(wrong),
    latency_ms: latencyOf(latency),
    service_ms: latencyOf(service),
    histogram: latency.encoded(),
  }
}

const series = (seen: StepSeen): StepReport['series'] =>
  [...seen.seconds]
    .sort(([a], [b]) => a - b)
    .map(([second, of]) => ({
      second,
      arrivals: of.counted('arrivals'),
      completed: of.counted('signins_completed'),
      errors: errorsOf(of).all,
      p50_ms: of.of('verify').latency.quantileMs(QUANTILES.p50),
      p99_ms: of.of('verify').latency.quantileMs(QUANTILES.p99),
      signin_p99_ms: of.of('signin').latency.quantileMs(QUANTILES.p99),
    }))

/**
 * The knee of a ramp that ends at two broken steps in a row: the last rate that kept its bounds, and what ended the ramp.
 * A single broken step below one that kept them is a disturbance. Null without a ramp. If the generator was overloaded,
 * `limit` says so instead of naming the service.
 */
export function kneeOf(steps: readonly StepReport[]): { rate: number | null; limit: string } | null {
  if (steps.length === 0) return null
  const held = steps.findLastIndex(({ passed }) => passed === true)
  const rate = steps[held]?.rate ?? null
  const broke = steps[held + 1]
  if (broke === undefined) return { rate, limit: 'the ramp ended before the service reached its limit: ramp further' }
  if (!broke.health.sound) {
    const [reason] = broke.health.reasons
    return {
      rate,
      limit: `the service or the load generator at ${broke.rate}/s, which cannot be distinguished: ${reason}`,
    }
  }
  return { rate, limit: `the service at ${broke.rate}/s` }
}
