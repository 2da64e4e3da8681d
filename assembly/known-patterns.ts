/**
 * The confirmed patterns that a pattern is compared with in `synthesis.ts`: their times, the sums and means of each key and key
 * pair, and the rests, which are the times less these means. Times are in population standard deviations of the key or key pair,
 * less the pattern's own tempo. Vectors hold a hold in lane 0 and an interval in lane 1.
 */
import { zero } from './departures'
import {
  KEY_SUMS, KNOWN_LEFT, KNOWN_SKETCHES, PAIR_IDS, PAIR_SUMS, POPULATION, RAW, SKETCH_OF_KNOWN, STEP_LOGS, SYNTHESIS_KNOWN_MAX, countOf, f32At, keyAt, row,
} from './layout'
import { holdContext, pairContextOf } from './model'
import { holdsAt, isConfirmed, pressesAt, sizeAt, sketchKey } from './sketch'

/** Bounds: of a time where the tempo is taken, of a rest, and of a rest in its own standard deviations. */
export const TEMPO_CLIP: f32 = 3
export const CLIP: f32 = 2
export const CLIP_SCALED: f32 = 2.2
/** Counts of presses by which the means of a key and of a key pair are shrunk, as in people's times. */
const KEY_PRIOR: f32 = 3
export const PAIR_PRIOR: f32 = 4
/** Added to a variance. */
export const LEAST: f32 = 0.01
/** Difference in logarithms below which a hold and its step in a sketch are the same time. */
const SAME_STEP: f32 = 0.04
/** Bytes from a pair's sums to its mean: the means follow all sums. */
export const PAIR_MEANS_AT: usize = 65536

/** Patterns listed by the last `listConfirmed`. */
export let patterns: i32 = 0
/** Key pairs of the patterns summed last: numbers 1 to `pairs`. */
export let pairs: i32 = 0
/** Mean square root of the rests of the known patterns. */
export let knownRoot: v128 = f32x4.splat(0)

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
export function sketchOf(pattern: i32): usize {
  return <usize>load<u32>(SKETCH_OF_KNOWN + (<usize>pattern << 2))
}

// @ts-ignore: decorator
@inline
export function knownAt(pattern: i32, press: i32): usize {
  return KNOWN_LEFT + (<usize>((pattern << 7) + press) << 3)
}

// @ts-ignore: decorator
@inline
export function sumsOfKey(key: i32): usize {
  return KEY_SUMS + (<usize>key << 4)
}

/** Hold, interval, presses and key of a key pair. */
// @ts-ignore: decorator
@inline
export function sumsOfPair(id: i32): usize {
  return PAIR_SUMS + (<usize>id << 4)
}

// @ts-ignore: decorator
@inline
export function idAt(first: i32, second: i32): usize {
  return PAIR_IDS + (<usize>((first << 7) + second) << 1)
}

// @ts-ignore: decorator
@inline
export function clipped(values: v128, bound: f32): v128 {
  return f32x4.max(f32x4.splat(-bound), f32x4.min(f32x4.splat(bound), values))
}

/** The listed pattern whose sketch is that of a slot; -1 if there is none. */
export function patternOf(slot: i32): i32 {
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

/** Reads the times of all listed patterns except `without`, less their tempo, and sums them by key and by key pair. */
export function sumPatterns(without: i32): void {
  zero(KEY_SUMS, 2048)
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

/** The mean of a key pair, from its sums, shrunk as people's times are. */
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
export function shrunkKey(key: i32): v128 {
  const sums = v128.load(sumsOfKey(key))
  return f32x4.div(sums, f32x4.splat(f32x4.extract_lane(sums, 2) + KEY_PRIOR))
}

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

/** Replaces the known times by their rests, in standard deviations of the rests. */
export function departPatterns(without: i32): void {
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
  const deviation = f32x4.sqrt(f32x4.add(f32x4.mul(squares, per), f32x4.splat(LEAST)))
  for (let pattern = 0; pattern < patterns; pattern++) if (pattern != without) scale(pattern, i32x4.shuffle(deviation, deviation, 0, 1, 0, 1))
}

/** Divides the rests of a pattern by their deviations, two presses at a time. */
// @ts-ignore: decorator
@inline
function scale(pattern: i32, deviations: v128): void {
  for (let at = knownAt(pattern, 0), end = knownAt(pattern, pressesAt(sketchOf(pattern))); at < end; at += 16) {
    v128.store(at, clipped(f32x4.div(v128.load(at), deviations), CLIP_SCALED))
  }
}

export function unlinkPairs(): void {
  for (let pattern = 0; pattern < patterns; pattern++) {
    const sketch = sketchOf(pattern)
    for (let i = pressesAt(sketch) - 1; i > 0; i--) store<u16>(idAt(sketchKey(sketch, i - 1), sketchKey(sketch, i)), 0)
  }
}
