const { fround } = Math

/** Moments, quantiles and correlations of `n` numbers of a row from `at`. Sums go from first to last, in single precision. */
export function meanOf(row: Float32Array, at: number, n: number): number {
  let sum = 0
  for (let i = at; i < at + n; i++) sum = fround(sum + (row[i] ?? 0))
  return fround(sum / n)
}

/** Population standard deviation from `mean`. */
export function deviationOf(row: Float32Array, at: number, n: number, mean: number): number {
  let sum = 0
  for (let i = at; i < at + n; i++) {
    const d = fround((row[i] ?? 0) - mean)
    sum = fround(sum + fround(d * d))
  }
  return fround(Math.sqrt(fround(sum / n)))
}

const LEAST_NORM = fround(1e-12)

/** Pearson correlation; 0 if either row is constant. */
export function correlation(a: Float32Array, aAt: number, b: Float32Array, bAt: number, n: number): number {
  const aMean = meanOf(a, aAt, n)
  const bMean = meanOf(b, bAt, n)
  let aa = 0
  let bb = 0
  let ab = 0
  for (let i = 0; i < n; i++) {
    const da = fround((a[aAt + i] ?? 0) - aMean)
    const db = fround((b[bAt + i] ?? 0) - bMean)
    aa = fround(aa + fround(da * da))
    bb = fround(bb + fround(db * db))
    ab = fround(ab + fround(da * db))
  }
  const norm = fround(aa * bb)
  return norm > LEAST_NORM ? fround(ab / fround(Math.sqrt(norm))) : 0
}

/** The result of the last `sortInto`. */
export const sorted = new Float32Array(128)
const GAPS = [57, 23, 10, 4, 1]

/** Sorts up to 128 numbers into `sorted` by Shell's sort: the typed array's own sort costs a call out of JavaScript. */
export function sortInto(row: Float32Array, at: number, n: number): void {
  for (let i = 0; i < n; i++) sorted[i] = row[at + i] ?? 0
  for (const gap of GAPS) {
    for (let i = gap; i < n; i++) {
      const value = sorted[i] ?? 0
      let j = i
      while (j >= gap && (sorted[j - gap] ?? 0) > value) {
        sorted[j] = sorted[j - gap] ?? 0
        j -= gap
      }
      sorted[j] = value
    }
  }
}

/** Quantile of the last `n` sorted numbers, by linear interpolation (Hyndman and Fan, type 7). `share` in single precision. */
export function sortedQuantile(n: number, share: number): number {
  const position = fround(share * (n - 1))
  const low = Math.floor(position)
  const high = low + 1 < n ? low + 1 : n - 1
  const part = fround(position - low)
  return fround(fround((sorted[low] ?? 0) * fround(1 - part)) + fround((sorted[high] ?? 0) * part))
}
