/** Repeated measurements of one quantity. */
export interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
  /** In order of measurement. */
  readonly runs: readonly number[]
}

/** The median; the mean of the two middle values of an even number; NaN if empty. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const upper = sorted[sorted.length >> 1] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[(sorted.length >> 1) - 1] ?? upper)) / 2
}

const DIGITS = 5
const rounded = (value: number) => Number(value.toPrecision(DIGITS))

/** Median, lowest and highest, rounded to five digits. */
export const spreadOf = (runs: readonly number[]): Spread => ({
  median: rounded(median(runs)),
  min: rounded(Math.min(...runs)),
  max: rounded(Math.max(...runs)),
  runs: runs.map(rounded),
})
