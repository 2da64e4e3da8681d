/**
 * The two-covariance model over whole patterns: a pattern's vector is a person's mean plus a session's deviation, both
 * normal. In the axes that make the within-person covariance the identity and the between-person one diagonal, the log
 * likelihood ratio of "same person" against "another" is a sum over axes, for any number of references.
 * Source: Brummer and De Villiers, The Speaker Partitioning Problem (Odyssey 2010), section 4.
 */
import { FEATURES, PROJECTED, VECTOR_SIZE, VECTOR_STRIDE, f32At, setF32 } from './layout'
import { betweenVariances, projection, vectorMean } from './model'
import { vectorOf } from './summary'

function projectedOf(slot: i32): usize {
  return PROJECTED + <usize>((slot * VECTOR_STRIDE) << 2)
}

/** Takes a slot's vector into the model's axes, capped at six within-person deviations. */
export function project(slot: i32): void {
  const vector = vectorOf(slot)
  const out = projectedOf(slot)
  for (let i = 0; i < VECTOR_SIZE; i++) {
    const weights = projection + <usize>((i * VECTOR_SIZE) << 2)
    let sums = f32x4.splat(0)
    for (let j = 0; j < VECTOR_SIZE; j += 4) {
      const centred = f32x4.sub(v128.load(vector + (<usize>j << 2)), v128.load(vectorMean + (<usize>j << 2)))
      sums = f32x4.add(sums, f32x4.mul(centred, v128.load(weights + (<usize>j << 2))))
    }
    const sum = f32x4.extract_lane(sums, 0) + f32x4.extract_lane(sums, 1) + f32x4.extract_lane(sums, 2) + f32x4.extract_lane(sums, 3)
    setF32(out, i, max<f32>(-6, min<f32>(6, sum)))
  }
}

/** Axes whose sums are features of their own: the first few separate people best. */
const LEADING: i32 = 10
const MIDDLE: i32 = 30

/** Writes four features at `at`: the ratio over all axes, over the leading, over the middle ones, and a cosine. */
export function compareVectors(references: i32, at: i32): i32 {
  const probe = projectedOf(0)
  let leading: f32 = 0, middle: f32 = 0, rest: f32 = 0, dot: f32 = 0, own: f32 = 0, theirs: f32 = 0
  for (let i = 0; i < VECTOR_SIZE; i++) {
    let mean: f32 = 0
    for (let slot = 1; slot <= references; slot++) mean += f32At(projectedOf(slot), i)
    mean /= <f32>references
    const between = f32At(betweenVariances, i)
    const x = f32At(probe, i)
    const shrink = between / (between + 1 / <f32>references)
    const variance: f32 = 1 + between * (1 - shrink)
    const d = x - shrink * mean
    const ratio = <f32>0.5 * (x * x / (1 + between) + Mathf.log((1 + between) / variance) - d * d / variance)
    if (i < LEADING) leading += ratio
    else if (i < MIDDLE) middle += ratio
    else rest += ratio
    dot += shrink * x * mean
    own += shrink * x * x
    theirs += shrink * mean * mean
  }
  setF32(FEATURES, at, leading + middle + rest)
  setF32(FEATURES, at + 1, leading)
  setF32(FEATURES, at + 2, middle)
  setF32(FEATURES, at + 3, own * theirs > <f32>1e-9 ? dot / sqrt<f32>(own * theirs) : 0)
  return at + 4
}
