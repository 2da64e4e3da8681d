/**
 * Aligns two patterns: each press with the press of the same key pair that is nearest in position. With equal texts this aligns
 * the whole text, otherwise the shared pairs. The distances are compared with the distances of the references from one another
 * (reference-baseline.ts), so they need no population.
 */
import { COMPARED_MAX, FIRST_AT, IDS, IDS_MAX, MATCHES, NEXT_AT, PAIR_IDS, countOf, firstKeyOf, keyAt, lanesAt, lanesOf } from './layout'
import { above, clampLanes, scaled } from './lanes'
import { MEASURED, setStat } from './measure'
import { Component, variances } from './model'

/** First row of STATS that `align` fills. */
const FROM: i32 = MEASURED
/** Row of two shares of the slot's presses: those that a reference also has, and those that two references have. */
export const SHARED: i32 = FROM + 7
/** Prior weight, in presses, of a distance of one standard deviation, so that one shared pair proves nothing. */
const PRIOR_PRESSES: f32 = 2

// @ts-ignore: decorator
@inline
function codeOf(slot: i32, press: i32): usize {
  return PAIR_IDS + (<usize>((firstKeyOf(slot, press) << 7) + keyAt(slot, press)) << 1)
}

// @ts-ignore: decorator
@inline
function idAt(slot: i32, press: i32): usize {
  return IDS + (<usize>(slot * COMPARED_MAX + press) << 1)
}

/** Numbers the references' pairs and links each reference's presses by pair. */
export function linkReferences(references: i32): void {
  let ids = 0
  for (let slot = 1; slot <= references; slot++) {
    const heads = FIRST_AT + <usize>(slot * IDS_MAX)
    memory.fill(heads, 0, IDS_MAX)
    for (let i = countOf(slot) - 1; i >= 0; i--) {
      const code = codeOf(slot, i)
      let id = <i32>load<u16>(code)
      if (id == 0) {
        // 16 x 128 presses have at most 2,048 pairs. The last pair shares its number, which loses at most one match.
        id = min(++ids, IDS_MAX - 1)
        store<u16>(code, <u16>id)
      }
      store<u16>(idAt(slot, i), <u16>id)
      store<u8>(NEXT_AT + <usize>(slot * COMPARED_MAX + i), load<u8>(heads + id))
      store<u8>(heads + id, <u8>(i + 1))
    }
  }
  for (let slot = 1; slot <= references; slot++) {
    for (let i = 0; i < countOf(slot); i++) store<u16>(codeOf(slot, i), 0)
  }
}

/** Gives the probe's pairs the numbers of the references' pairs; 0 if no reference has the pair. */
export function linkProbe(references: i32): void {
  for (let slot = 1; slot <= references; slot++) {
    for (let i = 0; i < countOf(slot); i++) store<u16>(codeOf(slot, i), load<u16>(idAt(slot, i)))
  }
  for (let i = 0; i < countOf(0); i++) store<u16>(idAt(0, i), load<u16>(codeOf(0, i)))
  for (let slot = 1; slot <= references; slot++) {
    for (let i = 0; i < countOf(slot); i++) store<u16>(codeOf(slot, i), 0)
  }
}

// @ts-ignore: decorator
@inline
function matchAt(reference: i32, press: i32): usize {
  return MATCHES + <usize>(reference * COMPARED_MAX + press)
}

/** The reference's press aligned with a press of `slot`; -1 if none. */
function nearest(slot: i32, press: i32, reference: i32): i32 {
  const id = <i32>load<u16>(idAt(slot, press))
  let next = id == 0 ? 0 : <i32>load<u8>(FIRST_AT + <usize>(reference * IDS_MAX + id))
  let best = -1
  while (next != 0) {
    if (best < 0 || abs(next - 1 - press) < abs(best - press)) best = next - 1
    next = <i32>load<u8>(NEXT_AT + <usize>(reference * COMPARED_MAX + next - 1))
  }
  return best
}

/** Fills rows 17 to 24 of STATS: `slot` against slots 1 to `references`, except itself. */
export function align(slot: i32, references: i32): void {
  const zero = f32x4.splat(0)
  let meanPlain = zero, leastPlain = f32x4.splat(9), meanCentred = zero, leastCentred = f32x4.splat(9)
  let others: f32 = 0
  const n = countOf(slot)
  for (let reference = 1; reference <= references; reference++) {
    if (reference == slot) continue
    let distance = zero, sum = zero, squares = zero, weight = zero
    for (let i = 0; i < n; i++) {
      const match = nearest(slot, i, reference)
      store<u8>(matchAt(reference, i), <u8>match)
      if (match < 0) continue
      const lanes = f32x4.mul(lanesOf(i), lanesOf(match))
      const d = f32x4.mul(clampLanes(f32x4.sub(v128.load(lanesAt(slot, i)), v128.load(lanesAt(reference, match))), -3, 3), lanes)
      distance = f32x4.add(distance, f32x4.abs(d))
      sum = f32x4.add(sum, d)
      squares = f32x4.add(squares, f32x4.mul(d, d))
      weight = f32x4.add(weight, lanes)
    }
    const total = f32x4.add(weight, f32x4.splat(PRIOR_PRESSES))
    const plain = f32x4.div(f32x4.add(distance, f32x4.splat(PRIOR_PRESSES)), total)
    const shift = f32x4.div(sum, total)
    const centred = f32x4.sqrt(f32x4.max(zero, f32x4.sub(f32x4.div(f32x4.add(squares, f32x4.splat(PRIOR_PRESSES)), total), f32x4.mul(shift, shift))))
    meanPlain = f32x4.add(meanPlain, plain)
    leastPlain = f32x4.min(leastPlain, plain)
    meanCentred = f32x4.add(meanCentred, centred)
    leastCentred = f32x4.min(leastCentred, centred)
    others += 1
  }
  const share: f32 = 1 / max<f32>(others, 1)
  setStat(FROM, scaled(meanPlain, share))
  setStat(FROM + 1, leastPlain)
  setStat(FROM + 2, scaled(meanCentred, share))
  setStat(FROM + 3, leastCentred)
  presses(slot, references)
}

/** Compares each press with the mean and the shrunken spread of the references' presses aligned with it, if two or more. */
function presses(slot: i32, references: i32): void {
  const zero = f32x4.splat(0)
  const one = f32x4.splat(1)
  const prior = scaled(variances(Component.residual), 2)
  const n = countOf(slot)
  let weight = f32x4.splat(PRIOR_PRESSES), distance = f32x4.splat(PRIOR_PRESSES), inside = one, far = zero
  let matched: f32 = 0, often: f32 = 0, all: f32 = 0
  for (let i = 0; i < n; i++) {
    let count = zero, sum = zero, squares = zero, low = f32x4.splat(9), high = f32x4.splat(-9)
    let held: f32 = 0
    for (let reference = 1; reference <= references; reference++) {
      if (reference == slot) continue
      const match = <i32>load<u8>(matchAt(reference, i))
      if (match == 255) continue
      const lanes = f32x4.mul(lanesOf(i), lanesOf(match))
      const y = f32x4.mul(v128.load(lanesAt(reference, match)), lanes)
      held += 1
      count = f32x4.add(count, lanes)
      sum = f32x4.add(sum, y)
      squares = f32x4.add(squares, f32x4.mul(y, y))
      low = f32x4.min(low, y)
      high = f32x4.max(high, y)
    }
    all += 1
    if (held > 0) matched += 1
    if (held < 2) continue
    often += 1
    const lanes = above(count, one)
    const times = f32x4.max(count, one)
    const mean = f32x4.div(sum, times)
    const spread = f32x4.max(zero, f32x4.sub(squares, f32x4.mul(sum, mean)))
    const variance = f32x4.div(f32x4.add(spread, prior), f32x4.add(times, one))
    const z = v128.load(lanesAt(slot, i))
    const scale = f32x4.sqrt(f32x4.add(variance, f32x4.div(variance, times)))
    const t = f32x4.min(f32x4.splat(3), f32x4.div(f32x4.abs(f32x4.sub(z, mean)), scale))
    weight = f32x4.add(weight, lanes)
    distance = f32x4.add(distance, f32x4.mul(t, lanes))
    far = f32x4.add(far, f32x4.mul(above(t, f32x4.splat(1.8)), lanes))
    const outside = f32x4.max(above(z, high), above(low, z))
    inside = f32x4.add(inside, f32x4.mul(f32x4.sub(one, outside), lanes))
  }
  setStat(FROM + 4, f32x4.div(distance, weight))
  setStat(FROM + 5, f32x4.div(inside, weight))
  setStat(FROM + 6, f32x4.div(far, weight))
  setStat(SHARED, f32x4(matched / max<f32>(all, 1), often / max<f32>(all, 1), 0, 0))
}
