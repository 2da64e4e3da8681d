import { probePairs } from './alignment.js'
import { JointMoments } from './joint-moments.js'
import { COMPARED_MAX, type Pattern } from './pattern.js'
import { log32 } from './single.js'
import { HABITS, type Template } from './template.js'
import { NONE } from './threads.js'

const { fround } = Math

/** Indices of a pattern's habits, its comparison with the references (`assembly/forgery.ts` explains each). */
export const SHARED_PRESSES = 0
export const MATCH_ROOT = 1
export const BOTH_SAME = 2
const HOLD_SAME = 3
const FLIGHT_SAME = 4
const KEY_HOLD_SAME = 5
export const KEY_FLIGHT_SAME = 6
export const HOLD_ROOT = 7
export const FLIGHT_ROOT = 8
const KEY_ROOT = 9
export const HOLD_FAR = 10
export const FLIGHT_FAR = 11
export const HOLD_OFFSET = 12
export const FLIGHT_OFFSET = 13
export const DEPENDENCE = 14
export const DEPENDENCES = 10
export const TIES = 24
export const TIE_COUNT = 15

/** Matches of one press by pair, and by key. */
const CHAIN_MAX = 16
const KEY_CHAIN_MAX = 8
const SAME = fround(0.004)
const SAME_LOG = fround(0.002)
const FLOOR = fround(0.03)
const CAP = 3

const [holdTie, flightTie, holdReturn, flightReturn] = moments()
const [keyHoldTie, keyFlightTie, holdWidth, flightWidth] = moments()
/** Means of the matches of each press by key. */
const keyHolds = new Float32Array(COMPARED_MAX)
const keyFlights = new Float32Array(COMPARED_MAX)

function moments(): readonly [JointMoments, JointMoments, JointMoments, JointMoments] {
  return [new JointMoments(), new JointMoments(), new JointMoments(), new JointMoments()]
}

/** Fills the habits of a probe against a template's references, after `align`. */
export function examineHabits(probe: Pattern, template: Template, habits: Float32Array): void {
  matchKeys(probe, template, habits)
  matchPairs(probe, template, habits)
  habits[DEPENDENCE + 3] = expectedness(probe, 0)
  habits[DEPENDENCE + 4] = expectedness(probe, 2)
  overlaps(probe, habits)
}

const sqrt32 = (x: number): number => fround(Math.sqrt(x))
const capped = (x: number): number => (x > CAP ? CAP : x < -CAP ? -CAP : x)

/** Each press against the references' presses of the same key. */
function matchKeys(
  { n, stride, keys, raw, z }: Pattern,
  { references, threads }: Template,
  habits: Float32Array,
): void {
  const [rows] = references
  if (rows === undefined) return
  const { lastOfKey, beforeOfKey } = threads
  let matches = 0
  let holdSame = 0
  let flightSame = 0
  let shared = 0
  let root = 0
  keyHoldTie.reset()
  keyFlightTie.reset()
  for (let i = 0; i < n; i++) {
    const hold = z[i] ?? 0
    const flight = i > 0 ? (raw[stride + i] ?? 0) : -1
    let count = 0
    let holds = 0
    let flights = 0
    let withFlight = 0
    let e = lastOfKey[keys[i] ?? 0] ?? NONE
    for (; e !== NONE && count < KEY_CHAIN_MAX; e = beforeOfKey[e] ?? NONE) {
      const other = rows.z[e] ?? 0
      holds = fround(holds + other)
      count++
      if (Math.abs(fround(other - hold)) < SAME) holdSame++
      // No logarithm of a time within bounds is 0, the value at a first press.
      const otherFlight = rows.raw[rows.stride + e] ?? 0
      if (otherFlight !== 0) {
        flights = fround(flights + (rows.z[rows.stride + e] ?? 0))
        withFlight++
      }
      if (otherFlight !== 0 && Math.abs(fround(otherFlight - flight)) < SAME_LOG) flightSame++
    }
    if (count === 0) continue
    shared++
    matches += count
    root = fround(root + sqrt32(Math.min(CAP, Math.abs(fround(hold - fround(holds / count))))))
    keyHolds[i] = holds / count
    keyFlights[i] = withFlight > 0 ? flights / withFlight : 0
    if (i === 0 || withFlight === 0 || threads.lastOfPair[probePairs[i] ?? 0] !== NONE) continue
    const [holdMean, flightMean] = [holds / count, flights / withFlight]
    keyHoldTie.add(hold - holdMean, holdMean, 1 / count)
    keyFlightTie.add((z[stride + i] ?? 0) - flightMean, flightMean, 1 / withFlight)
  }
  habits[TIES + 8] = keyHoldTie.correlation()
  habits[TIES + 9] = keyFlightTie.correlation()
  habits[TIES + 10] = keyFlightTie.slope()
  habits[KEY_HOLD_SAME] = holdSame / Math.max(matches, 1)
  habits[KEY_FLIGHT_SAME] = flightSame / Math.max(matches, 1)
  habits[KEY_ROOT] = root / Math.max(shared, 1)
}

/** Each press against the references' presses of the same key after the same key. */
function matchPairs({ n, stride, raw, z }: Pattern, { references, threads }: Template, habits: Float32Array): void {
  const [rows] = references
  if (rows === undefined) return
  const { lastOfPair, beforeOfPair } = threads
  let shared = 0
  let matches = 0
  let matchRoot = 0
  let bothSame = 0
  let holdSame = 0
  let flightSame = 0
  let holdRoot = 0
  let flightRoot = 0
  let holdFar = 0
  let flightFar = 0
  let holdSum = 0
  let flightSum = 0
  let holdSquares = 0
  let flightSquares = 0
  let flightCubes = 0
  let joints = 0
  let holdHold = 0
  let flightFlight = 0
  let holdFlight = 0
  let holdBefore = 0
  let flightBefore = 0
  let joined = false
  let sameHoldFlight = 0
  let flightLag2 = 0
  let joints2 = 0
  let flightBefore2 = 0
  let joined2 = false
  for (const sums of [holdTie, flightTie, holdReturn, flightReturn, holdWidth, flightWidth]) sums.reset()
  for (let i = 1; i < n; i++) {
    const hold = z[i] ?? 0
    const flight = z[stride + i] ?? 0
    let count = 0
    let holds = 0
    let flights = 0
    let e = lastOfPair[probePairs[i] ?? 0] ?? NONE
    for (; e !== NONE && count < CHAIN_MAX; e = beforeOfPair[e] ?? NONE) {
      const otherHold = rows.z[e] ?? 0
      const otherFlight = rows.z[rows.stride + e] ?? 0
      const dh = Math.abs(fround(otherHold - hold))
      const df = Math.abs(fround(otherFlight - flight))
      holds = fround(holds + otherHold)
      flights = fround(flights + otherFlight)
      count++
      matchRoot = fround(matchRoot + sqrt32(Math.min(CAP, fround(dh + df))))
      if (dh < SAME) {
        holdSame++
        if (df < SAME) bothSame++
      }
      if (df < SAME) flightSame++
    }
    matches += count
    if (count === 0) {
      joined = false
      joined2 = false
      continue
    }
    shared++
    tie(i, hold, flight, fround(holds / count), fround(flights / count), 1 / count)
    const scale = sqrt32(fround(count / (count + 1)))
    const h = capped(fround(fround(hold - fround(holds / count)) * scale))
    const f = capped(fround(fround(flight - fround(flights / count)) * scale))
    const ff = fround(f * f)
    sameHoldFlight = fround(sameHoldFlight + fround(h * f))
    holdWidth.add(Math.abs(h), fround((raw[i] ?? 0) - (z[i] ?? 0)), 1)
    flightWidth.add(Math.abs(f), fround((raw[stride + i] ?? 0) - (z[stride + i] ?? 0)), 1)
    if (joined2) {
      joints2++
      flightLag2 = fround(flightLag2 + fround(f * flightBefore2))
    }
    joined2 = joined
    flightBefore2 = flightBefore
    holdRoot = fround(holdRoot + sqrt32(Math.abs(h)))
    flightRoot = fround(flightRoot + sqrt32(Math.abs(f)))
    holdFar = fround(holdFar + Math.abs(h))
    flightFar = fround(flightFar + Math.abs(f))
    holdSum = fround(holdSum + h)
    flightSum = fround(flightSum + f)
    holdSquares = fround(holdSquares + fround(h * h))
    flightSquares = fround(flightSquares + ff)
    flightCubes = fround(flightCubes + fround(ff * f))
    if (joined) {
      joints++
      holdHold = fround(holdHold + fround(h * holdBefore))
      flightFlight = fround(flightFlight + fround(f * flightBefore))
      holdFlight = fround(holdFlight + fround(holdBefore * f))
    }
    joined = true
    holdBefore = h
    flightBefore = f
  }
  const per = fround(1 / Math.max(shared, 1))
  const perMatch = fround(1 / Math.max(matches, 1))
  const perJoint = fround(1 / Math.max(joints, 1))
  const holdMean = fround(holdFar * per)
  const flightMean = fround(flightFar * per)
  const flightSquare = fround(flightSquares * per)
  const over = (above: number, below: number) => above / Math.max(fround(below), FLOOR)
  habits[SHARED_PRESSES] = shared
  habits[MATCH_ROOT] = matchRoot * perMatch
  habits[BOTH_SAME] = bothSame * perMatch
  habits[HOLD_SAME] = holdSame * perMatch
  habits[FLIGHT_SAME] = flightSame * perMatch
  habits[HOLD_ROOT] = holdRoot * per
  habits[FLIGHT_ROOT] = flightRoot * per
  habits[HOLD_FAR] = log32(fround(FLOOR + holdMean))
  habits[FLIGHT_FAR] = log32(fround(FLOOR + flightMean))
  habits[HOLD_OFFSET] = holdSum * per
  habits[FLIGHT_OFFSET] = flightSum * per
  habits[DEPENDENCE] = holdHold * perJoint
  habits[DEPENDENCE + 1] = flightFlight * perJoint
  habits[DEPENDENCE + 2] = holdFlight * perJoint
  habits[DEPENDENCE + 7] = over(fround(holdSquares * per), holdMean * holdMean)
  habits[DEPENDENCE + 8] = over(flightSquare, flightMean * flightMean)
  habits[DEPENDENCE + 9] = over(fround(flightCubes * per), flightSquare * sqrt32(flightSquare))
  const ties = [holdTie, flightTie, holdReturn, flightReturn].flatMap((sums) => [sums.correlation(), sums.slope()])
  habits.set(ties, TIES)
  habits[TIES + 11] = holdWidth.correlation()
  habits[TIES + 12] = flightWidth.correlation()
  habits[TIES + 13] = sameHoldFlight * per
  habits[TIES + 14] = flightLag2 / Math.max(joints2, 1)
}

/** Adds a press whose matches by pair have these means. */
function tie(i: number, hold: number, flight: number, ofHolds: number, ofFlights: number, weight: number): void {
  const [holdMean, flightMean] = [capped(ofHolds), capped(ofFlights)]
  const [h, f] = [capped(hold) - holdMean, capped(flight) - flightMean]
  holdTie.add(h, holdMean, weight)
  flightTie.add(f, flightMean, weight)
  holdReturn.add(h, (keyHolds[i] ?? 0) - holdMean, weight)
  flightReturn.add(f, (keyFlights[i] ?? 0) - flightMean, weight)
}

/** Shares of presses before the previous release, and of releases before the previous release. */
function overlaps({ n, stride, raw }: Pattern, habits: Float32Array): void {
  let over = 0
  let crossed = 0
  for (let i = 1; i < n; i++) {
    if ((raw[2 * stride + i] ?? 0) < 0) over++
    if ((raw[3 * stride + i] ?? 0) < 0) crossed++
  }
  habits[DEPENDENCE + 5] = over / (n - 1)
  habits[DEPENDENCE + 6] = crossed / (n - 1)
}

/** Correlation of the times with the population's expectation. */
function expectedness({ n, stride, raw, z }: Pattern, kind: number): number {
  const from = kind === 0 ? 0 : 1
  let a = 0
  let b = 0
  let aa = 0
  let bb = 0
  let ab = 0
  for (let i = kind * stride + from; i < kind * stride + n; i++) {
    const value = raw[i] ?? 0
    const expected = value - (z[i] ?? 0)
    a += value
    b += expected
    aa += value * value
    bb += expected * expected
    ab += value * expected
  }
  const count = n - from
  const norm = (aa - (a * a) / count) * (bb - (b * b) / count)
  return norm > 1e-12 ? (ab - (a * b) / count) / Math.sqrt(norm) : 0
}

/** A habit of the probe, or of the numbered reference, less its mean over the references except itself. */
export function habitAboveOwn(habits: Float32Array, at: number, which: number, template: Template): number {
  const { habits: all, references } = template
  let sum = 0
  let others = 0
  for (let r = 0; r < references.length; r++) {
    if (habits === all && at === r * HABITS) continue
    sum = fround(sum + (all[r * HABITS + which] ?? 0))
    others++
  }
  return others > 0 ? fround((habits[at + which] ?? 0) - fround(sum / others)) : 0
}
