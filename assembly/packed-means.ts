/**
 * The references' means of PROJECTED and EMBEDDED as 16-bit integers, so that a stored fit is short. A comparison uses the rounded
 * means whether or not they were stored, so both ways give the same bits.
 */
import { EMBEDDED_MEAN, EMBEDDING_SIZE, PACKED_MEANS, PROJECTED_SUMS, VECTOR_STRIDE, f32At, setF32 } from './layout'
import { MODELS } from './model'
import { AXIS_MAX } from './two-covariance'

/** The integer of the largest value: AXIS_MAX on an axis, 1 in a direction. */
const STEPS: f32 = 32767
/** Axes of all models. The directions follow them in PACKED_MEANS. */
const AXES: i32 = MODELS * VECTOR_STRIDE

/** Packs the sums and the mean direction of this number of references, and rounds them likewise. */
export function packMeans(references: i32): void {
  const step = stepOf(references)
  for (let i = 0; i < AXES; i++) put(i, f32At(PROJECTED_SUMS, i) / step)
  for (let i = 0; i < EMBEDDING_SIZE; i++) put(AXES + i, f32At(EMBEDDED_MEAN, i) * STEPS)
  unpackMeans(references)
}

/** Sets the sums and the mean direction from PACKED_MEANS. */
export function unpackMeans(references: i32): void {
  const step = stepOf(references)
  for (let i = 0; i < AXES; i++) setF32(PROJECTED_SUMS, i, <f32>packed(i) * step)
  for (let i = 0; i < EMBEDDING_SIZE; i++) setF32(EMBEDDED_MEAN, i, <f32>packed(AXES + i) / STEPS)
}

/** The sum over the references that an integer of 1 stands for. */
function stepOf(references: i32): f32 {
  return AXIS_MAX * <f32>references / STEPS
}

function put(index: i32, value: f32): void {
  store<i16>(PACKED_MEANS + (<usize>index << 1), <i16>nearest<f32>(max<f32>(-STEPS, min<f32>(STEPS, value))))
}

function packed(index: i32): i32 {
  return <i32>load<i16>(PACKED_MEANS + (<usize>index << 1))
}
