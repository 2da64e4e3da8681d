import { QUANTILES, type QuantileName } from './histogram.js'
import { milliseconds, share, shownMs, shownNumber, shownShare } from './quantities.js'
import { OPERATIONS, type Operation } from './recorder.js'
import type { StepReport } from './report-schema.js'

/** One condition that fails a run. `bound` is in ms, a share, or a rate per second. */
export interface Threshold {
  readonly text: string
  readonly read: (step: StepReport) => number | null
  readonly above: boolean
  readonly bound: number
  readonly shown: (value: number | null) => string
}

const SHARES = {
  errors: (step: StepReport) => step.errors.share,
  'false-rejects': (step: StepReport) => step.accuracy.false_reject_share,
  'false-accepts': (step: StepReport) => step.accuracy.false_accept_share,
} as const

const WANTED =
  'expected conditions such as "p99>50ms,signin.p99.9>1s,errors>0.1%,false-rejects>5%,goodput<100", separated by commas'

/** The conditions of `--fail-if`; a sentence about the first invalid one instead. */
export function thresholds(text: string): readonly Threshold[] | string {
  const read = text.split(',').map((part) => one(part.trim()))
  const wrong = read.indexOf(null)
  if (wrong >= 0) return `${JSON.stringify(text.split(',')[wrong]?.trim())} cannot be read: ${WANTED}`
  return read.filter((threshold) => threshold !== null)
}

function one(text: string): Threshold | null {
  const [, name = '', comparison, value = ''] = /^([a-z0-9.-]+)\s*([<>])\s*(\S+)$/.exec(text) ?? []
  const above = comparison === '>'
  if (name in SHARES) {
    const bound = share(value)
    // Sound: the name is a key of SHARES.
    return bound === null ? null : { text, above, bound, read: SHARES[name as keyof typeof SHARES], shown: shownShare }
  }
  if (name === 'goodput') {
    const bound = Number(value)
    return bound >= 0
      ? { text, above, bound, read: (step) => step.goodput_per_s, shown: (it) => shownNumber(it ?? 0) }
      : null
  }
  const [, operation = 'verify', quantile = ''] = /^(?:([a-z-]+)\.)?(p\d+(?:\.9)?|max)$/.exec(name) ?? []
  const bound = milliseconds(value)
  if (bound === null || !(quantile in QUANTILES) || !(OPERATIONS as readonly string[]).includes(operation)) return null
  // Sound: both were just looked up.
  const [kind, part] = [operation as Operation, quantile as QuantileName]
  return { text, above, bound, read: (step) => step.operations[kind]?.latency_ms[part] ?? null, shown: shownMs }
}

/** A condition with the measured value, as in the report. */
interface Judged {
  readonly text: string
  readonly measured: string
  readonly passed: boolean
}

/** Whether each condition holds. A condition without a measured value fails. */
export const judged = (conditions: readonly Threshold[], step: StepReport | null): Judged[] =>
  conditions.map(({ text, read, above, bound, shown }) => {
    const value = step === null ? null : read(step)
    const failed = value === null || (above ? value > bound : value < bound)
    return { text, measured: value === null ? 'not measured' : shown(value), passed: !failed }
  })
