/**
 * Signs that the probe was assembled from the references: each press is compared with the references' presses of the same key
 * pair. Times taken from stored patterns of the victim are nearer to them than the victim's own later times, and the dependence
 * of one time on the next is lost between pieces of different patterns. Each reference is compared with the others in the same
 * way, which defines what is near, so a regular typist, repeated text or a coarse timer does not count as forgery.
 * All steps are in one file, because they write to the same sums.
 */
import {
  CHAIN_HEADS, CHAIN_NEXT, COMPARED_MAX, HABITS, HABITS_STRIDE, KEY_HEADS, KEY_NEXT, RAW, SCRATCH, Z, countOf, eventsOf, f32At, firstKeyOf, keyAt, lanesAt, row, setF32,
} from './layout'
import { JointMoments } from './joint-moments'

/** Values that `habits` writes for one slot. Matches are the presses of other slots with the same key pair, or the same key. */
export const enum Habit {
  /** Presses whose pair another slot has. */
  shared = 0,
  /** Mean square root of the distance to each match, hold and flight together. */
  matchRoot,
  /** Shares of the matches, by pair and by key, that have exactly the same time. */
  bothSame,
  holdSame,
  flightSame,
  keyHoldSame,
  keyFlightSame,
  /** Mean square root of the distance to the mean of the matches. */
  holdRoot,
  flightRoot,
  keyRoot,
  /** Logarithm of the mean distance to the mean of the matches. */
  holdFar,
  flightFar,
  /** Mean difference from the mean of the matches. */
  holdOffset,
  flightOffset,
  /** Correlations of one time with the next. */
  holdAfterHold,
  flightAfterFlight,
  flightAfterHold,
  /** Correlations of the population's expectation with holds and with release-press times. */
  expectedHold,
  expectedReleasePress,
  /** Shares of the presses, and of the releases, before the previous release. */
  overPressed,
  overReleased,
  /** Tails and skew of the distances to the mean of the matches. */
  holdTail,
  flightTail,
  flightSkew,
  /** Correlations with the means of the matches, and slopes (`holdTie` and others). */
  holdTie,
  holdTieSlope,
  flightTie,
  flightTieSlope,
  holdReturn,
  holdReturnSlope,
  flightReturn,
  flightReturnSlope,
  keyHoldTie,
  keyFlightTie,
  keyFlightTieSlope,
  holdWidth,
  flightWidth,
  /** Products of hold and flight of one press, and of a flight with the next but one. */
  holdWithFlight,
  flightLag2,
}
export const DEPENDENCES: i32 = Habit.holdTie - Habit.holdAfterHold
export const TIES: i32 = Habit.flightLag2 - Habit.holdTie + 1
/** Most matches of one press by pair, and by key: they bound the cost if all texts are the same. */
const CHAIN_MAX: f32 = 16
const KEY_CHAIN_MAX: f32 = 8
/** Difference in standard deviations below which two times are the same: less than a millisecond for usual holds and flights. */
const SAME: f32 = 0.004
/** The same bound as a difference of logarithms: 1 ms in 500. */
const SAME_LOG: f32 = 0.002
/** Keeps logarithms finite and quotients bounded: about 2 ms. */
const FLOOR: f32 = 0.03
const CAP: f32 = 3

// @ts-ignore: decorator
@inline
function chainHead(slot: i32, press: i32): usize {
  return CHAIN_HEADS + (<usize>((firstKeyOf(slot, press) << 7) + keyAt(slot, press)) << 1)
}

// @ts-ignore: decorator
@inline
function keyHead(slot: i32, press: i32): usize {
  return KEY_HEADS + (<usize>keyAt(slot, press) << 1)
}

// @ts-ignore: decorator
@inline
function next(links: usize, event: i32): i32 {
  return <i32>load<u16>(links + (<usize>event << 1))
}

/** Links the presses of slots 1 to `references` by key pair and by key; press 0 of a slot has no pair. */
function linkReferences(references: i32): void {
  for (let slot = 1; slot <= references; slot++) {
    for (let i = 0; i < countOf(slot); i++) {
      const event = <u16>(slot * COMPARED_MAX + i)
      store<u16>(KEY_NEXT + (<usize>event << 1), load<u16>(keyHead(slot, i)))
      store<u16>(keyHead(slot, i), event)
      if (i == 0) continue
      store<u16>(CHAIN_NEXT + (<usize>event << 1), load<u16>(chainHead(slot, i)))
      store<u16>(chainHead(slot, i), event)
    }
  }
}

/** Resets the heads to zero, which the next call requires. */
function unlinkReferences(references: i32): void {
  for (let slot = 1; slot <= references; slot++) {
    for (let i = 0; i < countOf(slot); i++) {
      store<u16>(chainHead(slot, i), 0)
      store<u16>(keyHead(slot, i), 0)
    }
  }
}

// @ts-ignore: decorator
@inline
function habitsOf(slot: i32): usize {
  return HABITS + (<usize>(slot * HABITS_STRIDE) << 2)
}

// @ts-ignore: decorator
@inline
function capped(value: f32): f32 {
  return max(-CAP, min(CAP, value))
}

function set(slot: i32, which: i32, value: f32): void {
  setF32(habitsOf(slot), which, value)
}

/** Fills HABITS of slots 0 to `to` against slots 1 to `references`; with 0 only those of the probe. */
export function examineHabits(references: i32, to: i32): void {
  linkReferences(references)
  for (let slot = 0; slot <= to; slot++) habits(slot)
  unlinkReferences(references)
}

export function habitOf(slot: i32, which: i32): f32 {
  return f32At(habitsOf(slot), which)
}

/** The slot's habit less its mean over the references except itself; 0 without another reference. */
export function habitAboveOwn(slot: i32, which: i32, references: i32): f32 {
  let sum: f32 = 0, others: f32 = 0
  for (let other = 1; other <= references; other++) {
    if (other == slot) continue
    sum += habitOf(other, which)
    others += 1
  }
  return others > 0 ? habitOf(slot, which) - sum / others : 0
}

/**
 * How presses follow the means of their matches. Such a mean has the noise of a few times, and a person's own time regresses from
 * the mean towards the usual time: the difference of the time from the mean of the pair is correlated with that mean, and with the
 * distance from that mean to the mean of the key. A time that was made from the mean follows its noise, and both correlations are 0.
 */
const holdTie = new JointMoments()
const flightTie = new JointMoments()
const holdReturn = new JointMoments()
const flightReturn = new JointMoments()
/** The moments of presses whose pair is new, with the means by key. */
const keyHoldTie = new JointMoments()
const keyFlightTie = new JointMoments()
/** Distance from the mean, with the population's expectation: people vary more where they are slow. */
const holdWidth = new JointMoments()
const flightWidth = new JointMoments()

/** Means of the matches of each press by key. */
const KEY_HOLDS: usize = SCRATCH
const KEY_FLIGHTS: usize = SCRATCH + <usize>(COMPARED_MAX << 2)

function habits(slot: i32): void {
  matchKeys(slot)
  matchPairs(slot)
  set(slot, Habit.expectedHold, expectedness(slot, 0))
  set(slot, Habit.expectedReleasePress, expectedness(slot, 2))
  overlaps(slot)
}

/** Compares each press with the other slots' presses of the same key. */
function matchKeys(slot: i32): void {
  let matches: f32 = 0, holdSame: f32 = 0, flightSame: f32 = 0, shared: f32 = 0, root: f32 = 0
  keyHoldTie.reset()
  keyFlightTie.reset()
  for (let i = 0; i < countOf(slot); i++) {
    const hold = f32At(lanesAt(slot, i), 0)
    // The logarithm of a time within bounds is never this low.
    const flight: f32 = i > 0 ? f32At(row(RAW, slot, 1), i - 1) : -1
    let count: f32 = 0, holds: f32 = 0, flights: f32 = 0, withFlight: f32 = 0
    for (let event = <i32>load<u16>(keyHead(slot, i)); event != 0 && count < KEY_CHAIN_MAX; event = next(KEY_NEXT, event)) {
      if (event >> 7 == slot) continue
      const other = f32At(lanesAt(0, event), 0)
      holds += other
      count += 1
      if (abs(other - hold) < SAME) holdSame += 1
      const press = event & 127
      if (press > 0) {
        flights += f32At(lanesAt(0, event), 1)
        withFlight += 1
      }
      if (press > 0 && abs(f32At(row(RAW, event >> 7, 1), press - 1) - flight) < SAME_LOG) flightSame += 1
    }
    if (count == 0) continue
    shared += 1
    matches += count
    root += sqrt<f32>(min(CAP, abs(hold - holds / count)))
    setF32(KEY_HOLDS, i, holds / count)
    setF32(KEY_FLIGHTS, i, withFlight > 0 ? flights / withFlight : 0)
    if (i == 0 || withFlight == 0 || isPairKnown(slot, i)) continue
    const holdMean = <f64>holds / <f64>count, flightMean = <f64>flights / <f64>withFlight
    keyHoldTie.add(<f64>hold - holdMean, holdMean, 1 / <f64>count)
    keyFlightTie.add(<f64>f32At(lanesAt(slot, i), 1) - flightMean, flightMean, 1 / <f64>withFlight)
  }
  set(slot, Habit.keyHoldTie, keyHoldTie.correlation())
  set(slot, Habit.keyFlightTie, keyFlightTie.correlation())
  set(slot, Habit.keyFlightTieSlope, keyFlightTie.slope())
  set(slot, Habit.keyHoldSame, holdSame / max<f32>(matches, 1))
  set(slot, Habit.keyFlightSame, flightSame / max<f32>(matches, 1))
  set(slot, Habit.keyRoot, root / max<f32>(shared, 1))
}

/** Whether another slot has the key pair of a press. */
function isPairKnown(slot: i32, press: i32): bool {
  for (let event = <i32>load<u16>(chainHead(slot, press)); event != 0; event = next(CHAIN_NEXT, event))
    if (event >> 7 != slot) return true
  return false
}

/** Compares each press with the other slots' presses of the same key after the same key. */
function matchPairs(slot: i32): void {
  let shared: f32 = 0, matches: f32 = 0, matchRoot: f32 = 0, bothSame: f32 = 0, holdSame: f32 = 0, flightSame: f32 = 0
  let holdRoot: f32 = 0, flightRoot: f32 = 0, holdFar: f32 = 0, flightFar: f32 = 0, holdSum: f32 = 0, flightSum: f32 = 0
  let holdSquares: f32 = 0, flightSquares: f32 = 0, flightCubes: f32 = 0
  let joints: f32 = 0, holdHold: f32 = 0, flightFlight: f32 = 0, holdFlight: f32 = 0
  let holdBefore: f32 = 0, flightBefore: f32 = 0, joined = false
  let sameHoldFlight: f32 = 0, flightLag2: f32 = 0, joints2: f32 = 0, flightBefore2: f32 = 0, joined2 = false
  resetTies()
  for (let i = 1; i < countOf(slot); i++) {
    const hold = f32At(lanesAt(slot, i), 0)
    const flight = f32At(lanesAt(slot, i), 1)
    let count: f32 = 0, holds: f32 = 0, flights: f32 = 0
    for (let event = <i32>load<u16>(chainHead(slot, i)); event != 0 && count < CHAIN_MAX; event = next(CHAIN_NEXT, event)) {
      if (event >> 7 == slot) continue
      const other = lanesAt(0, event)
      const dh = abs(f32At(other, 0) - hold)
      const df = abs(f32At(other, 1) - flight)
      holds += f32At(other, 0)
      flights += f32At(other, 1)
      count += 1
      matchRoot += sqrt<f32>(min(CAP, dh + df))
      if (dh < SAME) holdSame += 1
      if (df < SAME) flightSame += 1
      if (dh < SAME && df < SAME) bothSame += 1
    }
    matches += count
    if (count == 0) {
      joined = false
      joined2 = false
      continue
    }
    shared += 1
    // Standard deviation of a difference from a mean of `count`, in deviations of one: the result is the same with four matches or five.
    const scale = sqrt<f32>(count / (count + 1))
    tie(i, hold, flight, holds / count, flights / count, 1 / <f64>count)
    const h = capped((hold - holds / count) * scale)
    const f = capped((flight - flights / count) * scale)
    holdRoot += sqrt<f32>(abs(h))
    flightRoot += sqrt<f32>(abs(f))
    holdFar += abs(h)
    flightFar += abs(f)
    holdSum += h
    flightSum += f
    holdSquares += h * h
    flightSquares += f * f
    flightCubes += f * f * f
    sameHoldFlight += h * f
    holdWidth.add(<f64>abs(h), <f64>(f32At(row(RAW, slot, 0), i) - f32At(row(Z, slot, 0), i)), 1)
    flightWidth.add(<f64>abs(f), <f64>(f32At(row(RAW, slot, 1), i - 1) - f32At(row(Z, slot, 1), i - 1)), 1)
    if (joined2) {
      joints2 += 1
      flightLag2 += f * flightBefore2
    }
    joined2 = joined
    flightBefore2 = flightBefore
    if (joined) {
      joints += 1
      holdHold += h * holdBefore
      flightFlight += f * flightBefore
      holdFlight += holdBefore * f
    }
    joined = true
    holdBefore = h
    flightBefore = f
  }
  const per: f32 = <f32>1 / max<f32>(shared, 1)
  const perMatch: f32 = <f32>1 / max<f32>(matches, 1)
  const perJoint: f32 = <f32>1 / max<f32>(joints, 1)
  const holdDistance = holdFar * per
  const flightDistance = flightFar * per
  const flightSquare = flightSquares * per
  set(slot, Habit.shared, shared)
  set(slot, Habit.matchRoot, matchRoot * perMatch)
  set(slot, Habit.bothSame, bothSame * perMatch)
  set(slot, Habit.holdSame, holdSame * perMatch)
  set(slot, Habit.flightSame, flightSame * perMatch)
  set(slot, Habit.holdRoot, holdRoot * per)
  set(slot, Habit.flightRoot, flightRoot * per)
  set(slot, Habit.holdFar, Mathf.log(FLOOR + holdDistance))
  set(slot, Habit.flightFar, Mathf.log(FLOOR + flightDistance))
  set(slot, Habit.holdOffset, holdSum * per)
  set(slot, Habit.flightOffset, flightSum * per)
  set(slot, Habit.holdAfterHold, holdHold * perJoint)
  set(slot, Habit.flightAfterFlight, flightFlight * perJoint)
  set(slot, Habit.flightAfterHold, holdFlight * perJoint)
  set(slot, Habit.holdTail, holdSquares * per / max<f32>(holdDistance * holdDistance, FLOOR))
  set(slot, Habit.flightTail, flightSquare / max<f32>(flightDistance * flightDistance, FLOOR))
  set(slot, Habit.flightSkew, flightCubes * per / max<f32>(flightSquare * sqrt<f32>(flightSquare), FLOOR))
  storeTies(slot)
  set(slot, Habit.holdWithFlight, sameHoldFlight * per)
  set(slot, Habit.flightLag2, flightLag2 / max<f32>(joints2, 1))
}

function resetTies(): void {
  holdTie.reset()
  flightTie.reset()
  holdReturn.reset()
  flightReturn.reset()
  holdWidth.reset()
  flightWidth.reset()
}

function storeTies(slot: i32): void {
  set(slot, Habit.holdTie, holdTie.correlation())
  set(slot, Habit.holdTieSlope, holdTie.slope())
  set(slot, Habit.flightTie, flightTie.correlation())
  set(slot, Habit.flightTieSlope, flightTie.slope())
  set(slot, Habit.holdReturn, holdReturn.correlation())
  set(slot, Habit.holdReturnSlope, holdReturn.slope())
  set(slot, Habit.flightReturn, flightReturn.correlation())
  set(slot, Habit.flightReturnSlope, flightReturn.slope())
  set(slot, Habit.holdWidth, holdWidth.correlation())
  set(slot, Habit.flightWidth, flightWidth.correlation())
}

/** Adds a press whose matches by pair have these means. */
function tie(press: i32, hold: f32, flight: f32, ofHolds: f32, ofFlights: f32, weight: f64): void {
  const holdMean = <f64>capped(ofHolds), flightMean = <f64>capped(ofFlights)
  const h = <f64>capped(hold) - holdMean
  const f = <f64>capped(flight) - flightMean
  holdTie.add(h, holdMean, weight)
  flightTie.add(f, flightMean, weight)
  holdReturn.add(h, <f64>f32At(KEY_HOLDS, press) - holdMean, weight)
  flightReturn.add(f, <f64>f32At(KEY_FLIGHTS, press) - flightMean, weight)
}

/** Shares of presses before the previous release, and of releases before the previous release. */
function overlaps(slot: i32): void {
  const n = countOf(slot)
  let over: f32 = 0, crossed: f32 = 0
  const releasePress = row(RAW, slot, 2)
  const releaseRelease = row(RAW, slot, 3)
  for (let i = 0; i < n - 1; i++) {
    if (f32At(releasePress, i) < 0) over += 1
    if (f32At(releaseRelease, i) < 0) crossed += 1
  }
  set(slot, Habit.overPressed, over / <f32>max(n - 1, 1))
  set(slot, Habit.overReleased, crossed / <f32>max(n - 1, 1))
}

/** Correlation of the slot's times with the population's expectation; also low for typing with one hand or another layout. */
function expectedness(slot: i32, kind: i32): f32 {
  const n = eventsOf(slot, kind)
  if (n < 3) return 0
  const raw = row(RAW, slot, kind)
  const z = row(Z, slot, kind)
  let a: f64 = 0, b: f64 = 0, aa: f64 = 0, bb: f64 = 0, ab: f64 = 0
  for (let i = 0; i < n; i++) {
    const value = <f64>f32At(raw, i)
    const expected = value - <f64>f32At(z, i)
    a += value
    b += expected
    aa += value * value
    bb += expected * expected
    ab += value * expected
  }
  const count = <f64>n
  const norm = (aa - a * a / count) * (bb - b * b / count)
  return norm > 1e-12 ? <f32>((ab - a * b / count) / sqrt<f64>(norm)) : 0
}
