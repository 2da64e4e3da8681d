/**
 * The two-covariance model of whole patterns: a pattern's vector is a person's mean plus a session's deviation, both
 * normal. In the axes that make the within-person covariance the identity and the between-person one diagonal, the log
 * likelihood ratio of "same person" against "another" is a sum over axes, for any number of references.
 * Source: Brummer and De Villiers, The Speaker Partitioning Problem (Odyssey 2010), section 4.
 */
import { AXES, CENTRED, PROJECTED, PROJECTED_SUMS, SLOTS, VECTOR_SIZE, VECTOR_STRIDE } from './layout'
import { clampLanes, logLanes, sumLanes } from './lanes'
import { MODELS, TWO_COVARIANCE_BYTES, axesUsed, twoCovariances } from './model'
import { vectorOf } from './summary'

/** Most within-person deviations on an axis. */
export const AXIS_MAX: f32 = 6

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

function centredOf(slot: i32): usize {
  return CENTRED + (<usize>(slot * VECTOR_STRIDE) << 2)
}

/**
 * Projects the vectors of slots `from` to `to` on the axes of all models, capped at six within-person deviations. Computes
 * four axes at a time, so that their sums are independent, and all slots for each four, so that the weights are read once.
 * Axes along which people do not differ are skipped: they would add exactly zero.
 */
export function project(from: i32, to: i32): void {
  const stride = <usize>VECTOR_SIZE << 2
  for (let model = 0; model < MODELS; model++) {
    const mean = meanOfModel(model)
    for (let slot = from; slot <= to; slot++) {
      const vector = vectorOf(slot)
      const centred = centredOf(slot)
      for (let at: usize = 0; at < stride; at += 16) {
        v128.store(centred + at, f32x4.sub(v128.load(vector + at), v128.load(mean + at)))
      }
    }
    const used = axesUsed(model)
    for (let i = 0; i < used; i += 4) {
      const weights = projectionOf(model) + <usize>i * stride
      for (let slot = from; slot <= to; slot++) {
        const centred = centredOf(slot)
        let a = f32x4.splat(0), b = a, c = a, d = a
        for (let at: usize = 0; at < stride; at += 16) {
          const value = v128.load(centred + at)
          a = f32x4.add(a, f32x4.mul(value, v128.load(weights + at)))
          b = f32x4.add(b, f32x4.mul(value, v128.load(weights + at, 592)))
          c = f32x4.add(c, f32x4.mul(value, v128.load(weights + at, 1184)))
          d = f32x4.add(d, f32x4.mul(value, v128.load(weights + at, 1776)))
        }
        const sums = f32x4(sumLanes(a), sumLanes(b), sumLanes(c), sumLanes(d))
        v128.store(projectedOf(model, slot) + (<usize>i << 2), clampLanes(sums, -AXIS_MAX, AXIS_MAX))
      }
    }
  }
}

/** Ends of the leading and of the middle axes, which have separate sums: the first axes separate people best. */
const LEADING: i32 = 12
const MIDDLE: i32 = 40

/** Parts of AXES: for each axis the shrinkage, the spread and the prior log ratio of a comparison with `others` patterns. */
const SHRINK: usize = 0
const VARIANCE: usize = <usize>VECTOR_SIZE << 2
const LOG_RATIO: usize = <usize>VECTOR_SIZE << 3

function axesOf(model: i32): usize {
  return AXES + <usize>model * ((<usize>VECTOR_SIZE << 2) * 3)
}

/** Prepares `compareVectors` for comparisons with this many patterns. */
export function prepareVectors(others: i32): void {
  const share = f32x4.splat(1 / <f32>max(others, 1))
  const one = f32x4.splat(1)
  for (let model = 0; model < MODELS; model++) {
    const betweens = betweenOf(model)
    const used = <usize>axesUsed(model) << 2
    for (let at: usize = 0; at < used; at += 16) {
      const between = v128.load(betweens + at)
      const shrink = f32x4.div(between, f32x4.add(between, share))
      const variance = f32x4.add(one, f32x4.mul(between, f32x4.sub(one, shrink)))
      v128.store(axesOf(model) + SHRINK + at, shrink)
      v128.store(axesOf(model) + VARIANCE + at, variance)
      v128.store(axesOf(model) + LOG_RATIO + at, logLanes(f32x4.div(f32x4.add(one, between), variance)))
    }
  }
}

function sumsOf(model: i32): usize {
  return PROJECTED_SUMS + (<usize>(model * VECTOR_STRIDE) << 2)
}

/** Sums the vectors of slots 1 to `references`, for comparisons of slot 0. */
export function sumVectors(references: i32): void {
  for (let model = 0; model < MODELS; model++) {
    const used = <usize>axesUsed(model) << 2
    for (let at: usize = 0; at < used; at += 16) v128.store(sumsOf(model) + at, sumOfOthers(model, 0, references, at))
  }
}

// @ts-ignore: decorator
@inline
function sumOfOthers(model: i32, slot: i32, references: i32, at: usize): v128 {
  let sum = f32x4.splat(0)
  for (let reference = 1; reference <= references; reference++) {
    if (reference != slot) sum = f32x4.add(sum, v128.load(projectedOf(model, reference) + at))
  }
  return sum
}

/** Log ratio of `slot` against the other references over all axes, over the leading and over the middle axes, and a cosine, one lane each. */
export function compareVectors(model: i32, slot: i32, references: i32): v128 {
  const probe = projectedOf(model, slot)
  const betweens = betweenOf(model)
  const axes = axesOf(model)
  const others = slot == 0 ? references : references - 1
  const share = f32x4.splat(1 / <f32>max(others, 1))
  const one = f32x4.splat(1)
  const used = axesUsed(model)
  let leading = f32x4.splat(0), middle = leading, rest = leading, dot = leading, own = leading, theirs = leading
  for (let i = 0; i < used; i += 4) {
    const at = <usize>i << 2
    const sum = slot == 0 ? v128.load(sumsOf(model) + at) : sumOfOthers(model, slot, references, at)
    const mean = f32x4.mul(sum, share)
    const x = v128.load(probe + at)
    const shrink = v128.load(axes + SHRINK + at)
    const d = f32x4.sub(x, f32x4.mul(shrink, mean))
    const whole = f32x4.add(one, v128.load(betweens + at))
    const gain = f32x4.sub(f32x4.div(f32x4.mul(x, x), whole), f32x4.div(f32x4.mul(d, d), v128.load(axes + VARIANCE + at)))
    const ratio = f32x4.mul(f32x4.splat(0.5), f32x4.add(gain, v128.load(axes + LOG_RATIO + at)))
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
