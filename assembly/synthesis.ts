/**
 * Signs that a pattern was drawn from what somebody knows of the member, such as eight captured sign-ins. It is compared with all
 * confirmed patterns of the last `copies`, of which a forger knows some:
 *
 * - A mean of few times has their noise. A time drawn about it follows the noise; a member's own time does not (slope, tie,
 *   likelihood ratios of the plain mean of the key pair, and of a mean shrunk less than people's times are).
 * - The rest of a member's times over these means has a spread, tails, and a memory from press to press of its own.
 * - Times left over from a capture and put under other keys go with the capture, place by place.
 *
 * SYNTHESIS holds the bot signs of `liveness.ts`, then these. Times are population standard deviations of the key or key pair,
 * less the pattern's own tempo. Vectors hold a hold and an interval in lanes 0 and 1. The references are examined in the same way
 * against the other patterns, so that unusual typing is not taken for a machine's.
 */
import {
  COMPARED_MAX, KEYS, KEY_SUMS, KNOWN_KEYS, KNOWN_LEFT, KNOWN_PLACES, KNOWN_SKETCHES, LEFT, LIVENESS, PAIR_IDS, PAIR_SUMS, PLACES_OF_PROBE, POPULATION, PROBE_KEYS, RAW,
  SKETCH_OF_KNOWN, STEP_LOGS, SYNTHESIS, SYNTHESIS_KNOWN_MAX, SYNTHESIS_MAX, countOf, f32At, keyAt, lanesAt, row, setF32,
} from './layout'
import { holdContext, pairContextOf } from './model'
import { naturalLogs } from './natural-log'
import { holdsAt, isConfirmed, pressesAt, sizeAt, sketchKey } from './sketch'

/** Bound of a time where the tempo is taken, of a departure, and of a departure in its own standard deviations. */
const TEMPO_CLIP: f32 = 3
const CLIP: f32 = 2
const CLIP_SCALED: f32 = 2.2
/** Presses with which the mean of a key and of a key pair are shrunk, as in people's times. */
const KEY_PRIOR: f32 = 3
const PAIR_PRIOR: f32 = 4
/** Square of the scale of what is left. */
const SCALE: f32 = 0.55
/** Added to a variance. */
const LEAST: f32 = 0.01
/** Lags of the slow drift. */
const DRIFT_FROM: i32 = 2
const DRIFT_TO: i32 = 7
/** Least presses that two patterns have at a place, and the most of them that may have the same key, with a share of the presses. */
const PLACED_MIN: i32 = 15
const SAME_KEYS: f32 = 3
const SAME_KEYS_SHARE: f32 = 0.15
/** Units of a departure in a row of places. */
const PLACE_UNIT: f32 = 64
/** Difference in logarithms below which a hold and its step in a sketch are the same time. */
const SAME_STEP: f32 = 0.04

let at: i32 = 0
let patterns: i32 = 0
let pairs: i32 = 0
/** Mean root and root mean square of what is left of the known patterns' times. */
let knownRoot: v128 = f32x4.splat(0)
let knownDeviation: v128 = f32x4.splat(1)

function put(value: f32): void {
  assert(at < SYNTHESIS_MAX)
  setF32(SYNTHESIS, at, value)
  at++
}

// @ts-ignore: decorator
@inline
function putBoth(values: v128): void {
  put(f32x4.extract_lane(values, 0))
  put(f32x4.extract_lane(values, 1))
}

/** Keeps the addresses of the latest confirmed patterns in the first `bytes` bytes of KNOWN_SKETCHES. Returns their number. */
export function listConfirmed(bytes: i32): i32 {
  let count = 0
  const end = KNOWN_SKETCHES + <usize>bytes
  for (let sketch = KNOWN_SKETCHES; sketch < end; sketch += sizeAt(sketch)) {
    if (!isConfirmed(sketch) || pressesAt(sketch) < 2) continue
    store<u32>(SKETCH_OF_KNOWN + (<usize>(count % SYNTHESIS_KNOWN_MAX) << 2), <u32>sketch)
    count++
  }
  patterns = min(count, SYNTHESIS_KNOWN_MAX)
  return patterns
}

// @ts-ignore: decorator
@inline
function sketchOf(pattern: i32): usize {
  return <usize>load<u32>(SKETCH_OF_KNOWN + (<usize>pattern << 2))
}

// @ts-ignore: decorator
@inline
function knownAt(pattern: i32, press: i32): usize {
  return KNOWN_LEFT + (<usize>((pattern << 7) + press) << 3)
}

// @ts-ignore: decorator
@inline
function leftAt(press: i32): usize {
  return LEFT + (<usize>press << 3)
}

// @ts-ignore: decorator
@inline
function sumsOfKey(key: i32): usize {
  return KEY_SUMS + (<usize>key << 4)
}

/** Hold, interval, presses and key of a key pair. */
// @ts-ignore: decorator
@inline
function sumsOfPair(id: i32): usize {
  return PAIR_SUMS + (<usize>id << 4)
}

// @ts-ignore: decorator
@inline
function idAt(first: i32, second: i32): usize {
  return PAIR_IDS + (<usize>((first << 7) + second) << 1)
}

// @ts-ignore: decorator
@inline
function clipped(values: v128, bound: f32): v128 {
  return f32x4.max(f32x4.splat(-bound), f32x4.min(f32x4.splat(bound), values))
}

/**
 * Fills SYNTHESIS from slot 0 or a reference's slot, whose bot signs are in LIVENESS (`signs` of them), against the listed patterns
 * except itself. Returns the number of signs; 0 if fewer than `COMPARED_MIN` patterns are left or the slot has one press.
 */
export function examineSynthesis(slot: i32, signs: i32): i32 {
  const own = slot == 0 ? -1 : patternOf(slot)
  if (patterns - (own < 0 ? 0 : 1) < PATTERNS_MIN || countOf(slot) < 2) return 0
  memory.copy(SYNTHESIS, LIVENESS, <usize>signs << 2)
  at = signs
  sumPatterns(own)
  departPatterns(own)
  compareWithMeans(slot)
  rememberPresses(slot)
  comparePatterns(slot, own)
  unlinkPairs()
  return at
}

const PATTERNS_MIN: i32 = 4

/** The listed pattern whose sketch is that of a slot; -1 if none is. */
function patternOf(slot: i32): i32 {
  for (let pattern = 0; pattern < patterns; pattern++) if (isOfSlot(sketchOf(pattern), slot)) return pattern
  return -1
}

function isOfSlot(sketch: usize, slot: i32): bool {
  const n = pressesAt(sketch)
  if (n != min(countOf(slot), 127)) return false
  for (let i = 0; i < n; i++) {
    if (sketchKey(sketch, i) != keyAt(slot, i)) return false
    const hold = f32At(STEP_LOGS, 2 * <i32>load<u8>(holdsAt(sketch) + <usize>i))
    if (abs(hold - f32At(row(RAW, slot, 0), i)) > SAME_STEP) return false
  }
  return true
}

/** Reads the times of all listed patterns but `without`, less their tempo, and sums them by key and by key pair. */
function sumPatterns(without: i32): void {
  memory.fill(KEY_SUMS, 0, 2048)
  pairs = 0
  for (let pattern = 0; pattern < patterns; pattern++) {
    if (pattern == without) continue
    const sketch = sketchOf(pattern)
    const n = pressesAt(sketch)
    const tempo = readTimes(pattern, sketch, n)
    let before = sketchKey(sketch, 0)
    for (let i = 1; i < n; i++) {
      const key = sketchKey(sketch, i)
      const times = f32x4.sub(v128.load64_zero(knownAt(pattern, i)), tempo)
      v128.store64_lane(knownAt(pattern, i), times, 0)
      const counted = f32x4.replace_lane(f32x4.replace_lane(times, 2, 1), 3, 0)
      v128.store(sumsOfKey(key), f32x4.add(v128.load(sumsOfKey(key)), counted))
      const ids = idAt(before, key)
      let id = <i32>load<u16>(ids)
      if (id == 0) {
        id = ++pairs
        store<u16>(ids, <u16>id)
        v128.store(sumsOfPair(id), f32x4.replace_lane(f32x4.splat(0), 3, reinterpret<f32>((before << 7) + key)))
      }
      v128.store(sumsOfPair(id), f32x4.add(v128.load(sumsOfPair(id)), v128.and(counted, i32x4(-1, -1, -1, 0))))
      before = key
    }
  }
  for (let id = 1; id <= pairs; id++) v128.store64_lane(sumsOfPair(id) + PAIR_MEANS_AT, meanOf(v128.load(sumsOfPair(id))), 0)
}

/** The mean that people's times of a key pair have, from its sums. */
// @ts-ignore: decorator
@inline
function meanOf(sums: v128): v128 {
  const ofKey = shrunkKey(i32x4.extract_lane(sums, 3) & 127)
  const n = f32x4.extract_lane(sums, 2)
  const plain = f32x4.div(sums, f32x4.splat(n))
  return f32x4.add(ofKey, f32x4.mul(f32x4.splat(n / (n + PAIR_PRIOR)), f32x4.sub(plain, ofKey)))
}

// @ts-ignore: decorator
@inline
function shrunkKey(key: i32): v128 {
  const sums = v128.load(sumsOfKey(key))
  return f32x4.div(sums, f32x4.splat(f32x4.extract_lane(sums, 2) + KEY_PRIOR))
}
/** Bytes from a pair's sums to its mean: the means follow all sums. */
const PAIR_MEANS_AT: usize = 65536

/** Stores the times of a sketch in population standard deviations. Returns their tempo. */
function readTimes(pattern: i32, sketch: usize, n: i32): v128 {
  const holds = holdsAt(sketch)
  let before = sketchKey(sketch, 0)
  let sum = f32x4.splat(0)
  for (let i = 1; i < n; i++) {
    const key = sketchKey(sketch, i)
    const held = POPULATION + (<usize>holdContext(key) << 5), pair = POPULATION + (<usize>pairContextOf(before, key) << 5) + 4
    before = key
    const hold = (f32At(STEP_LOGS, 2 * <i32>load<u8>(holds + <usize>i)) - load<f32>(held)) * load<f32>(held, 16)
    const interval = (f32At(STEP_LOGS, 2 * <i32>load<u8>(holds + <usize>(n + i)) + 1) - load<f32>(pair)) * load<f32>(pair, 16)
    const times = clipped(f32x4(hold, interval, 0, 0), 4)
    v128.store64_lane(knownAt(pattern, i), times, 0)
    sum = f32x4.add(sum, clipped(times, TEMPO_CLIP))
  }
  return f32x4.div(sum, f32x4.splat(<f32>max(n - 1, 1)))
}

/** Leaves of the known times what is over the means, and takes the spread of it. */
function departPatterns(without: i32): void {
  let roots = f32x4.splat(0), squares = f32x4.splat(0)
  let presses: f32 = 0
  for (let pattern = 0; pattern < patterns; pattern++) {
    if (pattern == without) continue
    const sketch = sketchOf(pattern)
    const n = pressesAt(sketch)
    for (let i = 1; i < n; i++) {
      const id = <i32>load<u16>(idAt(sketchKey(sketch, i - 1), sketchKey(sketch, i)))
      const left = clipped(f32x4.sub(v128.load64_zero(knownAt(pattern, i)), v128.load64_zero(sumsOfPair(id) + PAIR_MEANS_AT)), CLIP)
      v128.store64_lane(knownAt(pattern, i), left, 0)
      roots = f32x4.add(roots, f32x4.sqrt(f32x4.abs(left)))
      squares = f32x4.add(squares, f32x4.mul(left, left))
    }
    presses += <f32>(n - 1)
  }
  const per = f32x4.splat(<f32>1 / max<f32>(presses, 1))
  knownRoot = f32x4.mul(roots, per)
  knownDeviation = f32x4.sqrt(f32x4.add(f32x4.mul(squares, per), f32x4.splat(LEAST)))
}

/** Signs of the slot's times against the means; leaves in LEFT what is over them, centred, in its own standard deviations. */
function compareWithMeans(slot: i32): void {
  const n = countOf(slot)
  const m = <f32>(n - 1)
  let tempo = f32x4.splat(0)
  for (let i = 1; i < n; i++) tempo = f32x4.add(tempo, clipped(v128.load64_zero(lanesAt(slot, i)), TEMPO_CLIP))
  tempo = f32x4.div(tempo, f32x4.splat(m))
  let products = f32x4.splat(0), means = products, owns = products, far = products, ratios = products, sum = products
  let known: f32 = 0
  for (let i = 1; i < n; i++) {
    const key = keyAt(slot, i)
    const time = f32x4.sub(v128.load64_zero(lanesAt(slot, i)), tempo)
    const id = <i32>load<u16>(idAt(keyAt(slot, i - 1), key))
    if (id == 0) {
      const left = clipped(f32x4.sub(time, shrunkKey(key)), CLIP)
      v128.store64_lane(leftAt(i), left, 0)
      sum = f32x4.add(sum, left)
      continue
    }
    const keySums = v128.load(sumsOfKey(key)), sums = v128.load(sumsOfPair(id))
    const count = f32x4.extract_lane(sums, 2)
    const ofKey = f32x4.div(keySums, f32x4.splat(f32x4.extract_lane(keySums, 2)))
    const plain = f32x4.div(sums, f32x4.splat(count))
    const own = clipped(f32x4.sub(time, ofKey), CLIP), mean = clipped(f32x4.sub(plain, ofKey), CLIP)
    products = f32x4.add(products, f32x4.mul(own, mean))
    means = f32x4.add(means, f32x4.mul(mean, mean))
    owns = f32x4.add(owns, f32x4.mul(own, own))
    known += 1
    const share = count / (count + 1)
    const fromPlain = f32x4.sub(time, plain)
    far = f32x4.add(far, f32x4.sqrt(f32x4.min(f32x4.splat(3), f32x4.mul(f32x4.abs(fromPlain), f32x4.splat(sqrt<f32>(share))))))
    const left = clipped(f32x4.sub(time, v128.load64_zero(sumsOfPair(id) + PAIR_MEANS_AT)), CLIP)
    const fromLess = f32x4.sub(time, f32x4.add(ofKey, f32x4.mul(f32x4.splat(share), f32x4.sub(plain, ofKey))))
    ratios = f32x4.add(ratios, likelihoods(left, i32x4.shuffle(fromPlain, fromLess, 0, 1, 4, 5), count))
    v128.store64_lane(leftAt(i), left, 0)
    sum = f32x4.add(sum, left)
  }
  const one = f32x4.splat(1)
  putBoth(f32x4.div(products, f32x4.add(means, one)))
  putBoth(f32x4.div(products, f32x4.sqrt(f32x4.add(f32x4.mul(means, owns), one))))
  putBoth(f32x4.div(f32x4.add(far, f32x4.splat(2)), f32x4.splat(known + 3)))
  const scaled = f32x4.div(ratios, f32x4.splat(sqrt<f32>(m)))
  for (let lane = 0; lane < 4; lane += 2) {
    v128.store(SCALED, scaled)
    const hold = f32At(SCALED, lane), interval = f32At(SCALED, lane + 1)
    put(hold)
    put(interval)
    put(hold + interval)
  }
  shape(n, f32x4.div(sum, f32x4.splat(m)))
}
const SCALED: usize = memory.data(16, 16)

/** Logarithms of the ratio of two densities of Cauchy's kind: about two other means, and about the member's, from `left`. */
// @ts-ignore: decorator
@inline
function likelihoods(left: v128, others: v128, count: f32): v128 {
  const wider: f32 = 1 + <f32>1 / (count + PAIR_PRIOR)
  const one = f32x4.splat(1), both = i32x4.shuffle(left, left, 0, 1, 0, 1)
  const own = f32x4.add(one, f32x4.mul(f32x4.mul(both, both), f32x4.splat(<f32>1 / (SCALE * wider))))
  const other = f32x4.add(one, f32x4.mul(f32x4.mul(others, others), f32x4.splat(<f32>1 / SCALE)))
  return naturalLogs(f32x4.mul(f32x4.splat(sqrt<f32>(wider)), f32x4.div(own, other)))
}

/** Spread and tails of LEFT; centres and scales it. */
function shape(n: i32, mean: v128): void {
  const per = f32x4.splat(<f32>1 / <f32>(n - 1))
  let roots = f32x4.splat(0), squares = roots, cubes = roots, fourths = roots
  for (let i = 1; i < n; i++) {
    const left = f32x4.sub(v128.load64_zero(leftAt(i)), mean)
    v128.store64_lane(leftAt(i), left, 0)
    const square = f32x4.mul(left, left)
    roots = f32x4.add(roots, f32x4.sqrt(f32x4.abs(left)))
    squares = f32x4.add(squares, square)
    cubes = f32x4.add(cubes, f32x4.mul(square, left))
    fourths = f32x4.add(fourths, f32x4.mul(square, square))
  }
  const variance = f32x4.add(f32x4.mul(squares, per), f32x4.splat(LEAST))
  const deviation = f32x4.sqrt(variance)
  const root = f32x4.mul(roots, per)
  putBoth(root)
  putBoth(f32x4.sub(root, knownRoot))
  putBoth(f32x4.div(f32x4.mul(cubes, per), f32x4.mul(variance, deviation)))
  putBoth(f32x4.div(f32x4.mul(fourths, per), f32x4.mul(variance, variance)))
  for (let i = 1; i < n; i++) v128.store64_lane(leftAt(i), f32x4.div(v128.load64_zero(leftAt(i)), deviation), 0)
}

/** Memory of LEFT from press to press, in standard errors: of one press, of the next, of a drift, and of the same key. */
function rememberPresses(slot: i32): void {
  const n = countOf(slot)
  let within: f32 = 0
  for (let i = 1; i < n; i++) within += load<f32>(leftAt(i)) * load<f32>(leftAt(i), 4)
  put(within / sqrt<f32>(<f32>(n - 1)))
  const next = lagged(n, 1), crossed = laggedCrosswise(n)
  putBoth(next)
  putBoth(crossed)
  let drift = f32x4.splat(0)
  for (let lag = DRIFT_FROM; lag <= DRIFT_TO; lag++) drift = f32x4.add(drift, lagged(n, lag))
  putBoth(drift)
  memory.fill(KEY_LEFT, 0, 2048)
  let same = f32x4.splat(0)
  let count: f32 = 1
  for (let i = 1; i < n; i++) {
    const sums = KEY_LEFT + (<usize>keyAt(slot, i) << 4)
    const left = v128.load64_zero(leftAt(i)), before = v128.load(sums)
    same = f32x4.add(same, f32x4.mul(left, before))
    count += f32x4.extract_lane(before, 2)
    v128.store(sums, f32x4.add(before, f32x4.replace_lane(left, 2, 1)))
  }
  putBoth(f32x4.div(same, f32x4.splat(sqrt<f32>(count))))
}
const KEY_LEFT: usize = memory.data(2048, 16)

function lagged(n: i32, lag: i32): v128 {
  let sum = f32x4.splat(0)
  for (let i = 1 + lag; i < n; i++) sum = f32x4.add(sum, f32x4.mul(v128.load64_zero(leftAt(i)), v128.load64_zero(leftAt(i - lag))))
  return f32x4.div(sum, f32x4.splat(sqrt<f32>(<f32>max(n - 1 - lag, 1))))
}

/** The products of a hold and the interval before it, and of an interval and the hold before it. */
function laggedCrosswise(n: i32): v128 {
  let sum = f32x4.splat(0)
  for (let i = 2; i < n; i++) {
    const left = v128.load64_zero(leftAt(i))
    sum = f32x4.add(sum, f32x4.mul(i32x4.shuffle(left, left, 1, 0, 2, 3), v128.load64_zero(leftAt(i - 1))))
  }
  return f32x4.div(sum, f32x4.splat(sqrt<f32>(<f32>max(n - 2, 1))))
}

/** Products with what is left of each pattern: at the same key pairs, and at the most similar place under other keys. */
function comparePatterns(slot: i32, without: i32): void {
  const n = min(countOf(slot), 127)
  sumOwnPairs(slot, n)
  fillPlaces(PLACES_OF_PROBE, LEFT, n, f32x4.splat(1))
  memory.fill(PROBE_KEYS, 0xff, 160)
  memory.copy(PROBE_KEYS, KEYS + <usize>(slot * COMPARED_MAX), <usize>n)
  let sums = f32x4.splat(0)
  let squares: f32 = 0, most: f32 = 0, place: f32 = 0, others: f32 = 0
  for (let pattern = 0; pattern < patterns; pattern++) {
    if (pattern == without) continue
    const products = pairProducts(pattern)
    sums = f32x4.add(sums, products)
    const both = (f32x4.extract_lane(products, 0) + f32x4.extract_lane(products, 1)) * <f32>Math.SQRT1_2
    squares += both * both
    most = max(most, both)
    others += 1
    place = max(place, bestPlace(n, pattern))
  }
  const means = f32x4.div(sums, f32x4.splat(sqrt<f32>(others)))
  putBoth(means)
  put((f32x4.extract_lane(means, 0) + f32x4.extract_lane(means, 1)) * <f32>Math.SQRT1_2)
  put(sqrt<f32>(squares / others))
  put(most)
  put(place)
}

/** Sums LEFT by key pair in the places of the pairs' sums, which are not needed any more. */
function sumOwnPairs(slot: i32, n: i32): void {
  memory.fill(PAIR_SUMS, 0, <usize>(pairs + 1) << 4)
  for (let i = 1; i < n; i++) {
    const id = <i32>load<u16>(idAt(keyAt(slot, i - 1), keyAt(slot, i)))
    const left = clipped(v128.load64_zero(leftAt(i)), CLIP_SCALED)
    if (id > 0) v128.store(sumsOfPair(id), f32x4.add(v128.load(sumsOfPair(id)), f32x4.replace_lane(left, 2, 1)))
  }
}

function pairProducts(pattern: i32): v128 {
  const sketch = sketchOf(pattern)
  const n = pressesAt(sketch)
  let products = f32x4.splat(0)
  let count: f32 = 4
  let before = sketchKey(sketch, 0)
  for (let i = 1; i < n; i++) {
    const key = sketchKey(sketch, i)
    const own = v128.load(sumsOfPair(<i32>load<u16>(idAt(before, key))))
    before = key
    const presses = f32x4.extract_lane(own, 2)
    if (presses == 0) continue
    count += presses
    const left = clipped(f32x4.div(v128.load64_zero(knownAt(pattern, i)), knownDeviation), CLIP_SCALED)
    products = f32x4.add(products, f32x4.mul(own, left))
  }
  return f32x4.div(products, f32x4.splat(sqrt<f32>(count)))
}

/** Two i16 a press, hold and interval; none at the first press and after the last. */
function fillPlaces(to: usize, from: usize, n: i32, deviation: v128): void {
  memory.fill(to, 0, 640)
  const unit = f32x4.splat(PLACE_UNIT)
  for (let i = 1; i < n; i++) {
    const left = clipped(f32x4.div(v128.load64_zero(from + (<usize>i << 3)), deviation), CLIP_SCALED)
    const units = i32x4.trunc_sat_f32x4_s(f32x4.mul(left, unit))
    store<u32>(to + (<usize>i << 2), i32x4.extract_lane(i16x8.narrow_i32x4_s(units, units), 0))
  }
}

/** The largest product with a pattern at any place where the keys differ, in standard errors. */
function bestPlace(n: i32, pattern: i32): f32 {
  const sketch = sketchOf(pattern)
  const m = pressesAt(sketch)
  fillPlaces(KNOWN_PLACES, KNOWN_LEFT + (<usize>pattern << 10), m, knownDeviation)
  memory.fill(KNOWN_KEYS, 0xfe, 160)
  for (let i = 0; i < m; i++) store<u8>(KNOWN_KEYS + <usize>i, <u8>sketchKey(sketch, i))
  const least = max(PLACED_MIN, (n >> 1) + 1)
  let best: f32 = 0
  for (let offset = least - n; offset <= m - least; offset++) {
    const from = max(1, 1 - offset), to = min(n, m - offset)
    const compared = to - from
    if (compared < least) continue
    if (<f32>sameKeys(from, to, offset) > SAME_KEYS + SAME_KEYS_SHARE * <f32>compared) continue
    let sum = i32x4.splat(0)
    for (let i = from; i < to; i += 4) {
      const probe = v128.load(PLACES_OF_PROBE + (<usize>i << 2)), known = v128.load(KNOWN_PLACES + (<usize>(i + offset) << 2))
      sum = i32x4.add(sum, i32x4.dot_i16x8_s(probe, known))
    }
    const pairwise = i32x4.add(sum, i32x4.shuffle(sum, sum, 2, 3, 0, 1))
    const total = <f32>(i32x4.extract_lane(pairwise, 0) + i32x4.extract_lane(pairwise, 1))
    const numbers = <f32>(compared << 1)
    best = max(best, total / sqrt<f32>(numbers))
  }
  return best / (PLACE_UNIT * PLACE_UNIT)
}

/** Presses from `from` to `to` that have the key of the pattern's press at the offset. */
// @ts-ignore: decorator
@inline
function sameKeys(from: i32, to: i32, offset: i32): i32 {
  let same = 0
  for (let i = from; i < to; i += 16) {
    const equal = i8x16.bitmask(i8x16.eq(v128.load(PROBE_KEYS + <usize>i), v128.load(KNOWN_KEYS + <usize>(i + offset))))
    same += popcnt(equal)
  }
  return same
}

function unlinkPairs(): void {
  for (let pattern = 0; pattern < patterns; pattern++) {
    const sketch = sketchOf(pattern)
    for (let i = pressesAt(sketch) - 1; i > 0; i--) store<u16>(idAt(sketchKey(sketch, i - 1), sketchKey(sketch, i)), 0)
  }
}
