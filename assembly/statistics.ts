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

/** Sorts `n` values (at most 128) into SORTED: Shell's sort with Ciura's gaps, no allocation. */
export function sortInto(base: usize, n: i32): void {
  memory.copy(SORTED, base, <usize>n << 2)
  let gap = 57
  while (gap > 0) {
    for (let i = gap; i < n; i++) {
      const value = f32At(SORTED, i)
      let j = i
      while (j >= gap && f32At(SORTED, j - gap) > value) {
        setF32(SORTED, j, f32At(SORTED, j - gap))
        j -= gap
      }
      setF32(SORTED, j, value)
    }
    gap = gap == 57 ? 23 : gap == 23 ? 10 : gap == 10 ? 4 : gap == 4 ? 1 : 0
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
