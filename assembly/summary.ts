/**
 * One pattern in 28 numbers that need no shared text (quantiles of hold and press-press, roll-over, pauses, Backspace and
 * Shift habits, spreads), and in 148 numbers for the two-covariance models: those 28, and the mean deviation per
 * frequent key (held, arrived at, left) and per class of transition. Each mean is shrunk towards the pattern's own mean if
 * it has few events.
 */
import { RAW, SORTED, SUMMARY, SUMMARY_SIZE, SUMMARY_STRIDE, VECTOR, VECTOR_STRIDE, Z, countOf, f32At, keyAt, row, setF32 } from './layout'
import { BACKSPACE, CAPS_LOCK, FREQUENT_KEYS, SHIFT, SPACE, TRANSITION_CLASSES, frequentKey, isLetter, transitionClass } from './key-classes'
import { correlation, deviationOf, meanOf, sortInto, sortedQuantile } from './statistics'

/** Weight of the pattern's own mean against the events of a key or class, in events. */
const PRIOR_EVENTS: f32 = 1.5
/** Natural logarithm of 500 ms: a longer press-press time is a pause. */
const PAUSE: f32 = 6.2146
/** Difference of the log holds of Shift and of the mean key in the fitting data; the default for a pattern without Shift. */
const SHIFT_HOLD: f32 = 0.3

/** Numbers of SUMMARY: shares of pauses, and of Backspace among the presses. */
export const PAUSES: i32 = 11
export const BACKSPACES: i32 = 12

export function summaryOf(slot: i32): usize {
  return SUMMARY + <usize>((slot * SUMMARY_STRIDE) << 2)
}

export function vectorOf(slot: i32): usize {
  return VECTOR + <usize>((slot * VECTOR_STRIDE) << 2)
}

/** Fills SUMMARY and VECTOR of a slot that `readSample` has read. */
export function summarize(slot: i32): void {
  const out = summaryOf(slot)
  const n = countOf(slot)
  const holds = row(RAW, slot, 0)
  const flights = row(RAW, slot, 1)
  const releasePress = row(RAW, slot, 2)
  sortInto(holds, n)
  fiveQuantiles(out, 0, n)
  sortInto(flights, n - 1)
  fiveQuantiles(out, 5, n - 1)
  sortInto(releasePress, n - 1)
  setF32(out, 21, sortedQuantile(n - 1, 0.25))
  setF32(out, 22, sortedQuantile(n - 1, 0.5))
  setF32(out, 23, sortedQuantile(n - 1, 0.75))
  keyHabits(out, slot, n, holds)
  let rollOvers = 0
  let pauses = 0
  let speed: f32 = 0
  for (let i = 0; i < n - 1; i++) {
    if (f32At(releasePress, i) < 0) rollOvers++
    if (f32At(flights, i) > PAUSE) pauses++
    speed += min(Mathf.exp(f32At(flights, i)), 1000)
  }
  const transitions = max(<f32>(n - 1), 1)
  setF32(out, 10, <f32>rollOvers / transitions)
  setF32(out, PAUSES, <f32>pauses / transitions)
  setF32(out, 17, deviationOf(flights, n - 1, meanOf(flights, n - 1)))
  setF32(out, 18, correlation(holds, flights, n - 1))
  setF32(out, 20, Mathf.log(max(speed / transitions, 5)))
  const z = row(Z, slot, 1)
  setF32(out, 24, correlation(holds, holds + 4, n - 1))
  setF32(out, 25, correlation(z, z + 4, n - 2))
  setF32(out, 26, deviationOf(row(Z, slot, 0), n, meanOf(row(Z, slot, 0), n)))
  setF32(out, 27, deviationOf(row(Z, slot, 2), n - 1, meanOf(row(Z, slot, 2), n - 1)))
  vectorize(slot, n)
}

function fiveQuantiles(out: usize, at: i32, n: i32): void {
  setF32(out, at, sortedQuantile(n, 0.1))
  setF32(out, at + 1, sortedQuantile(n, 0.25))
  setF32(out, at + 2, sortedQuantile(n, 0.5))
  setF32(out, at + 3, sortedQuantile(n, 0.75))
  setF32(out, at + 4, sortedQuantile(n, 0.9))
}

function keyHabits(out: usize, slot: i32, n: i32, holds: usize): void {
  let backspaces = 0, shifts = 0, capsLocks = 0, spaces = 0, letters = 0
  let spaceHold: f32 = 0, shiftHold: f32 = 0, letterHold: f32 = 0, letterSquare: f32 = 0
  for (let i = 0; i < n; i++) {
    const key = keyAt(slot, i)
    const hold = f32At(holds, i)
    if (key == BACKSPACE) backspaces++
    if (key == CAPS_LOCK) capsLocks++
    if (key == SPACE) { spaces++; spaceHold += hold }
    if (key == SHIFT) { shifts++; shiftHold += hold }
    if (isLetter(key)) { letters++; letterHold += hold; letterSquare += hold * hold }
  }
  const mean = meanOf(holds, n)
  setF32(out, BACKSPACES, <f32>backspaces / <f32>n)
  setF32(out, 13, <f32>shifts / <f32>n)
  setF32(out, 14, spaces > 0 ? spaceHold / <f32>spaces : mean)
  setF32(out, 15, shifts > 0 ? shiftHold / <f32>shifts : mean + SHIFT_HOLD)
  const letterMean = letterHold / max(<f32>letters, 1)
  setF32(out, 16, letters > 2 ? sqrt<f32>(max(letterSquare / <f32>letters - letterMean * letterMean, 0)) : 0.2)
  setF32(out, 19, <f32>capsLocks / <f32>n)
}

/** Classifies events by the key where they end, the key where they start, or the hands of both keys. */
const enum By { second = 0, first = 1, transition = 2 }

function vectorize(slot: i32, n: i32): void {
  const out = vectorOf(slot)
  memory.copy(out, summaryOf(slot), <usize>SUMMARY_SIZE << 2)
  let at = SUMMARY_SIZE
  at = classMeans(slot, n, 0, FREQUENT_KEYS, out, at, By.second)
  at = classMeans(slot, n - 1, 1, TRANSITION_CLASSES, out, at, By.transition)
  at = classMeans(slot, n - 1, 2, TRANSITION_CLASSES, out, at, By.transition)
  at = classMeans(slot, n - 1, 3, TRANSITION_CLASSES, out, at, By.transition)
  at = classMeans(slot, n - 1, 2, FREQUENT_KEYS, out, at, By.second)
  classMeans(slot, n - 1, 2, FREQUENT_KEYS, out, at, By.first)
}

/** Uses SORTED for the sums and counts of at most 30 classes: 0 to 31 sums, 32 to 63 counts. */
function classMeans(slot: i32, n: i32, kind: i32, classes: i32, out: usize, at: i32, by: By): i32 {
  memory.fill(SORTED, 0, 256)
  const z = row(Z, slot, kind)
  const mean = meanOf(z, n)
  for (let i = 0; i < n; i++) {
    const second = keyAt(slot, kind == 0 ? i : i + 1)
    const which = by == By.transition ? transitionClass(keyAt(slot, i), second) : frequentKey(by == By.first ? keyAt(slot, i) : second)
    if (which < 0) continue
    setF32(SORTED, which, f32At(SORTED, which) + f32At(z, i))
    setF32(SORTED, 32 + which, f32At(SORTED, 32 + which) + 1)
  }
  for (let c = 0; c < classes; c++) {
    setF32(out, at + c, (f32At(SORTED, c) + PRIOR_EVENTS * mean) / (f32At(SORTED, 32 + c) + PRIOR_EVENTS))
  }
  return at + classes
}
