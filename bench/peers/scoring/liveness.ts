import {
  BOTH_SAME,
  DEPENDENCE,
  DEPENDENCES,
  FLIGHT_FAR,
  FLIGHT_OFFSET,
  FLIGHT_ROOT,
  HOLD_FAR,
  HOLD_OFFSET,
  HOLD_ROOT,
  habitAboveOwn,
  KEY_FLIGHT_SAME,
  MATCH_ROOT,
  SHARED_PRESSES,
  TIE_COUNT,
  TIES,
} from './forgery.js'
import { SHIFT, SPACE } from './key-classes.js'
import { KEY_KINDS, KINDS } from './model.js'
import { COMPARED_MAX, type Pattern } from './pattern.js'
import { exp32, ROUNDER } from './single.js'
import { correlation, deviationOf, meanOf, sorted, sortedQuantile, sortInto } from './statistics.js'
import type { Template } from './template.js'

const { fround } = Math

const SIGNS = 128
const LEAST = fround(1e-3)
const LEAST_SQUARE = fround(1e-6)
const TYPICAL = fround(0.3)
const EVEN = fround(0.03)
const NORMAL_SPAN = fround(3.29)
const [FIVE, TEN, NINETY, NINETY_FIVE] = [0.05, 0.1, 0.9, 0.95].map(fround) as [number, number, number, number]

const signs = new Float32Array(SIGNS)
let at = 0

function put(value: number): void {
  signs[at++] = value
}

const times = new Float32Array(COMPARED_MAX)
const population = new Float32Array(COMPARED_MAX)
/** The next press of the same key in a pattern, 0 if none. */
const nextSame = new Uint8Array(COMPARED_MAX)
const heads = new Uint8Array(KEY_KINDS)

/**
 * Bot signs of a pattern with these habits against the references except itself: the input of the liveness trees. A view that
 * the next call overwrites.
 */
export function examine(pattern: Pattern, habits: Float32Array, habitsAt: number, template: Template): Float32Array {
  at = 0
  const { at: begin, n, stride, keys, raw, z } = pattern
  threadKeys(pattern)
  for (let kind = 0; kind < KINDS; kind++) {
    const from = kind === 0 ? 0 : 1
    const row = kind * stride + begin + from
    const events = n - from
    for (let i = 0; i < events; i++) population[i] = (raw[row + i] ?? 0) - (z[row + i] ?? 0)
    const mean = meanOf(z, row, events)
    const deviation = deviationOf(z, row, events, mean)
    put(correlation(population, 0, raw, row, events))
    put(deviation)
    put(consistency(pattern, kind, mean, deviation))
    put(mean)
    if (kind < 3) shape(raw, row, events, kind < 2)
  }
  const flights = stride + begin + 1
  const releasePress = 2 * stride + begin + 1
  put(correlation(raw, begin, raw, flights, n - 1))
  put(correlation(z, begin, z, releasePress, n - 1))
  put(correlation(z, begin + 1, z, flights, n - 1))
  put(correlation(z, begin, z, begin + 1, n - 1))
  put(correlation(z, flights, z, flights + 1, n - 2))
  let shifts = 0
  let shiftsHeld = 0
  let sameHeld = 0
  let afterSpace = 0
  let within = 0
  let words = 0
  for (let i = 0; i < n - 1; i++) {
    const key = keys[begin + i] ?? 0
    const isHeld = (raw[releasePress + i] ?? 0) < 0
    const flight = raw[flights + i] ?? 0
    if (isHeld && key === keys[begin + i + 1]) sameHeld++
    if (key === SHIFT) {
      shifts++
      if (isHeld) shiftsHeld++
    }
    if (key === SPACE) {
      afterSpace = fround(afterSpace + flight)
      words++
    } else within = fround(within + flight)
  }
  const others = n - 1 - words
  put(shifts > 0 ? shiftsHeld / shifts : -1)
  put(words > 0 && others > 0 ? fround(afterSpace / words) - fround(within / others) : 0)
  put(n)
  put(template.habits === habits ? template.references.length - 1 : template.references.length)
  put(sameHeld)
  forged(habits, habitsAt, template)
  return signs
}

/** Signs of forgery from the references, one-sided where possible. */
function forged(habits: Float32Array, habitsAt: number, template: Template): void {
  const habit = (which: number) => habits[habitsAt + which] ?? 0
  const aboveOwn = (which: number) => habitAboveOwn(habits, habitsAt, which, template)
  const root = fround(Math.sqrt(habit(SHARED_PRESSES)))
  put(habit(SHARED_PRESSES))
  for (let which = BOTH_SAME; which <= KEY_FLIGHT_SAME; which++) put(Math.max(0, aboveOwn(which)))
  put(Math.min(0, aboveOwn(MATCH_ROOT)))
  for (let which = HOLD_ROOT; which <= FLIGHT_FAR; which++) put(Math.min(0, aboveOwn(which)))
  put(Math.min(0, root * fround(aboveOwn(HOLD_ROOT) + aboveOwn(FLIGHT_ROOT))))
  put(Math.min(0, root * fround(aboveOwn(HOLD_FAR) + aboveOwn(FLIGHT_FAR))))
  put(root * Math.min(TYPICAL, Math.abs(habit(HOLD_OFFSET))))
  put(root * Math.min(TYPICAL, Math.abs(habit(FLIGHT_OFFSET))))
  for (let i = 0; i < DEPENDENCES; i++) put(aboveOwn(DEPENDENCE + i))
  for (let i = 0; i < TIE_COUNT; i++) put(aboveOwn(TIES + i))
}

/** Spread, skewness, kurtosis, distance to a uniform distribution, quantiles; for logarithms also most frequent value and repeats. */
function shape(raw: Float32Array, row: number, n: number, logarithmic: boolean): void {
  for (let i = 0; i < n; i++) {
    const value = raw[row + i] ?? 0
    times[i] = logarithmic ? exp32(value) + ROUNDER - ROUNDER : value
  }
  const mean = meanOf(times, 0, n)
  const deviation = Math.max(deviationOf(times, 0, n, mean), LEAST)
  const logMean = meanOf(raw, row, n)
  const logDeviation = Math.max(deviationOf(raw, row, n, logMean), LEAST)
  moments(times, 0, n, mean, deviation)
  moments(raw, row, n, logMean, logDeviation)
  put(logarithmic ? deviation / Math.max(mean, 1) : deviation)
  sortInto(times, 0, n)
  const low = sorted[0] ?? 0
  const span = Math.max(fround((sorted[n - 1] ?? 0) - low), LEAST)
  let uniform = 0
  let run = 1
  let longest = 1
  let distinct = 1
  for (let i = 0; i < n; i++) {
    const value = sorted[i] ?? 0
    const share = fround((i + 0.5) / n)
    uniform = Math.max(uniform, Math.abs(fround(fround(fround(value - low) / span) - share)))
    if (i === 0) continue
    if (value === sorted[i - 1]) {
      run++
      if (run > longest) longest = run
    } else {
      run = 1
      distinct++
    }
  }
  const middle = sortedQuantile(n, 0.5)
  put(uniform)
  put(fround(sortedQuantile(n, NINETY) - middle) / Math.max(fround(middle - sortedQuantile(n, TEN)), LEAST))
  put(fround(sortedQuantile(n, 0.75) - sortedQuantile(n, 0.25)) / deviation)
  if (logarithmic) {
    put(longest / n)
    put(distinct / n)
  }
}

function moments(row: Float32Array, from: number, n: number, mean: number, deviation: number): void {
  let third = 0
  let fourth = 0
  for (let i = from; i < from + n; i++) {
    const d = fround(fround((row[i] ?? 0) - mean) / deviation)
    const cube = fround(fround(d * d) * d)
    third = fround(third + cube)
    fourth = fround(fourth + fround(cube * d))
  }
  put(third / n)
  put(fourth / n)
}

function threadKeys({ at: begin, n, keys }: Pattern): void {
  for (let i = n - 1; i >= 0; i--) {
    const key = keys[begin + i] ?? 0
    nextSame[i] = heads[key] ?? 0
    heads[key] = i
  }
  for (let i = 0; i < n; i++) heads[keys[begin + i] ?? 0] = 0
}

/** Similarity of times at the same key, as a share of all variance. */
function consistency(pattern: Pattern, kind: number, mean: number, deviation: number): number {
  const { at: begin, n, stride, z } = pattern
  const row = kind * stride + begin
  let pairs = 0
  let products = 0
  for (let i = kind === 0 ? 0 : 1; i < n; i++) {
    let j = nextSame[i] ?? 0
    if (j === 0) continue
    const own = fround((z[row + i] ?? 0) - mean)
    for (; j !== 0; j = nextSame[j] ?? 0) {
      pairs++
      products = fround(products + fround(own * fround((z[row + j] ?? 0) - mean)))
    }
  }
  return pairs > 0 ? fround(products / pairs) / Math.max(fround(deviation * deviation), LEAST_SQUARE) : 0
}

/** True if the times alone prove a machine: almost equal holds or press-press times. */
export function certainlyMachine({ at: begin, n, stride, raw }: Pattern): boolean {
  return evenness(raw, begin, n) < EVEN || evenness(raw, stride + begin + 1, n - 1) < EVEN
}

function evenness(raw: Float32Array, row: number, n: number): number {
  sortInto(raw, row, n)
  return fround(fround(sortedQuantile(n, NINETY_FIVE) - sortedQuantile(n, FIVE)) / NORMAL_SPAN)
}
