/**
 * The two-covariance model over whole patterns: a pattern's vector is a person's mean plus a session's deviation, both
 * normal. In the axes that make the within-person covariance the identity and the between-person one diagonal, the log
 * likelihood ratio of "same person" against "another" is a sum over axes, for any number of references.
 * Source: Brummer and De Villiers, The Speaker Partitioning Problem (Odyssey 2010), section 4.
 */
import { PROJECTED, SLOTS, VECTOR_SIZE, VECTOR_STRIDE, f32At, setF32 } from './layout'
import { logLanes, sumLanes } from './lanes'
import { TWO_COVARIANCE_BYTES, twoCovariances } from './model'
import { vectorOf } from './summary'

/** The two models: fitted on people who type ever other text, and on people who repeat theirs. */
export const MODELS: i32 = 2

function meanOfModel(model: i32): usize {
  return twoCovariances + <usize>model * TWO_COVARIANCE_BYTES
}

function projectionOf(model: i32): usize {
  return meanOfModel(model) + (<usize>VECTOR_SIZE << 2)
}

function betweenOf(model: i32): usize {
  return projectionOf(model) + (<usize>(VECTOR_SIZE * VECTOR_SIZE) << 2)
}

function projectedOf(model: i32, slot: i32): usize {
  return PROJECTED + (<usize>((model * SLOTS + slot) * VECTOR_STRIDE) << 2)
}

/** Takes a slot's vector into the axes of both models, capped at six within-person deviations. */
export function project(slot: i32): void {
  for (let model = 0; model < MODELS; model++) projectInto(model, slot)
}

function projectInto(model: i32, slot: i32): void {
  const vector = vectorOf(slot)
  const mean = meanOfModel(model)
  const projection = projectionOf(model)
  const out = projectedOf(model, slot)
  for (let i = 0; i < VECTOR_SIZE; i++) {
    const weights = projection + <usize>((i * VECTOR_SIZE) << 2)
    let sums = f32x4.splat(0)
    for (let j = 0; j < VECTOR_SIZE; j += 4) {
      const centred = f32x4.sub(v128.load(vector + (<usize>j << 2)), v128.load(mean + (<usize>j << 2)))
      sums = f32x4.add(sums, f32x4.mul(centred, v128.load(weights + (<usize>j << 2))))
    }
    const sum = f32x4.extract_lane(sums, 0) + f32x4.extract_lane(sums, 1) + f32x4.extract_lane(sums, 2) + f32x4.extract_lane(sums, 3)
    setF32(out, i, max<f32>(-6, min<f32>(6, sum)))
  }
}

/** Axes whose sums are features of their own: the first few separate people best. */
const LEADING: i32 = 12
const MIDDLE: i32 = 40

/** Four lanes: the log ratio of `slot` and the references but itself, over all axes, the leading, the middle; a cosine. */
export function compareVectors(model: i32, slot: i32, references: i32): v128 {
  const probe = projectedOf(model, slot)
  const betweens = betweenOf(model)
  let others: f32 = 0
  for (let reference = 1; reference <= references; reference++) others += reference == slot ? 0 : 1
  const share = f32x4.splat(1 / max<f32>(others, 1))
  const one = f32x4.splat(1)
  let leading = f32x4.splat(0), middle = leading, rest = leading, dot = leading, own = leading, theirs = leading
  for (let i = 0; i < VECTOR_SIZE; i += 4) {
    const at = <usize>i << 2
    let sum = f32x4.splat(0)
    for (let reference = 1; reference <= references; reference++) {
      if (reference != slot) sum = f32x4.add(sum, v128.load(projectedOf(model, reference) + at))
    }
    const mean = f32x4.mul(sum, share)
    const between = v128.load(betweens + at)
    const x = v128.load(probe + at)
    const shrink = f32x4.div(between, f32x4.add(between, share))
    const variance = f32x4.add(one, f32x4.mul(between, f32x4.sub(one, shrink)))
    const whole = f32x4.add(one, between)
    const d = f32x4.sub(x, f32x4.mul(shrink, mean))
    const gain = f32x4.sub(f32x4.div(f32x4.mul(x, x), whole), f32x4.div(f32x4.mul(d, d), variance))
    const ratio = f32x4.mul(f32x4.splat(0.5), f32x4.add(gain, logLanes(f32x4.div(whole, variance))))
    if (i < LEADING) leading = f32x4.add(leading, ratio)
    else if (i < MIDDLE) middle = f32x4.add(middle, ratio)
    else rest = f32x4.add(rest, ratio)
    const shrunk = f32x4.mul(shrink, x)
    dot = f32x4.add(dot, f32x4.mul(shrunk, mean))
    own = f32x4.add(own, f32x4.mul(shrunk, x))
    theirs = f32x4.add(theirs, f32x4.mul(f32x4.mul(shrink, mean), mean))
  }
  const norm = sumLanes(own) * sumLanes(theirs)
  const cosine: f32 = norm > <f32>1e-9 ? sumLanes(dot) / sqrt<f32>(norm) : 0
  return f32x4(sumLanes(leading) + sumLanes(middle) + sumLanes(rest), sumLanes(leading), sumLanes(middle), cosine)
}
