import { type Effects, fitEffects } from './effects.js'
import { KINDS, MODELS, type Model, SUMMARY_SIZE, VECTOR_SIZE } from './model.js'
import { COMPARED_MAX, type Pattern, patternOf, readSample, sampleAt, windowOf } from './pattern.js'
import { type Threads, thread } from './threads.js'

const { fround } = Math

/** Rows of statistics of a probe, each with four kinds of time. */
export const STAT_ROWS = 28
export const HABITS = 40

/** Summaries of the references: mean, least, most and deviation of each number. */
interface Summaries {
  readonly mean: Float32Array
  readonly least: Float32Array
  readonly most: Float32Array
  readonly deviation: Float32Array
}

/** Everything that a score needs of a person's references; about 20 kB for five of 44 presses. */
export interface Template {
  readonly references: readonly Pattern[]
  readonly threads: Threads
  readonly effects: Effects
  /** Baseline: mean, least and most of each statistic of each reference against the others; row x 12. */
  readonly own: Float32Array
  /** Sum of the references' vectors in the axes of each model. */
  readonly sums: readonly Float32Array[]
  readonly summaries: Summaries
  /** Habits of each reference against the others, 40 each. */
  readonly habits: Float32Array
  /** Liveness score of the most machine-like reference, before calibration; NaN until first used. */
  ownLiveness: number
}

const HEADER_BYTES = 8

/** Reads a template of the kernel's host (`Kernel.keep`), and fits the effects to its references. Copies its input. */
export function readTemplate(model: Model, bytes: Uint8Array): Template {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const count = view.getUint32(0, true)
  let at = HEADER_BYTES
  const floats = (length: number): Float32Array => {
    const from = at
    at += 4 * length
    return new Float32Array(Uint8Array.from(bytes.subarray(from, at)).buffer)
  }
  const own = floats(STAT_ROWS * 3 * KINDS)
  const sums = Array.from({ length: MODELS }, () => floats(VECTOR_SIZE))
  const summaries: Float32Array[] = []
  const habits = new Float32Array(count * HABITS)
  for (let i = 0; i < count; i++) {
    summaries.push(floats(SUMMARY_SIZE))
    habits.set(floats(HABITS), i * HABITS)
  }
  const samples = Array.from({ length: count }, () => {
    const from = at
    const sample = sampleAt(bytes, from)
    at += sample.bytes
    return { from, n: Math.min(sample.presses, COMPARED_MAX) }
  })
  const rows = patternOf(samples.reduce((sum, { n }) => sum + n, 0))
  let press = 0
  const references = samples.map(({ from, n }) => {
    const pattern = windowOf(rows, press, n)
    readSample(model, pattern, bytes, from)
    press += n
    return pattern
  })
  return {
    references,
    threads: thread(rows, references),
    effects: fitEffects(model, rows, references),
    own,
    sums,
    summaries: spreadOf(summaries),
    habits,
    ownLiveness: Number.NaN,
  }
}

function spreadOf(summaries: readonly Float32Array[]): Summaries {
  const row = () => new Float32Array(SUMMARY_SIZE)
  const [mean, least, most, deviation] = [row(), row(), row(), row()]
  for (let i = 0; i < SUMMARY_SIZE; i++) {
    const values = summaries.map((summary) => summary[i] ?? 0)
    let sum = 0
    let squares = 0
    for (const value of values) {
      sum = fround(sum + value)
      squares = fround(squares + fround(value * value))
    }
    const middle = fround(sum / values.length)
    mean[i] = middle
    least[i] = Math.min(...values)
    most[i] = Math.max(...values)
    deviation[i] = Math.sqrt(Math.max(fround(fround(squares / values.length) - fround(middle * middle)), 0))
  }
  return { mean, least, most, deviation }
}
