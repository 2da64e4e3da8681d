/**
 * The embedding of a whole pattern: a small network turns VECTOR into a direction in 64 dimensions, in which patterns of one person are
 * near. `out = W [x; max(0, H x + b)] + c`, where x is VECTOR in deviations of the fit, capped at four; the direction is `out` divided by
 * its length. The fit is that of prototypes: Snell, Swersky and Zemel, Prototypical networks for few-shot learning (2017).
 */
import { EMBEDDED, EMBEDDED_MEAN, EMBEDDING_INPUT, EMBEDDING_SIZE, HIDDEN, VECTOR_SIZE } from './layout'
import { clampLanes, sumLanes } from './lanes'
import { embedding, embeddingHidden } from './model'
import { vectorOf } from './summary'

const INPUT_BYTES: usize = <usize>VECTOR_SIZE << 2
const SIZE_BYTES: usize = <usize>EMBEDDING_SIZE << 2
const CAP: f32 = 4

function embeddedOf(slot: i32): usize {
  return EMBEDDED + <usize>slot * SIZE_BYTES
}

/** Embeds a slot that `summarize` has filled; nothing without an embedding in the model. */
export function embed(slot: i32): void {
  if (embeddingHidden == 0) return
  const vector = vectorOf(slot)
  for (let at: usize = 0; at < INPUT_BYTES; at += 16) {
    const centred = f32x4.sub(v128.load(vector + at), v128.load(embedding + at))
    const deviations = f32x4.mul(centred, v128.load(embedding + INPUT_BYTES + at))
    v128.store(EMBEDDING_INPUT + at, clampLanes(deviations, -CAP, CAP))
  }
  const hiddenBytes = <usize>embeddingHidden << 2
  const hiddenWeights = embedding + 2 * INPUT_BYTES
  const hiddenBias = hiddenWeights + <usize>embeddingHidden * INPUT_BYTES
  for (let i: usize = 0; i < hiddenBytes; i += 16) {
    const sums = f32x4.add(fourSums(hiddenWeights + (i >> 2) * INPUT_BYTES, INPUT_BYTES, EMBEDDING_INPUT), v128.load(hiddenBias + i))
    v128.store(HIDDEN + i, f32x4.max(sums, f32x4.splat(0)))
  }
  const direct = hiddenBias + hiddenBytes
  const through = direct + <usize>EMBEDDING_SIZE * INPUT_BYTES
  const bias = through + <usize>EMBEDDING_SIZE * hiddenBytes
  const out = embeddedOf(slot)
  let squares = f32x4.splat(0)
  for (let i: usize = 0; i < SIZE_BYTES; i += 16) {
    const straight = fourSums(direct + (i >> 2) * INPUT_BYTES, INPUT_BYTES, EMBEDDING_INPUT)
    const sums = f32x4.add(straight, fourSums(through + (i >> 2) * hiddenBytes, hiddenBytes, HIDDEN))
    const value = f32x4.add(sums, v128.load(bias + i))
    v128.store(out + i, value)
    squares = f32x4.add(squares, f32x4.mul(value, value))
  }
  const share = f32x4.splat(1 / sqrt<f32>(max<f32>(sumLanes(squares), 1e-12)))
  for (let i: usize = 0; i < SIZE_BYTES; i += 16) v128.store(out + i, f32x4.mul(v128.load(out + i), share))
}

/** Products of four consecutive rows of weights, `stride` bytes each, with a column. */
// @ts-ignore: decorator
@inline
function fourSums(rows: usize, stride: usize, column: usize): v128 {
  let a = f32x4.splat(0), b = a, c = a, d = a
  for (let at: usize = 0; at < stride; at += 16) {
    const value = v128.load(column + at)
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
