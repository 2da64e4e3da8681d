/**
 * Signs that a machine typed the probe: times that are too even, that have a uniform or normal distribution unlike a hand's,
 * that are the same for every key, or that are unrelated to the previous key. Fills LIVENESS for the liveness trees, and gives
 * a verdict without trees in certain cases. Source of the attack models: Gonzalez and others, The KSDSLD data set (2021).
 */
import { COMPARED_MAX, KEYS, LIVENESS, LIVENESS_MAX, RAW, SCRATCH, SORTED, Z, countOf, eventsOf, f32At, keyAt, row, setF32 } from './layout'
import { DEPENDENCES, Habit, TIES, habitAboveOwn, habitOf } from './forgery'
import { SHIFT, SPACE } from './key-classes'
import { correlation, deviationOf, meanOf, sortInto, sortedQuantile } from './statistics'

let at: i32 = 0

function put(value: f32): void {
  assert(at < LIVENESS_MAX)
  setF32(LIVENESS, at, value)
  at++
}

const MS: usize = SCRATCH
const POPULATION: usize = SCRATCH + <usize>(COMPARED_MAX << 2)

/** Fills LIVENESS from a slot against slots 1 to `references` except itself, after `examineHabits`. Returns the number of signs. */
export function examine(slot: i32, references: i32): i32 {
  at = 0
  const n = countOf(slot)
  for (let kind = 0; kind < 4; kind++) {
    const events = eventsOf(slot, kind)
    const raw = row(RAW, slot, kind)
    const z = row(Z, slot, kind)
    for (let i = 0; i < events; i++) setF32(POPULATION, i, f32At(raw, i) - f32At(z, i))
    const mean = meanOf(z, events)
    put(correlation(POPULATION, raw, events))
    put(deviationOf(z, events, mean))
    put(consistency(slot, kind))
    put(mean)
    if (kind < 3) shape(raw, events, kind < 2)
  }
  const holds = row(RAW, slot, 0)
  put(correlation(holds, row(RAW, slot, 1), n - 1))
  put(correlation(row(Z, slot, 0), row(Z, slot, 2), n - 1))
  put(correlation(row(Z, slot, 0) + 4, row(Z, slot, 1), n - 1))
  put(correlation(row(Z, slot, 0), row(Z, slot, 0) + 4, n - 1))
  put(correlation(row(Z, slot, 1), row(Z, slot, 1) + 4, n - 2))
  put(shiftOverlap(slot, n))
  put(wordPause(slot, n))
  put(<f32>n)
  put(<f32>(slot == 0 ? references : references - 1))
  put(sameKeyHeld(slot, n))
  forged(slot, references)
  return at
}

/**
 * Signs of forgery from the references. One-sided where possible: a larger distance from the references than they have from one
 * another, as on another day or keyboard, does not indicate a machine. All 0 without references.
 */
function forged(slot: i32, references: i32): void {
  const shared = habitOf(slot, Habit.shared)
  const root = sqrt<f32>(shared)
  put(shared)
  for (let which: i32 = Habit.bothSame; which <= Habit.keyFlightSame; which++) put(max<f32>(0, habitAboveOwn(slot, which, references)))
  put(min<f32>(0, habitAboveOwn(slot, Habit.matchRoot, references)))
  for (let which: i32 = Habit.holdRoot; which <= Habit.flightFar; which++) put(min<f32>(0, habitAboveOwn(slot, which, references)))
  put(min<f32>(0, root * (habitAboveOwn(slot, Habit.holdRoot, references) + habitAboveOwn(slot, Habit.flightRoot, references))))
  put(min<f32>(0, root * (habitAboveOwn(slot, Habit.holdFar, references) + habitAboveOwn(slot, Habit.flightFar, references))))
  put(root * min<f32>(TYPICAL, abs(habitOf(slot, Habit.holdOffset))))
  put(root * min<f32>(TYPICAL, abs(habitOf(slot, Habit.flightOffset))))
  for (let i = 0; i < DEPENDENCES; i++) put(habitAboveOwn(slot, Habit.holdAfterHold + i, references))
  for (let i = 0; i < TIES; i++) put(habitAboveOwn(slot, Habit.holdTie + i, references))
}

/** Spread, skewness, kurtosis, distances to a uniform and a normal distribution, most frequent value and repeats. */
function shape(raw: usize, n: i32, logarithmic: bool): void {
  if (n < 2) {
    for (let i = logarithmic ? 10 : 8; i > 0; i--) put(0)
    return
  }
  for (let i = 0; i < n; i++) {
    const value = f32At(raw, i)
    setF32(MS, i, logarithmic ? nearest<f32>(Mathf.exp(value)) : value)
  }
  const mean = meanOf(MS, n)
  const deviation = max<f32>(deviationOf(MS, n, mean), <f32>1e-3)
  const logMean = meanOf(raw, n)
  const logDeviation = max<f32>(deviationOf(raw, n, logMean), <f32>1e-3)
  moments(MS, n, mean, deviation)
  moments(raw, n, logMean, logDeviation)
  put(logarithmic ? deviation / max<f32>(mean, 1) : deviation)
  sortInto(MS, n)
  const low = f32At(SORTED, 0)
  const high = f32At(SORTED, n - 1)
  const span = max<f32>(high - low, <f32>1e-3)
  let uniform: f32 = 0, run = 1, longest = 1, distinct = 1
  for (let i = 0; i < n; i++) {
    const share = (<f32>i + <f32>0.5) / <f32>n
    uniform = max(uniform, abs((f32At(SORTED, i) - low) / span - share))
    if (i == 0) continue
    const same = f32At(SORTED, i) == f32At(SORTED, i - 1)
    run = same ? run + 1 : 1
    if (!same) distinct++
    longest = max(longest, run)
  }
  put(uniform)
  put((sortedQuantile(n, 0.9) - sortedQuantile(n, 0.5)) / max<f32>(sortedQuantile(n, 0.5) - sortedQuantile(n, 0.1), <f32>1e-3))
  put((sortedQuantile(n, 0.75) - sortedQuantile(n, 0.25)) / deviation)
  if (logarithmic) {
    put(<f32>longest / <f32>n)
    put(<f32>distinct / <f32>n)
  }
}

function moments(base: usize, n: i32, mean: f32, deviation: f32): void {
  let third: f32 = 0, fourth: f32 = 0
  for (let i = 0; i < n; i++) {
    const d = (f32At(base, i) - mean) / deviation
    third += d * d * d
    fourth += d * d * d * d
  }
  put(third / <f32>max(n, 1))
  put(fourth / <f32>max(n, 1))
}

/** Similarity of events with the same second key, as a share of all variance: people have habits per key. 0 without repeats. */
function consistency(slot: i32, kind: i32): f32 {
  const n = eventsOf(slot, kind)
  const z = row(Z, slot, kind)
  const mean = meanOf(z, n)
  const deviation = deviationOf(z, n, mean)
  let pairs = 0
  let products: f32 = 0
  const skip = kind == 0 ? 0 : 1
  const keys = KEYS + <usize>(slot * COMPARED_MAX + skip)
  for (let i = 0; i < n; i++) {
    const key = v128.load8_splat(keys + i)
    const d = f32At(z, i) - mean
    for (let from = i + 1; from < n; from += 16) {
      const within = n - from < 16 ? (1 << (n - from)) - 1 : 0xffff
      let same = i8x16.bitmask(i8x16.eq(v128.load(keys + from), key)) & within
      for (; same != 0; same &= same - 1) {
        pairs++
        products += d * (f32At(z, from + ctz(same)) - mean)
      }
    }
  }
  return pairs > 0 ? products / <f32>pairs / max<f32>(deviation * deviation, <f32>1e-6) : 0
}

/** Share of Shift presses that are still held when the next key goes down; -1 without Shift presses. */
function shiftOverlap(slot: i32, n: i32): f32 {
  let shifts = 0, held = 0
  const releasePress = row(RAW, slot, 2)
  for (let i = 0; i < n - 1; i++) {
    if (keyAt(slot, i) != SHIFT) continue
    shifts++
    if (f32At(releasePress, i) < 0) held++
  }
  return shifts > 0 ? <f32>held / <f32>shifts : -1
}

/** Number of presses of a key that is still down. A keyboard sends none. */
function sameKeyHeld(slot: i32, n: i32): f32 {
  let held: f32 = 0
  const releasePress = row(RAW, slot, 2)
  for (let i = 0; i < n - 1; i++) {
    if (keyAt(slot, i) == keyAt(slot, i + 1) && f32At(releasePress, i) < 0) held += 1
  }
  return held
}

/** Mean press-press time after a Space less the mean of the rest, log scale; 0 without words. */
function wordPause(slot: i32, n: i32): f32 {
  let after: f32 = 0, within: f32 = 0, words: f32 = 0, others: f32 = 0
  for (let i = 0; i < n - 1; i++) {
    const value = f32At(row(RAW, slot, 1), i)
    if (keyAt(slot, i) == SPACE) { after += value; words += 1 } else { within += value; others += 1 }
  }
  return words > 0 && others > 0 ? after / words - within / others : 0
}

/** Cap on the deviations from the references' mean: a pattern of another day can deviate as much. */
const TYPICAL: f32 = 0.3

/** A smaller relative spread proves a machine: in the open data no sincere row of holds or press-press times is as even. */
const EVEN: f32 = 0.03

/** True if almost equal holds or press-press times prove a machine. */
export function certainlyMachine(): bool {
  const n = countOf(0)
  return evenness(row(RAW, 0, 0), n) < EVEN || evenness(row(RAW, 0, 1), n - 1) < EVEN
}

/** Deviation of log times without the outermost tenth, so that one odd event hides nothing. */
function evenness(raw: usize, n: i32): f32 {
  sortInto(raw, n)
  return (sortedQuantile(n, 0.95) - sortedQuantile(n, 0.05)) / <f32>3.29
}
