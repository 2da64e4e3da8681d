/**
 * Log likelihood ratio of a probe that takes its presses from known patterns, one or several, against a probe of the member's own.
 * A hidden Markov model over the matches gives it (forward algorithm: Rabiner, Proceedings of the IEEE 77, 1989): the state is
 * the match that a press was taken from, or none. A source usually continues with its next press. The weight of a pattern as a
 * source grows with the presses that it has explained, so two sources cost little more than one. A copied departure is correlated
 * with the original's; under the other hypothesis it is a standard normal number. Each lane has a correlation of the holds and one
 * of the intervals: for blurred copies, for close copies, for copies of the intervals alone, and for close copies with a source for
 * each press. The result is the mean over the lanes.
 *
 * The cost is proportional to the matches: 100 to 300 with new words each time, 3,000 with the same words in all of 53 patterns.
 */
import { OWN_SHARES, PRESS_MATCHES, PROBE_SKETCH, SORTED, SOURCE_WEIGHTS, f32At } from './layout'
import { FULL_LENGTH, Match, departureAt, informative, matchAt, patterns } from './departures'
import { naturalLogs } from './natural-log'
import { pressesAt } from './sketch'

/** Correlations of copied holds and intervals by lane. */
const HOLDS: v128 = f32x4(0.6, 0.93, 0, 0.93)
const INTERVALS: v128 = f32x4(0.8, 0.97, 0.9, 0.97)
/** Probabilities by lane that the press after a copied one has the same source, is the member's own, or has another source. */
const STAYS: v128 = f32x4(0.85, 0.85, 0.85, 0.25)
const LEAVES: v128 = f32x4(0.07, 0.07, 0.07, 0.1)
const MOVES: v128 = f32x4(0.08, 0.08, 0.08, 0.65)
/** Probability that the press after one of the member's own is also the member's own. */
const STAYS_OWN: f32 = 0.6
/** Share of the sources that continue elsewhere at once if the probe does not have their next press. */
const BROKEN_STAYS: f32 = 0.7
/** Weight, in presses, of a pattern that has explained no press yet. */
const PRIOR_WEIGHT: f32 = 0.5
let holdGain: v128 = f32x4.splat(0)
let holdLoss: v128 = f32x4.splat(0)
let intervalGain: v128 = f32x4.splat(0)
let intervalLoss: v128 = f32x4.splat(0)
let constant: v128 = f32x4.splat(0)
/** The known pattern that explains most of the probe; 0 without known patterns. */
export let bestSource: i32 = 0
/** The lane with the most evidence. */
export let bestLane: i32 = 0

/** Runs the model over the patterns of the last `readPatterns`. Returns the log likelihood ratio. */
export function explainBySources(): f64 {
  setLanes()
  for (let pattern = 0; pattern <= patterns; pattern++) v128.store(weightAt(pattern), f32x4.splat(PRIOR_WEIGHT))
  let own = f32x4.splat(1), logs = f32x4.splat(0)
  const n = pressesAt(PROBE_SKETCH)
  let compared = 0
  for (let press = 1; press < n; press++) {
    const head = <i32>load<u16>(PRESS_MATCHES + (<usize>press << 1))
    if (head != 0) compared++
    const total = advance(press, head, own)
    logs = f32x4.add(logs, naturalLogs(total))
    own = v128.load(OWN_SHARES + (<usize>press << 4))
  }
  return conclude(logs) * <f64>min(compared, FULL_LENGTH) / <f64>max(compared, 1)
}

/** Moves all probabilities by one press and stores the own share. Returns the likelihood ratio of the press. */
function advance(press: i32, head: i32, own: v128): v128 {
  const ownAt = OWN_SHARES + (<usize>press << 4)
  if (head == 0) {
    v128.store(ownAt, own)
    return f32x4.splat(1)
  }
  let weights = f32x4.splat(0), going = f32x4.splat(0)
  for (let match = head; match != 0; ) {
    const at = matchAt(match - 1)
    weights = f32x4.add(weights, v128.load(weightAt(<i32>load<u8>(at, Match.pattern))))
    const before = load<i32>(at, Match.before)
    if (before != 0) going = f32x4.add(going, v128.load(matchAt(before - 1)))
    match = <i32>load<u16>(at, Match.next)
  }
  const broken = f32x4.max(f32x4.splat(0), f32x4.sub(f32x4.sub(f32x4.splat(1), own), going))
  const interrupted = f32x4.mul(broken, STAYS)
  const sourced = f32x4.add(going, broken)
  const entering = weighted(own, 1 - STAYS_OWN, f32x4.mul(sourced, MOVES), interrupted, BROKEN_STAYS)
  const staysOwn = weighted(own, STAYS_OWN, f32x4.mul(sourced, LEAVES), interrupted, 1 - BROKEN_STAYS)
  const total = f32x4.add(staysOwn, explainPress(press, head, f32x4.div(entering, weights)))
  const scale = f32x4.div(f32x4.splat(1), total)
  for (let match = head; match != 0; ) {
    const at = matchAt(match - 1)
    const share = f32x4.mul(v128.load(at), scale)
    v128.store(at, share)
    const weight = weightAt(<i32>load<u8>(at, Match.pattern))
    v128.store(weight, f32x4.add(v128.load(weight), share))
    match = <i32>load<u16>(at, Match.next)
  }
  v128.store(ownAt, f32x4.mul(staysOwn, scale))
  return total
}

/** Stores the unscaled probability of each match of a press and returns their sum. `entering` is for one unit of weight. */
function explainPress(press: i32, head: i32, entering: v128): v128 {
  const departure = departureAt(press)
  const hold = v128.load32_splat(departure), interval = v128.load32_splat(departure, 4)
  const base = f32x4.sub(constant, f32x4.add(f32x4.mul(holdLoss, f32x4.mul(hold, hold)), f32x4.mul(intervalLoss, f32x4.mul(interval, interval))))
  const holdFactor = f32x4.mul(holdGain, hold), intervalFactor = f32x4.mul(intervalGain, interval)
  let sum = f32x4.splat(0)
  for (let match = head; match != 0; ) {
    const at = matchAt(match - 1)
    const h = v128.load32_splat(at, Match.hold), i = v128.load32_splat(at, Match.interval)
    const gain = f32x4.add(f32x4.mul(h, f32x4.sub(holdFactor, f32x4.mul(holdLoss, h))), f32x4.mul(i, f32x4.sub(intervalFactor, f32x4.mul(intervalLoss, i))))
    let arriving = f32x4.mul(entering, v128.load(weightAt(<i32>load<u8>(at, Match.pattern))))
    const before = load<i32>(at, Match.before)
    if (before != 0) arriving = f32x4.add(arriving, f32x4.mul(STAYS, v128.load(matchAt(before - 1))))
    const likely = f32x4.mul(exponentials(f32x4.add(base, gain)), arriving)
    v128.store(at, likely)
    sum = f32x4.add(sum, likely)
    match = <i32>load<u16>(at, Match.next)
  }
  return sum
}

// @ts-ignore: decorator
@inline
function weighted(own: v128, ofOwn: f32, leaving: v128, interrupted: v128, ofInterrupted: f32): v128 {
  return f32x4.add(f32x4.add(f32x4.mul(own, f32x4.splat(ofOwn)), leaving), f32x4.mul(interrupted, f32x4.splat(ofInterrupted)))
}

// @ts-ignore: decorator
@inline
function weightAt(pattern: i32): usize {
  return SOURCE_WEIGHTS + (<usize>pattern << 4)
}

/**
 * Sets the factors of the logarithm of the ratio of two normal densities, one with the correlation r and one without: r / (1 - r^2)
 * and half of r^2 / (1 - r^2).
 */
function setLanes(): void {
  const one = f32x4.splat(1)
  const holdWeight = f32x4.splat(f32x4.extract_lane(informative, 0)), intervalWeight = f32x4.splat(f32x4.extract_lane(informative, 1))
  const holdsLeft = f32x4.sub(one, f32x4.mul(HOLDS, HOLDS)), intervalsLeft = f32x4.sub(one, f32x4.mul(INTERVALS, INTERVALS))
  holdGain = f32x4.mul(holdWeight, f32x4.div(HOLDS, holdsLeft))
  holdLoss = f32x4.mul(f32x4.splat(0.5), f32x4.mul(HOLDS, holdGain))
  intervalGain = f32x4.mul(intervalWeight, f32x4.div(INTERVALS, intervalsLeft))
  intervalLoss = f32x4.mul(f32x4.splat(0.5), f32x4.mul(INTERVALS, intervalGain))
  constant = f32x4.mul(f32x4.splat(-0.5), f32x4.add(f32x4.mul(holdWeight, naturalLogs(holdsLeft)), f32x4.mul(intervalWeight, naturalLogs(intervalsLeft))))
}

function conclude(logs: v128): f64 {
  v128.store(SORTED, logs)
  bestLane = 0
  for (let lane = 1; lane < 4; lane++) if (f32At(SORTED, lane) > f32At(SORTED, bestLane)) bestLane = lane
  bestSource = patterns > 0 ? 1 : 0
  for (let pattern = 2; pattern <= patterns; pattern++)
    if (f32At(weightAt(pattern), bestLane) > f32At(weightAt(bestSource), bestLane)) bestSource = pattern
  const most = <f64>f32At(SORTED, bestLane)
  let sum: f64 = 0
  for (let lane = 0; lane < 4; lane++) sum += Math.exp(<f64>f32At(SORTED, lane) - most)
  return most + Math.log(sum / 4)
}

/**
 * Exponentials within 0.2 %: the bits of the exponent give the power of two, a parabola gives its fraction. The sum over a pattern
 * changes by less than 0.1.
 */
// @ts-ignore: decorator
@inline
function exponentials(x: v128): v128 {
  const power = f32x4.mul(f32x4.max(f32x4.splat(-80), x), f32x4.splat(1.4426950408889634))
  const whole = f32x4.floor(power)
  const part = f32x4.sub(power, whole)
  const mantissa = f32x4.add(f32x4.splat(1), f32x4.mul(part, f32x4.add(f32x4.splat(0.6565), f32x4.mul(part, f32x4.splat(0.3435)))))
  return i32x4.add(mantissa, i32x4.shl(i32x4.trunc_sat_f32x4_s(whole), 23))
}
