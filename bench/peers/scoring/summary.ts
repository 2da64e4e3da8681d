import {
  BACKSPACE,
  CAPS_LOCK,
  FREQUENT_KEYS,
  frequentKeys,
  isLetter,
  SHIFT,
  SPACE,
  TRANSITION_CLASSES,
  transitionClasses,
} from './key-classes.js'
import { SUMMARY_SIZE } from './model.js'
import type { Pattern } from './pattern.js'
import { exp32, log32 } from './single.js'
import { correlation, deviationOf, meanOf, sortedQuantile, sortInto } from './statistics.js'

const { fround } = Math

const PRIOR_EVENTS = 1.5
const PAUSE = fround(6.2146)
const SHIFT_HOLD = fround(0.3)
const FEW_LETTERS = fround(0.2)
const FIVE = Float32Array.of(0.1, 0.25, 0.5, 0.75, 0.9)

/**
 * One pattern in 28 numbers (quantiles of hold and press-press, roll-over, pauses, Backspace and Shift, spreads) and in 148:
 * those, and the mean deviation by frequent key and class of transition. Writes them to `vector`, the 28 first.
 */
export function summarize(pattern: Pattern, vector: Float32Array): void {
  const { at, n, stride, raw, z } = pattern
  const flights = stride + at + 1
  const releasePress = 2 * stride + at + 1
  sortInto(raw, at, n)
  fiveQuantiles(vector, 0, n)
  sortInto(raw, flights, n - 1)
  fiveQuantiles(vector, 5, n - 1)
  sortInto(raw, releasePress, n - 1)
  vector[21] = sortedQuantile(n - 1, 0.25)
  vector[22] = sortedQuantile(n - 1, 0.5)
  vector[23] = sortedQuantile(n - 1, 0.75)
  keyHabits(pattern, vector)
  let rollOvers = 0
  let pauses = 0
  let speed = 0
  for (let i = 0; i < n - 1; i++) {
    const flight = raw[flights + i] ?? 0
    if ((raw[releasePress + i] ?? 0) < 0) rollOvers++
    if (flight > PAUSE) pauses++
    speed = fround(speed + Math.min(exp32(flight), 1000))
  }
  vector[10] = rollOvers / (n - 1)
  vector[11] = pauses / (n - 1)
  vector[17] = deviationOf(raw, flights, n - 1, meanOf(raw, flights, n - 1))
  vector[18] = correlation(raw, at, raw, flights, n - 1)
  vector[20] = log32(Math.max(fround(speed / (n - 1)), 5))
  vector[24] = correlation(raw, at, raw, at + 1, n - 1)
  vector[25] = correlation(z, flights, z, flights + 1, n - 2)
  vector[26] = deviationOf(z, at, n, meanOf(z, at, n))
  vector[27] = deviationOf(z, releasePress, n - 1, meanOf(z, releasePress, n - 1))
  vectorize(pattern, vector)
}

function fiveQuantiles(vector: Float32Array, from: number, n: number): void {
  for (let i = 0; i < 5; i++) vector[from + i] = sortedQuantile(n, FIVE[i] ?? 0)
}

function keyHabits({ at, n, keys, raw }: Pattern, vector: Float32Array): void {
  let backspaces = 0
  let shifts = 0
  let capsLocks = 0
  let spaces = 0
  let letters = 0
  let spaceHold = 0
  let shiftHold = 0
  let letterHold = 0
  let letterSquare = 0
  for (let i = at; i < at + n; i++) {
    const key = keys[i] ?? 0
    const hold = raw[i] ?? 0
    if (isLetter(key)) {
      letters++
      letterHold = fround(letterHold + hold)
      letterSquare = fround(letterSquare + fround(hold * hold))
    } else if (key === SPACE) {
      spaces++
      spaceHold = fround(spaceHold + hold)
    } else if (key === SHIFT) {
      shifts++
      shiftHold = fround(shiftHold + hold)
    } else if (key === BACKSPACE) backspaces++
    else if (key === CAPS_LOCK) capsLocks++
  }
  const mean = meanOf(raw, at, n)
  vector[12] = backspaces / n
  vector[13] = shifts / n
  vector[14] = spaces > 0 ? spaceHold / spaces : mean
  vector[15] = shifts > 0 ? shiftHold / shifts : mean + SHIFT_HOLD
  const letterMean = fround(letterHold / Math.max(letters, 1))
  const variance = fround(fround(letterSquare / Math.max(letters, 1)) - fround(letterMean * letterMean))
  vector[16] = letters > 2 ? Math.sqrt(Math.max(variance, 0)) : FEW_LETTERS
  vector[19] = capsLocks / n
}

const classes = new Int8Array(128)
const sums = new Float32Array(32)
const counts = new Float32Array(32)

function vectorize({ at, n, stride, keys, z }: Pattern, vector: Float32Array): void {
  let to = SUMMARY_SIZE
  for (let i = 0; i < n; i++) classes[i] = frequentKeys[keys[at + i] ?? 0] ?? -1
  to = classMeans(z, at, n, 0, FREQUENT_KEYS, vector, to)
  const byReached = to + 3 * TRANSITION_CLASSES
  const byLeft = classMeans(z, 2 * stride + at + 1, n - 1, 1, FREQUENT_KEYS, vector, byReached)
  classMeans(z, 2 * stride + at + 1, n - 1, 0, FREQUENT_KEYS, vector, byLeft)
  for (let i = 1; i < n; i++) classes[i] = transitionClasses[((keys[at + i - 1] ?? 0) << 7) + (keys[at + i] ?? 0)] ?? 0
  for (let kind = 1; kind < 4; kind++)
    to = classMeans(z, kind * stride + at + 1, n - 1, 1, TRANSITION_CLASSES, vector, to)
}

/** Writes the means by class of `n` times from `row`; `classes[from]` is the class of the first. Returns the next free index. */
function classMeans(
  z: Float32Array,
  row: number,
  n: number,
  from: number,
  many: number,
  vector: Float32Array,
  to: number,
): number {
  // A loop, because the library's fill of thirty numbers costs more than the means.
  for (let c = 0; c < many; c++) {
    sums[c] = 0
    counts[c] = 0
  }
  const prior = fround(PRIOR_EVENTS * meanOf(z, row, n))
  for (let i = 0; i < n; i++) {
    const which = classes[from + i] ?? -1
    if (which < 0) continue
    sums[which] = (sums[which] ?? 0) + (z[row + i] ?? 0)
    counts[which] = (counts[which] ?? 0) + 1
  }
  for (let c = 0; c < many; c++) vector[to + c] = fround((sums[c] ?? 0) + prior) / ((counts[c] ?? 0) + PRIOR_EVENTS)
  return to + many
}
