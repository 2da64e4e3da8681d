/**
 * Finds a probe that was made from known patterns of the member: copied whole or in parts, from one pattern or several, moved,
 * scaled or blurred, under its own keys or others. COPIED holds
 *
 * | byte | holds                                                                                              |
 * |------|----------------------------------------------------------------------------------------------------|
 * | 0    | f64 correlation of the departures with those of the most similar pattern, in standard deviations     |
 * | 8    | f64 log likelihood ratio of a probe that takes its presses from the patterns (sources)              |
 * | 16   | f64 excess of the best pattern where keys are not compared, nats (positions)                        |
 * | 24   | i32 x 3 pattern of each of the three numbers, from 0; -1 without known patterns                     |
 * | 36   | i32 lane of the second number with the most evidence                                                |
 *
 * Departures of the probe correlate with those of its original, and not with those of another pattern. Fisher's transform of a
 * correlation, times the root of n - 3, is near a standard normal number (Fisher, 1915).
 */
import { COPIED, PROBE_SKETCH, RUN_ENDS } from './layout'
import { FULL_LENGTH, Match, departureAt, firstMatch, informative, matchAt, patterns, readPatterns, zero } from './departures'
import { bestPosition, comparePositions } from './positions'
import { pressesAt } from './sketch'
import { bestLane, bestSource, explainBySources } from './sources'

/** Least presses in common with the probe that a correlation needs. */
const PRESSES_MIN: i32 = 8
const CORRELATION_MAX: f64 = 0.995

/** Compares PROBE_SKETCH with the sketches in the first `bytes` bytes of KNOWN_SKETCHES. */
export function copies(bytes: i32): void {
  readPatterns(bytes)
  store<f64>(COPIED, mostCorrelated())
  store<f64>(COPIED, explainBySources(), 8)
  store<f64>(COPIED, comparePositions(), 16)
  store<i32>(COPIED, correlated - 1, 24)
  store<i32>(COPIED, bestSource - 1, 28)
  store<i32>(COPIED, bestPosition - 1, 32)
  store<i32>(COPIED, bestLane, 36)
}

let correlated: i32 = 0
/** Fisher's transforms of the correlations of the last pattern. */
let ofHolds: f64 = 0
let ofIntervals: f64 = 0

/**
 * The largest transform over the patterns: of holds, of intervals, or of both. The mean over the other patterns is subtracted,
 * because it comes from habits that the patterns share.
 */
function mostCorrelated(): f64 {
  let most: f64 = 0, hold: f64 = 0, interval: f64 = 0, both: f64 = 0
  let holds: f64 = 0, intervals: f64 = 0
  correlated = patterns > 0 ? 1 : 0
  for (let pattern = 1; pattern <= patterns; pattern++) {
    correlate(pattern)
    const joined = (ofHolds + ofIntervals) * Math.SQRT1_2
    const best = max(joined, max(ofHolds, ofIntervals))
    if (best > most) {
      most = best
      correlated = pattern
    }
    hold = max(hold, ofHolds)
    interval = max(interval, ofIntervals)
    both = max(both, joined)
    holds += ofHolds
    intervals += ofIntervals
  }
  const others = <f64>(patterns + 1)
  return max(
    aboveOthers(both, (holds + intervals) * Math.SQRT1_2, others),
    max(aboveOthers(hold, holds, others), aboveOthers(interval, intervals, others)),
  )
}

// @ts-ignore: decorator
@inline
function aboveOthers(best: f64, sum: f64, others: f64): f64 {
  return best - max<f64>(0, (sum - best) / others)
}

/** Correlates the probe with a pattern. Each press of the probe is compared with its match in the longest run. */
function correlate(pattern: i32): void {
  zero(RUN_ENDS, 512)
  const end = firstMatch(pattern + 1)
  for (let match = firstMatch(pattern); match < end; match++) {
    const at = matchAt(match)
    const best = RUN_ENDS + (<usize>load<u8>(at, Match.probePress) << 2)
    const longest = load<i32>(best)
    if (longest == 0 || load<i32>(at, Match.run) > load<i32>(matchAt(longest - 1), Match.run)) store<i32>(best, match + 1)
  }
  let products = f32x4.splat(0), probes = products, knowns = products
  let compared = 0
  const n = pressesAt(PROBE_SKETCH)
  for (let press = 1; press < n; press++) {
    const match = load<i32>(RUN_ENDS + (<usize>press << 2))
    if (match == 0) continue
    compared++
    const probe = v128.load64_zero(departureAt(press)), known = v128.load64_zero(matchAt(match - 1), Match.hold)
    products = f32x4.add(products, f32x4.mul(probe, known))
    probes = f32x4.add(probes, f32x4.mul(probe, probe))
    knowns = f32x4.add(knowns, f32x4.mul(known, known))
  }
  const isCompared = compared >= PRESSES_MIN
  const presses = isCompared ? <f64>min(compared, FULL_LENGTH) : 0
  ofHolds = transform(f32x4.extract_lane(products, 0), f32x4.extract_lane(probes, 0), f32x4.extract_lane(knowns, 0), presses * <f64>f32x4.extract_lane(informative, 0))
  ofIntervals = transform(f32x4.extract_lane(products, 1), f32x4.extract_lane(probes, 1), f32x4.extract_lane(knowns, 1), presses * <f64>f32x4.extract_lane(informative, 1))
}

function transform(product: f32, probe: f32, known: f32, presses: f64): f64 {
  const r = <f64>product / Math.sqrt(<f64>probe * <f64>known + 1e-9)
  return Math.atanh(max(-CORRELATION_MAX, min(CORRELATION_MAX, r))) * Math.sqrt(max<f64>(0, presses - 3))
}
