/**
 * Signs that a pattern was drawn from a forger's knowledge of the member, such as eight captured sign-ins. The pattern is compared
 * with all confirmed patterns of the last `copies`, some of which the forger may know:
 *
 * - A mean of few times has their noise. A time drawn about the mean follows the noise; a member's own time does not (slope, tie,
 *   likelihood ratios of the plain mean of the key pair, and of a mean that is shrunk less than people's times are).
 * - The rests of a member, the times less these means, have their own spread, tails, and memory from press to press.
 * - Rests of a capture that were put under other keys correlate with the rests of the capture, place by place.
 *
 * SYNTHESIS holds the bot signs of `liveness.ts`, then the signs of `synthesis-signs.ts`, then the products with the patterns. The
 * references are examined in the same way against the other patterns, so that unusual typing does not count as a machine's.
 */
import { zero } from './departures'
import {
  CLIP_SCALED, clipped, departPatterns, idAt, knownAt, pairs, patternOf, patterns, sketchOf, sumPatterns, sumsOfPair, unlinkPairs,
} from './known-patterns'
import { LIVENESS, PAIR_SUMS, SYNTHESIS, countOf, keyAt } from './layout'
import { bestPlace, placeProbe } from './place-search'
import { pressesAt, sketchKey } from './sketch'
import { compareWithMeans, leftAt, put, putBoth, rememberPresses, signsPut, startSigns } from './synthesis-signs'

export { listConfirmed } from './known-patterns'

const PATTERNS_MIN: i32 = 4
/** Presses added to the count of a product with a pattern, so that few shared presses weigh little. */
const PRODUCT_PRIOR: f32 = 4

/**
 * Fills SYNTHESIS from slot 0 or a reference's slot, whose bot signs are in LIVENESS (`signs` of them), against the listed patterns
 * except itself. Returns the number of signs; 0 if fewer than `PATTERNS_MIN` patterns are left or the slot has one press.
 */
export function examineSynthesis(slot: i32, signs: i32): i32 {
  const own = slot == 0 ? -1 : patternOf(slot)
  if (patterns - (own < 0 ? 0 : 1) < PATTERNS_MIN || countOf(slot) < 2) return 0
  for (let sign: usize = 0; sign < <usize>signs << 2; sign += 16) v128.store(SYNTHESIS + sign, v128.load(LIVENESS + sign))
  startSigns(signs)
  sumPatterns(own)
  departPatterns(own)
  compareWithMeans(slot)
  rememberPresses(slot)
  comparePatterns(slot, own)
  unlinkPairs()
  return signsPut()
}

/** Puts the products with the rests of each pattern: at the same key pairs, and at the most similar place under other keys. */
function comparePatterns(slot: i32, without: i32): void {
  const n = min(countOf(slot), 127)
  sumOwnPairs(slot, n)
  placeProbe(slot, n)
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

/** Sums LEFT by key pair in PAIR_SUMS, whose sums are no longer needed. */
function sumOwnPairs(slot: i32, n: i32): void {
  zero(PAIR_SUMS, <usize>(pairs + 1) << 4)
  for (let i = 1; i < n; i++) {
    const id = <i32>load<u16>(idAt(keyAt(slot, i - 1), keyAt(slot, i)))
    const left = clipped(v128.load64_zero(leftAt(i)), CLIP_SCALED)
    if (id > 0) v128.store(sumsOfPair(id), f32x4.add(v128.load(sumsOfPair(id)), f32x4.replace_lane(left, 2, 1)))
  }
}

/** Products of the slot's sums with a pattern. A pair that the slot lacks adds zeros, which costs less than a branch. Lane 2 counts presses. */
function pairProducts(pattern: i32): v128 {
  const sketch = sketchOf(pattern)
  const n = pressesAt(sketch)
  let products = f32x4(0, 0, PRODUCT_PRIOR, 0)
  let before = sketchKey(sketch, 0)
  for (let i = 1; i < n; i++) {
    const key = sketchKey(sketch, i)
    const own = v128.load(sumsOfPair(<i32>load<u16>(idAt(before, key))))
    before = key
    products = f32x4.add(products, f32x4.mul(own, f32x4.replace_lane(v128.load64_zero(knownAt(pattern, i)), 2, 1)))
  }
  return f32x4.div(products, f32x4.splat(sqrt<f32>(f32x4.extract_lane(products, 2))))
}
