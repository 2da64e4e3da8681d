/**
 * How each press of the probe and of the known patterns departs from the member's habits. A hold and the interval before it are
 * expressed in standard deviations of the population for that key or key pair, less the member's mean of the key, less the
 * member's mean of the key pair, less the pattern's own tempo. Each mean is shrunk as if `PRIOR` more presses had a time of 0.
 * Only confirmed patterns count for the means, because an attacker may send patterns that move them.
 *
 * The departures of two sincere patterns are independent: a person repeats habits and not accidents. The departures of a copy
 * correlate with those of the original, even if the copy was moved, scaled or blurred.
 *
 * A match is a press of a known pattern that has the key pair of a press of the probe, in 48 bytes of COPY_MATCHES: f32 x 4
 * probability by lane (`sources.ts`), f32 hold and f32 interval (departures in standard deviations), u32 1 + the match of both
 * previous presses (0 if none), u32 presses of the run of matches that it is in, u16 1 + the next match of the same press of the
 * probe, u8 press of the probe, u8 press of the pattern, u8 pattern.
 */
import {
  COPY_MATCHES, DEPARTURES, KEY_MEANS, KNOWN_SKETCHES, KNOWN_SKETCHES_MAX, MATCHES_FIRST, PAIR_IDS, PAIR_MEANS, PAIR_NEXT, POPULATION, PRESS_MATCHES, PROBE_SKETCH, RUN_ENDS,
  SKETCH_STARTS, STEP_LOGS, f32At, setF32,
} from './layout'
import { holdContext, pairContextOf } from './model'
import { LINEAR_MS, STEP, UNKNOWN_KEY, holdsAt, isConfirmed, isRepeated, pressesAt, sizeAt, sketchKey } from './sketch'

/** Count of presses by which a mean of the member is shrunk. */
const PRIOR: f32 = 3
/** Bound of a departure in standard deviations, so that one pause does not decide. */
const CLIP: f32 = 1.8
/** Bound of a time in population standard deviations where the tempo is taken. */
const TEMPO_CLIP: f32 = 3
/** Variance of rounding, added to the measured variance. */
const LEAST_VARIANCE: f32 = 0.02
/** Mean of the square root of a standard normal number's size. */
const MEAN_ROOT: f32 = 0.822
/** Mean of the square root of a departure's size in the open data, and its weight in matches. */
const USUAL_ROOT: f32 = 0.7
const USUAL: f32 = 30
const MATCHES_MAX: i32 = 16384
const MATCH_BYTES: usize = 48

/** Mean fourth power of clipped normal numbers, in squares of their mean square. */
const NORMAL_KURTOSIS: f32 = 2.2
/**
 * Share of the probe's holds (lane 0) and of its intervals (lane 1) that are evidence. If most of them are equal, as from a keyboard
 * on a screen, only the few others are evidence, and the evidence is scaled to their number.
 */
export let informative: v128 = f32x4.splat(1)
/**
 * The evidence of a longer pattern is scaled to this number of presses, because departures within a pattern depend on one another.
 * Without it the evidence of sincere patterns of 120 presses was twice that of 50 presses.
 */
export const FULL_LENGTH: i32 = 50

/** Known patterns read by the last `readPatterns`. */
export let patterns: i32 = 0

// @ts-ignore: decorator
@inline
export function sketchAt(pattern: i32): usize {
  return <usize>load<u32>(SKETCH_STARTS + (<usize>pattern << 2))
}

/** Address of the two departures of a press of the probe. */
// @ts-ignore: decorator
@inline
export function departureAt(press: i32): usize {
  return DEPARTURES + (<usize>press << 3)
}

// @ts-ignore: decorator
@inline
export function matchAt(match: i32): usize {
  return COPY_MATCHES + <usize>match * MATCH_BYTES
}

/** First match of a known pattern. For the pattern after the last it is the number of matches. */
// @ts-ignore: decorator
@inline
export function firstMatch(pattern: i32): i32 {
  return load<i32>(MATCHES_FIRST + (<usize>pattern << 2))
}

export const enum Match { hold = 16, interval = 20, before = 24, run = 28, next = 32, probePress = 34, press = 35, pattern = 36 }

/** Reads PROBE_SKETCH and the sketches in the first `bytes` bytes of KNOWN_SKETCHES into departures and matches. */
export function readPatterns(bytes: i32): void {
  if (f32At(STEP_LOGS, 510) == 0) fillStepLogs()
  zero(KEY_MEANS, 2048)
  zero(PAIR_MEANS, 2048)
  zero(PRESS_MATCHES, 256)
  store<u32>(SKETCH_STARTS, <u32>PROBE_SKETCH)
  readProbe()
  linkProbe()
  patterns = 0
  let matches = 0
  const end = KNOWN_SKETCHES + <usize>bytes
  for (let at = KNOWN_SKETCHES; at < end && patterns < KNOWN_SKETCHES_MAX; at += sizeAt(at)) {
    patterns++
    store<u32>(SKETCH_STARTS + (<usize>patterns << 2), <u32>at)
    store<i32>(MATCHES_FIRST + (<usize>patterns << 2), matches)
    matches = listMatches(patterns, at, matches)
  }
  store<i32>(MATCHES_FIRST + (<usize>(patterns + 1) << 2), matches)
  shrink(KEY_MEANS)
  addPairs(matches)
  departProbe()
  departMatches(matches)
  unlinkProbe()
}

/** Zeroes a region whose length is a multiple of 16; `memory.fill` is a call out of the module. */
export function zero(at: usize, bytes: usize): void {
  for (const end = at + bytes; at < end; at += 16) v128.store(at, i32x4.splat(0))
}

/** Fills the logarithms of a hold and of an interval for each step, clamped to the bounds of features.ts. */
function fillStepLogs(): void {
  for (let step = 0; step < 256; step++) {
    const ms = LINEAR_MS * (Math.exp(STEP * <f64>step) - 1)
    setF32(STEP_LOGS, 2 * step, <f32>Math.log(max<f64>(8, min<f64>(1000, ms))))
    setF32(STEP_LOGS, 2 * step + 1, <f32>Math.log(max<f64>(5, min<f64>(3000, ms))))
  }
}

/** Stores hold and interval of each press of the probe except the first, less their means. */
function readProbe(): void {
  const n = pressesAt(PROBE_SKETCH)
  let sums = f32x4.splat(0)
  for (let i = 1; i < n; i++) {
    const times = timesOf(PROBE_SKETCH, i)
    v128.store64_lane(departureAt(i), times, 0)
    sums = f32x4.add(sums, f32x4.max(f32x4.splat(-TEMPO_CLIP), f32x4.min(f32x4.splat(TEMPO_CLIP), times)))
  }
  const mean = f32x4.div(sums, f32x4.splat(<f32>max(n - 1, 1)))
  for (let i = 1; i < n; i++) v128.store64_lane(departureAt(i), f32x4.sub(v128.load64_zero(departureAt(i)), mean), 0)
}

/** Hold and interval of a press in population standard deviations, lanes 0 and 1. */
// @ts-ignore: decorator
@inline
function timesOf(sketch: usize, press: i32): v128 {
  const key = sketchKey(sketch, press)
  const held = POPULATION + (<usize>holdContext(key) << 5), pair = POPULATION + (<usize>pairContextOf(sketchKey(sketch, press - 1), key) << 5)
  const hold = holdsAt(sketch) + <usize>press, interval = hold + <usize>pressesAt(sketch)
  const logs = v128.load32_lane(STEP_LOGS + (<usize>load<u8>(interval) << 3), v128.load32_zero(STEP_LOGS + (<usize>load<u8>(hold) << 3)), 1, 4)
  const means = v128.load32_lane(pair, v128.load32_zero(held), 1, 4)
  const inverses = v128.load32_lane(pair, v128.load32_zero(held, 16), 1, 20)
  return f32x4.max(f32x4.splat(-4), f32x4.min(f32x4.splat(4), f32x4.mul(f32x4.sub(logs, means), inverses)))
}

/** Links the probe's presses by key pair, the last press first, without repeated and unknown keys. */
function linkProbe(): void {
  const n = pressesAt(PROBE_SKETCH)
  for (let i = 1; i < n; i++) {
    const head = pairHead(PROBE_SKETCH, i)
    store<u8>(PAIR_NEXT + <usize>i, <u8>load<u16>(head))
    if (sketchKey(PROBE_SKETCH, i) != UNKNOWN_KEY && !isRepeated(PROBE_SKETCH, i)) store<u16>(head, <u16>i)
  }
}

function unlinkProbe(): void {
  for (let i = pressesAt(PROBE_SKETCH) - 1; i > 0; i--) store<u16>(pairHead(PROBE_SKETCH, i), 0)
}

// @ts-ignore: decorator
@inline
function pairHead(sketch: usize, press: i32): usize {
  return PAIR_IDS + (<usize>((sketchKey(sketch, press - 1) << 7) + sketchKey(sketch, press)) << 1)
}

// @ts-ignore: decorator
@inline
function add(means: usize, which: i32, times: v128): void {
  const at = means + (<usize>which << 4)
  v128.store(at, f32x4.add(v128.load(at), f32x4.replace_lane(times, 2, 1)))
}

/** Turns 128 sums into shrunk means. */
function shrink(means: usize): void {
  for (let at = means, end = means + 2048; at < end; at += 16) {
    const sums = v128.load(at)
    const presses = f32x4.extract_lane(sums, 2)
    if (presses > 0) v128.store(at, f32x4.div(sums, f32x4.splat(presses + PRIOR)))
  }
}

/** Lists the matches of a pattern from number `first` on, with the runs that they form. Returns the number after the last. */
function listMatches(pattern: i32, sketch: usize, first: i32): i32 {
  zero(RUN_ENDS, 512)
  let match = first
  const n = pressesAt(sketch)
  const isCounted = isConfirmed(sketch)
  for (let press = 1; press < n; press++) {
    const head = <i32>load<u16>(pairHead(sketch, press))
    if (head == 0) continue
    const times = timesOf(sketch, press)
    if (isCounted) add(KEY_MEANS, sketchKey(sketch, press), times)
    for (let i = head; i != 0 && match < MATCHES_MAX; i = <i32>load<u8>(PAIR_NEXT + <usize>i)) {
      const at = matchAt(match)
      const lastBefore = load<i32>(RUN_ENDS + (<usize>(i - 1) << 2))
      const joins = lastBefore > 0 && <i32>load<u8>(matchAt(lastBefore - 1), Match.press) == press - 1
      v128.store64_lane(at, times, 0, Match.hold)
      store<i32>(at, joins ? lastBefore : 0, Match.before)
      store<i32>(at, joins ? load<i32>(matchAt(lastBefore - 1), Match.run) + 1 : 1, Match.run)
      store<u16>(at, load<u16>(PRESS_MATCHES + (<usize>i << 1)), Match.next)
      store<u8>(at, <u8>i, Match.probePress)
      store<u8>(at, <u8>press, Match.press)
      store<u8>(at, <u8>pattern, Match.pattern)
      match++
      store<u16>(PRESS_MATCHES + (<usize>i << 1), <u16>match)
      store<i32>(RUN_ENDS + (<usize>i << 2), match)
    }
  }
  for (let last = match - 1; last >= first; last--) {
    const at = matchAt(last)
    const before = load<i32>(at, Match.before)
    if (before > 0) store<i32>(matchAt(before - 1), load<i32>(at, Match.run), Match.run)
  }
  return match
}

/** Adds the matches of confirmed patterns to the means of their key pairs, once for each press of a pattern. */
function addPairs(matches: i32): void {
  for (let match = 0; match < matches; match++) {
    const at = matchAt(match)
    const press = <i32>load<u8>(at, Match.probePress)
    if (pairOf(press) == press && isConfirmed(sketchAt(<i32>load<u8>(at, Match.pattern)))) add(PAIR_MEANS, press, lessKey(at))
  }
  shrink(PAIR_MEANS)
}

/** The press of the probe that represents the key pair of a press. */
// @ts-ignore: decorator
@inline
function pairOf(probePress: i32): i32 {
  return <i32>load<u16>(pairHead(PROBE_SKETCH, probePress))
}

/** Times of a match less the mean of its key. */
// @ts-ignore: decorator
@inline
function lessKey(match: usize): v128 {
  return f32x4.sub(v128.load64_zero(match, Match.hold), keyMeans(<i32>load<u8>(match, Match.probePress)))
}

// @ts-ignore: decorator
@inline
function keyMeans(probePress: i32): v128 {
  return v128.load64_zero(KEY_MEANS + (<usize>sketchKey(PROBE_SKETCH, probePress) << 4))
}

// @ts-ignore: decorator
@inline
function pairMeans(probePress: i32): v128 {
  return v128.load64_zero(PAIR_MEANS + (<usize>pairOf(probePress) << 4))
}

/** Departures of the probe, centred, in its own standard deviations. */
function departProbe(): void {
  const n = pressesAt(PROBE_SKETCH)
  let sums = f32x4.splat(0), roots = f32x4.splat(0)
  for (let i = 1; i < n; i++) {
    const at = departureAt(i)
    const left = f32x4.sub(f32x4.sub(v128.load64_zero(at), keyMeans(i)), pairMeans(i))
    v128.store64_lane(at, left, 0)
    sums = f32x4.add(sums, left)
  }
  const mean = f32x4.div(sums, f32x4.splat(<f32>max(n - 1, 1)))
  for (let i = 1; i < n; i++) roots = f32x4.add(roots, f32x4.sqrt(f32x4.abs(f32x4.sub(v128.load64_zero(departureAt(i)), mean))))
  const deviation = deviationOf(roots, f32x4.splat(<f32>max(n - 1, 1)))
  let squares = f32x4.splat(0), fourths = f32x4.splat(1e-6)
  for (let i = 1; i < n; i++) {
    const at = departureAt(i)
    const departure = clipped(f32x4.div(f32x4.sub(v128.load64_zero(at), mean), deviation))
    v128.store64_lane(at, departure, 0)
    const square = f32x4.mul(departure, departure)
    squares = f32x4.add(squares, square)
    fourths = f32x4.add(fourths, f32x4.mul(square, square))
  }
  const normality = f32x4.div(f32x4.mul(f32x4.splat(NORMAL_KURTOSIS), f32x4.mul(squares, squares)), f32x4.mul(fourths, f32x4.splat(<f32>max(n - 1, 1))))
  informative = f32x4.min(f32x4.splat(1), normality)
}

/**
 * Departures of the matches, less the mean of each pattern, which is its tempo, in the standard deviations of all. With few
 * matches a deviation of `USUAL_ROOT` has the weight of `USUAL` matches.
 */
function departMatches(matches: i32): void {
  let roots = f32x4.splat(USUAL * USUAL_ROOT)
  for (let pattern = 1; pattern <= patterns; pattern++) {
    const first = firstMatch(pattern), end = firstMatch(pattern + 1)
    let sums = f32x4.splat(0)
    for (let match = first; match < end; match++) {
      const at = matchAt(match)
      const left = f32x4.sub(lessKey(at), pairMeans(<i32>load<u8>(at, Match.probePress)))
      v128.store64_lane(at, left, 0, Match.hold)
      sums = f32x4.add(sums, f32x4.max(f32x4.splat(-TEMPO_CLIP), f32x4.min(f32x4.splat(TEMPO_CLIP), left)))
    }
    const tempo = f32x4.div(sums, f32x4.splat(<f32>(end - first) + PRIOR))
    for (let match = first; match < end; match++) {
      const at = matchAt(match)
      const left = f32x4.sub(v128.load64_zero(at, Match.hold), tempo)
      v128.store64_lane(at, left, 0, Match.hold)
      roots = f32x4.add(roots, f32x4.sqrt(f32x4.abs(left)))
    }
  }
  const inverse = f32x4.div(f32x4.splat(1), deviationOf(roots, f32x4.splat(USUAL + <f32>matches)))
  for (let match = 0; match < matches; match++) {
    const at = matchAt(match)
    v128.store64_lane(at, clipped(f32x4.mul(v128.load64_zero(at, Match.hold), inverse)), 0, Match.hold)
  }
}

/** Standard deviations of `count` numbers from the sums of their square roots, which few large ones hardly move. */
// @ts-ignore: decorator
@inline
function deviationOf(roots: v128, count: v128): v128 {
  const root = f32x4.div(roots, f32x4.mul(count, f32x4.splat(MEAN_ROOT)))
  const squared = f32x4.mul(root, root)
  return f32x4.sqrt(f32x4.add(f32x4.mul(squared, squared), f32x4.splat(LEAST_VARIANCE)))
}

// @ts-ignore: decorator
@inline
function clipped(departures: v128): v128 {
  return f32x4.max(f32x4.splat(-CLIP), f32x4.min(f32x4.splat(CLIP), departures))
}
