/**
 * One pattern against the template in STATS, four lanes (kinds of time) per row: log likelihood ratios of user against
 * population (all events, seen pairs only, session offset integrated out, both means removed), scaled distances,
 * correlation with the expectation, differences of mean and spread.
 */
import { COMPARED_MAX, SCRATCH, STATS, countOf, lanesAt, lanesOf } from './layout'
import { above, clampLanes, logLanes, scaled } from './lanes'
import { Component, variances } from './model'
import { TemplateRow, expected, expectedVariance, templateAt, timesSeen } from './template'

const EXPECTED: usize = SCRATCH
const VARIANCE: usize = SCRATCH + <usize>(COMPARED_MAX << 4)

/** Number of rows of STATS that `measure` fills; the rows of alignment.ts, two-covariance.ts and the summaries follow. */
export const MEASURED: i32 = 17
/** Rows of the log likelihood ratio with the session offset integrated out: of the pattern, and of an event. */
export const OFFSET_RATIO: i32 = 11
export const OFFSET_RATIO_PER_EVENT: i32 = 16

/** Cap on the contribution of one event, three standard deviations squared: a slip does not prove an impostor. */
const CAP: f32 = 9

// @ts-ignore: decorator
@inline
export function setStat(stat: i32, value: v128): void {
  v128.store(STATS + (<usize>stat << 4), value)
}

// @ts-ignore: decorator
@inline
export function stat(which: i32): v128 {
  return v128.load(STATS + (<usize>which << 4))
}

// @ts-ignore: decorator
@inline
function capped(squares: v128): v128 {
  return f32x4.min(squares, f32x4.splat(CAP))
}

/** Fills rows 0 to 16 of STATS with the slot's pattern against the template. */
export function measure(slot: i32): void {
  const n = countOf(slot)
  const transitions = <f32>max(n - 1, 1)
  const count = f32x4.replace_lane(f32x4.splat(transitions), 0, <f32>n)
  let zSum = f32x4.splat(0)
  let zSquares = f32x4.splat(0)
  let expectedSum = f32x4.splat(0)
  for (let i = 0; i < n; i++) {
    const lanes = lanesOf(i)
    const z = v128.load(lanesAt(slot, i))
    const mu = f32x4.mul(expected(slot, i), lanes)
    zSum = f32x4.add(zSum, z)
    zSquares = f32x4.add(zSquares, f32x4.mul(z, z))
    expectedSum = f32x4.add(expectedSum, mu)
    v128.store(EXPECTED + (<usize>i << 4), mu)
    v128.store(VARIANCE + (<usize>i << 4), expectedVariance(slot, i))
  }
  const mean = f32x4.div(zSum, count)
  const expectedMean = f32x4.div(expectedSum, count)
  const session = variances(Component.session)
  const total = variances(Component.total)
  const user = variances(Component.user)
  const alone = f32x4.sub(f32x4.sub(total, user), session)
  const logTotal = logLanes(total)
  const logAlone = logLanes(alone)
  const zero = f32x4.splat(0)
  const two = f32x4.splat(2)
  let all = zero, distances = zero, cappedDistances = zero, seen = zero, seenAll = zero, seenDistance = zero
  let centredAll = zero, centredDistance = zero, ab = zero, aa = zero, bb = zero
  let weight = zero, weighted = zero, joint = zero, late = zero, early = zero, near = zero
  for (let i = 0; i < n; i++) {
    const lanes = lanesOf(i)
    const z = v128.load(lanesAt(slot, i))
    const mu = v128.load(EXPECTED + (<usize>i << 4))
    const own = v128.load(VARIANCE + (<usize>i << 4))
    const variance = f32x4.add(own, session)
    const d = f32x4.sub(z, mu)
    const d2 = f32x4.mul(d, d)
    const logOwn = logLanes(own)
    const gain = f32x4.sub(f32x4.add(capped(f32x4.div(f32x4.mul(z, z), total)), logTotal), f32x4.add(capped(f32x4.div(d2, variance)), logLanes(variance)))
    const ratio = f32x4.mul(scaled(gain, 0.5), lanes)
    const distance = f32x4.mul(f32x4.div(f32x4.abs(d), f32x4.sqrt(variance)), lanes)
    all = f32x4.add(all, ratio)
    distances = f32x4.add(distances, distance)
    cappedDistances = f32x4.add(cappedDistances, f32x4.min(distance, two))
    const far = above(distance, two)
    const isLate = above(d, zero)
    late = f32x4.add(late, f32x4.mul(far, isLate))
    early = f32x4.add(early, f32x4.mul(far, f32x4.sub(f32x4.splat(1), isLate)))
    near = f32x4.add(near, f32x4.mul(above(f32x4.splat(0.5), distance), lanes))
    const known = f32x4.mul(above(timesSeen(slot, i), zero), lanes)
    seen = f32x4.add(seen, known)
    seenAll = f32x4.add(seenAll, f32x4.mul(ratio, known))
    seenDistance = f32x4.add(seenDistance, f32x4.mul(f32x4.abs(d), known))
    const a = f32x4.mul(f32x4.sub(mu, expectedMean), lanes)
    const b = f32x4.mul(f32x4.sub(z, mean), lanes)
    const c = f32x4.sub(b, a)
    ab = f32x4.add(ab, f32x4.mul(a, b))
    aa = f32x4.add(aa, f32x4.mul(a, a))
    bb = f32x4.add(bb, f32x4.mul(b, b))
    centredDistance = f32x4.add(centredDistance, f32x4.abs(c))
    const centredGain = f32x4.sub(f32x4.add(capped(f32x4.div(f32x4.mul(b, b), alone)), logAlone), f32x4.add(capped(f32x4.div(f32x4.mul(c, c), own)), logOwn))
    centredAll = f32x4.add(centredAll, f32x4.mul(scaled(centredGain, 0.5), lanes))
    const dc = f32x4.mul(clampLanes(d, -4, 4), lanes)
    const precision = f32x4.div(lanes, own)
    weight = f32x4.add(weight, precision)
    weighted = f32x4.add(weighted, f32x4.mul(dc, precision))
    joint = f32x4.sub(joint, scaled(f32x4.add(f32x4.mul(f32x4.mul(dc, dc), precision), f32x4.mul(logOwn, lanes)), 0.5))
  }
  joint = f32x4.add(joint, integrated(weighted, weight, session))
  const plain = scaled(f32x4.add(f32x4.div(zSquares, alone), f32x4.mul(count, logAlone)), 0.5)
  const h0 = f32x4.sub(integrated(f32x4.div(zSum, alone), f32x4.div(count, alone), f32x4.add(user, session)), plain)
  const deviation = f32x4.sqrt(f32x4.max(zero, f32x4.sub(f32x4.div(zSquares, count), f32x4.mul(mean, mean))))
  const known = f32x4.max(seen, f32x4.splat(1))
  setStat(0, f32x4.div(all, count))
  setStat(1, f32x4.div(distances, count))
  setStat(2, f32x4.div(cappedDistances, count))
  setStat(3, f32x4.div(seenDistance, known))
  setStat(4, f32x4.div(seenAll, known))
  setStat(5, f32x4.div(seen, count))
  setStat(6, f32x4.abs(f32x4.sub(mean, templateAt(TemplateRow.mean))))
  setStat(7, f32x4.abs(f32x4.sub(deviation, templateAt(TemplateRow.deviation))))
  setStat(8, f32x4.div(ab, f32x4.sqrt(f32x4.add(f32x4.mul(aa, bb), f32x4.splat(1e-9)))))
  setStat(9, f32x4.div(centredDistance, count))
  setStat(10, f32x4.div(centredAll, count))
  setStat(OFFSET_RATIO, f32x4.sub(joint, h0))
  setStat(12, f32x4.sub(mean, expectedMean))
  setStat(13, f32x4.div(late, count))
  setStat(14, f32x4.div(early, count))
  setStat(15, f32x4.div(near, count))
  setStat(OFFSET_RATIO_PER_EVENT, f32x4.div(f32x4.sub(joint, h0), count))
}

/** Gain in log likelihood by integrating out an offset of this prior variance, from the weighted sum and the weights. */
function integrated(weighted: v128, weight: v128, variance: v128): v128 {
  const spread = f32x4.add(f32x4.splat(1), f32x4.mul(variance, weight))
  return scaled(f32x4.sub(f32x4.div(f32x4.mul(f32x4.mul(weighted, weighted), variance), spread), logLanes(spread)), 0.5)
}
