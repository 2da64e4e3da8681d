/**
 * The search by place: residuals of a capture that were put under other keys correlate with those of the capture, press by press.
 * The pattern is placed over a known pattern at each offset where both have enough presses and few of the same keys, and the
 * products of their residuals are summed.
 */
import { CLIP_SCALED, clipped, knownAt, sketchOf } from './known-patterns'
import { COMPARED_MAX, KEYS, KNOWN_KEYS, KNOWN_PLACES, LEFT, PLACES_OF_PROBE, PROBE_KEYS } from './layout'
import { pressesAt } from './sketch'

/** Least presses that two patterns have at a place. Most presses with the same key there: a number, plus a share of the presses. */
const PLACED_MIN: i32 = 15
const SAME_KEYS: f32 = 3
const SAME_KEYS_SHARE: f32 = 0.15
/** Units of a departure in a row of places. */
const PLACE_UNIT: f32 = 64
/** Presses compared at a time. A row of places or of keys has as many that match nothing after the last press. */
const BLOCK: i32 = 16

/** Prepares the first `n` presses of a slot, whose rests are in LEFT. */
export function placeProbe(slot: i32, n: i32): void {
  fillPlaces(PLACES_OF_PROBE, LEFT, n)
  fillKeys(PROBE_KEYS, KEYS + <usize>(slot * COMPARED_MAX), n, 0xff)
}

/** Two i16 a press, hold and interval, and zeros after the last press. */
function fillPlaces(to: usize, from: usize, n: i32): void {
  const unit = f32x4.splat(PLACE_UNIT)
  for (let i: usize = 0; i < <usize>n; i += 4) {
    const first = clipped(v128.load(from + (i << 3)), CLIP_SCALED), second = clipped(v128.load(from + (i << 3), 16), CLIP_SCALED)
    const units = i16x8.narrow_i32x4_s(i32x4.trunc_sat_f32x4_s(f32x4.mul(first, unit)), i32x4.trunc_sat_f32x4_s(f32x4.mul(second, unit)))
    v128.store(to + (i << 2), units)
  }
  const end = to + (<usize>n << 2), none = i32x4.splat(0)
  v128.store(end, none)
  v128.store(end, none, 16)
  v128.store(end, none, 32)
  v128.store(end, none, 48)
}

/** Copies keys. `none`, which is the key of no press, follows the last key. */
function fillKeys(to: usize, from: usize, n: i32, none: u8): void {
  for (let i: usize = 0; i < <usize>n; i += BLOCK) v128.store(to + i, v128.and(v128.load(from + i), i8x16.splat(127)))
  v128.store(to + <usize>n, i8x16.splat(none))
}

/** The largest product of the probe's `n` presses with a pattern at any place where the keys differ, in standard errors. */
export function bestPlace(n: i32, pattern: i32): f32 {
  const sketch = sketchOf(pattern)
  const m = pressesAt(sketch)
  const least = max(PLACED_MIN, (n >> 1) + 1)
  if (min(n, m) <= least) return 0
  fillPlaces(KNOWN_PLACES, knownAt(pattern, 0), m)
  fillKeys(KNOWN_KEYS, sketch + 1, m, 0xfe)
  let best: f32 = 0
  for (let offset = least - n; offset <= m - least; offset++) {
    const from = max(1, 1 - offset), to = min(n, m - offset)
    const compared = to - from
    if (compared < least) continue
    let sum = i32x4.splat(0)
    let same = 0
    for (let i = from; i < to; i += BLOCK) {
      same += popcnt(i8x16.bitmask(i8x16.eq(v128.load(PROBE_KEYS + <usize>i), v128.load(KNOWN_KEYS + <usize>(i + offset)))))
      const probe = PLACES_OF_PROBE + (<usize>i << 2), known = KNOWN_PLACES + (<usize>(i + offset) << 2)
      sum = i32x4.add(sum, i32x4.dot_i16x8_s(v128.load(probe), v128.load(known)))
      sum = i32x4.add(sum, i32x4.dot_i16x8_s(v128.load(probe, 16), v128.load(known, 16)))
      sum = i32x4.add(sum, i32x4.dot_i16x8_s(v128.load(probe, 32), v128.load(known, 32)))
      sum = i32x4.add(sum, i32x4.dot_i16x8_s(v128.load(probe, 48), v128.load(known, 48)))
    }
    if (<f32>same > SAME_KEYS + SAME_KEYS_SHARE * <f32>compared) continue
    const pairwise = i32x4.add(sum, i32x4.shuffle(sum, sum, 2, 3, 0, 1))
    const total = <f32>(i32x4.extract_lane(pairwise, 0) + i32x4.extract_lane(pairwise, 1))
    best = max(best, total / sqrt<f32>(<f32>(compared << 1)))
  }
  return best / (PLACE_UNIT * PLACE_UNIT)
}
