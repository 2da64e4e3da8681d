/**
 * The references' means of PROJECTED and EMBEDDED as 16-bit integers, so that a stored fit is short. A comparison uses the rounded
 * means whether or not they were stored, so both ways give the same bits.
 */
import { EMBEDDED_MEAN, EMBEDDING_SIZE, PACKED_MEANS, PROJECTED_SUMS, VECTOR_STRIDE, f32At, setF32 } from './layout'
import { MODELS } from './model'

/** Largest value of an axis, in within-person deviations, and of a direction. */
const AXIS_MAX: f32 = 6
const STEPS: f32 = 32767
const SUMS: i32 = MODELS * VECTOR_STRIDE

/** Packs the sums and the mean direction of this number of references, and rounds them likewise. */
export function packMeans(references: i32): void {
  const step = AXIS_MAX * <f32>references / STEPS
  for (let i = 0; i < SUMS; i++) put(i, f32At(PROJECTED_SUMS, i) / step)
  for (let i = 0; i < EMBEDDING_SIZE; i++) put(SUMS + i, f32At(EMBEDDED_MEAN, i) * STEPS)
  unpackMeans(references)
}

/** Sets the sums and the mean direction from PACKED_MEANS. */
export function unpackMeans(references: i32): void {
  const step = AXIS_MAX * <f32>references / STEPS
  for (let i = 0; i < SUMS; i++) setF32(PROJECTED_SUMS, i, <f32>packed(i) * step)
  for (let i = 0; i < EMBEDDING_SIZE; i++) setF32(EMBEDDED_MEAN, i, <f32>packed(SUMS + i) / STEPS)
}

function put(index: i32, value: f32): void {
  store<i16>(PACKED_MEANS + (<usize>index << 1), <i16>nearest<f32>(max<f32>(-STEPS, min<f32>(STEPS, value))))
}

function packed(index: i32): i32 {
  return <i32>load<i16>(PACKED_MEANS + (<usize>index << 1))
}
