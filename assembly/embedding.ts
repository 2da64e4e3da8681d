/**
 * The embedding of a whole pattern: a small network turns VECTOR into a direction in 64 dimensions, in which patterns of one person are
 * near. `out = D x + T max(0, H x + b) + c`, where x is VECTOR in deviations of the fit, capped at four; the direction is `out` divided by
 * its length. H and D, three quarters of the weights, are 16-bit integers: reading the weights takes longest. The fit is that of
 * prototypes: Snell, Swersky and Zemel, Prototypical networks for few-shot learning (2017).
 */
import { EMBEDDED, EMBEDDED_MEAN, EMBEDDING_INPUT, EMBEDDING_SIZE, HIDDEN, VECTOR_SIZE } from './layout'
import { clampLanes, sumLanes } from './lanes'
import { INPUT_ROW_BYTES, embedding, embeddingHidden } from './model'
import { vectorOf } from './summary'

const VECTOR_BYTES: usize = <usize>VECTOR_SIZE << 2
const SIZE_BYTES: usize = <usize>EMBEDDING_SIZE << 2
/** Largest input, and its steps. With weights of at most 2,047 steps a sum of 148 products is below 2^31. */
const CAP: f32 = 4
const STEPS: f32 = 512

function embeddedOf(slot: i32): usize {
  return EMBEDDED + <usize>slot * SIZE_BYTES
}

/** Embeds a slot that `summarize` has filled; nothing without an embedding in the model. */
export function embed(slot: i32): void {
  if (embeddingHidden == 0) return
  readInput(vectorOf(slot))
  const hiddenBytes = <usize>embeddingHidden << 2
  const steps = embedding + 2 * VECTOR_BYTES
  const weights = steps + hiddenBytes + SIZE_BYTES
  const through = weights + <usize>(embeddingHidden + EMBEDDING_SIZE) * INPUT_ROW_BYTES
  const offsets = through + <usize>EMBEDDING_SIZE * hiddenBytes
  for (let i: usize = 0; i < hiddenBytes; i += 16) {
    const sums = f32x4.mul(fourInputSums(weights + (i >> 2) * INPUT_ROW_BYTES), v128.load(steps + i))
    v128.store(HIDDEN + i, f32x4.max(f32x4.add(sums, v128.load(offsets + i)), f32x4.splat(0)))
  }
  const direct = weights + <usize>embeddingHidden * INPUT_ROW_BYTES
  const out = embeddedOf(slot)
  let squares = f32x4.splat(0)
  for (let i: usize = 0; i < SIZE_BYTES; i += 16) {
    const straight = f32x4.mul(fourInputSums(direct + (i >> 2) * INPUT_ROW_BYTES), v128.load(steps + hiddenBytes + i))
    const sums = f32x4.add(straight, fourHiddenSums(through + (i >> 2) * hiddenBytes, hiddenBytes))
    const value = f32x4.add(sums, v128.load(offsets + hiddenBytes + i))
    v128.store(out + i, value)
    squares = f32x4.add(squares, f32x4.mul(value, value))
  }
  const share = f32x4.splat(1 / sqrt<f32>(max<f32>(sumLanes(squares), 1e-12)))
  for (let i: usize = 0; i < SIZE_BYTES; i += 16) v128.store(out + i, f32x4.mul(v128.load(out + i), share))
}

/** Fills EMBEDDING_INPUT. */
function readInput(vector: usize): void {
  for (let at: usize = 0; at < VECTOR_BYTES; at += 16) {
    const centred = f32x4.sub(v128.load(vector + at), v128.load(embedding + at))
    const deviations = clampLanes(f32x4.mul(centred, v128.load(embedding + VECTOR_BYTES + at)), -CAP, CAP)
    const steps = i32x4.trunc_sat_f32x4_s(f32x4.nearest(f32x4.mul(deviations, f32x4.splat(STEPS))))
    v128.store64_lane(EMBEDDING_INPUT + (at >> 1), i16x8.narrow_i32x4_s(steps, steps), 0)
  }
}

/** Products of four consecutive rows of input weights with the input. */
// @ts-ignore: decorator
@inline
function fourInputSums(rows: usize): v128 {
  let a = i32x4.splat(0), b = a, c = a, d = a
  for (let at: usize = 0; at < INPUT_ROW_BYTES; at += 16) {
    const value = v128.load(EMBEDDING_INPUT + at)
    a = i32x4.add(a, i32x4.dot_i16x8_s(value, v128.load(rows + at)))
    b = i32x4.add(b, i32x4.dot_i16x8_s(value, v128.load(rows + INPUT_ROW_BYTES + at)))
    c = i32x4.add(c, i32x4.dot_i16x8_s(value, v128.load(rows + 2 * INPUT_ROW_BYTES + at)))
    d = i32x4.add(d, i32x4.dot_i16x8_s(value, v128.load(rows + 3 * INPUT_ROW_BYTES + at)))
  }
  // The sums of the lanes of each, by adding the transposed halves.
  const ab = i32x4.add(i32x4.shuffle(a, b, 0, 1, 4, 5), i32x4.shuffle(a, b, 2, 3, 6, 7))
  const cd = i32x4.add(i32x4.shuffle(c, d, 0, 1, 4, 5), i32x4.shuffle(c, d, 2, 3, 6, 7))
  const sums = i32x4.add(i32x4.shuffle(ab, cd, 0, 2, 4, 6), i32x4.shuffle(ab, cd, 1, 3, 5, 7))
  return f32x4.convert_i32x4_s(sums)
}

/** Products of four consecutive rows of weights, `stride` bytes each, with the hidden units. */
// @ts-ignore: decorator
@inline
function fourHiddenSums(rows: usize, stride: usize): v128 {
  let a = f32x4.splat(0), b = a, c = a, d = a
  for (let at: usize = 0; at < stride; at += 16) {
    const value = v128.load(HIDDEN + at)
    a = f32x4.add(a, f32x4.mul(value, v128.load(rows + at)))
    b = f32x4.add(b, f32x4.mul(value, v128.load(rows + stride + at)))
    c = f32x4.add(c, f32x4.mul(value, v128.load(rows + 2 * stride + at)))
    d = f32x4.add(d, f32x4.mul(value, v128.load(rows + 3 * stride + at)))
  }
  return f32x4(sumLanes(a), sumLanes(b), sumLanes(c), sumLanes(d))
}

/** Sets the mean of the directions of slots 1 to `references`, for comparisons of slot 0. */
export function meanEmbedding(references: i32): void {
  for (let at: usize = 0; at < SIZE_BYTES; at += 16) v128.store(EMBEDDED_MEAN + at, meanOfOthers(0, references, at))
}

// @ts-ignore: decorator
@inline
function meanOfOthers(slot: i32, references: i32, at: usize): v128 {
  let sum = f32x4.splat(0)
  for (let other = 1; other <= references; other++) {
    if (other != slot) sum = f32x4.add(sum, v128.load(embeddedOf(other) + at))
  }
  const others = slot == 0 ? references : references - 1
  return f32x4.mul(sum, f32x4.splat(1 / <f32>max(others, 1)))
}

/** `slot` against the mean of the other references' directions: cosine, product, and the length of that mean; 0 without an embedding. */
export function compareEmbedding(slot: i32, references: i32): v128 {
  if (embeddingHidden == 0) return f32x4.splat(0)
  const own = embeddedOf(slot)
  let product = f32x4.splat(0), squares = product
  for (let at: usize = 0; at < SIZE_BYTES; at += 16) {
    const mean = slot == 0 ? v128.load(EMBEDDED_MEAN + at) : meanOfOthers(slot, references, at)
    product = f32x4.add(product, f32x4.mul(v128.load(own + at), mean))
    squares = f32x4.add(squares, f32x4.mul(mean, mean))
  }
  const length = sqrt<f32>(sumLanes(squares))
  const dot = sumLanes(product)
  return f32x4(dot / max<f32>(length, 1e-6), dot, length, 0)
}
