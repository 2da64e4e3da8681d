import { build, decodeFromCompressedBase64, encodeIntoCompressedBase64, type Int32Histogram } from 'hdr-histogram-js'

/** Times in microseconds up to ten minutes, to three digits; longer times count as ten minutes. */
const LONGEST_US = 600_000_000

/** Count of each time, as `time, count, time, count`: small to send, and lossless between histograms. */
export type Pairs = readonly number[]

/** Times in ms; see `histogram`. */
export interface Histogram {
  record(ms: number): void
  add(pairs: Pairs): void
  count(): number
  /** The quantile of the times at a share, 0 to 1, in ms; null if empty. */
  quantileMs(share: number): number | null
  meanMs(): number | null
  pairs(): Pairs
  clear(): void
  /** HdrHistogram V2, compressed, base64, in microseconds: the format of HdrHistogram tools. */
  encoded(): string
}

/** An HDR histogram: always 86 kB, every quantile accurate to 0.1 %. */
export function histogram(): Histogram {
  // Sound: a build of 32-bit buckets without WASM is an Int32Histogram; the library's type is a union of its kinds.
  const hdr = build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: LONGEST_US,
    numberOfSignificantValueDigits: 3,
    bitBucketSize: 32,
    useWebAssembly: false,
  }) as Int32Histogram
  const bounded = (us: number) => Math.min(LONGEST_US, Math.max(0, Math.round(us)))
  return {
    record: (ms) => hdr.recordValue(bounded(ms * 1000)),
    add(pairs) {
      for (let i = 0; i < pairs.length; i += 2) hdr.recordValueWithCount(bounded(pairs[i] ?? 0), pairs[i + 1] ?? 0)
    },
    count: () => hdr.totalCount,
    quantileMs: (share) => (hdr.totalCount === 0 ? null : hdr.getValueAtPercentile(share * 100) / 1000),
    meanMs: () => (hdr.totalCount === 0 ? null : hdr.mean / 1000),
    pairs() {
      const out: number[] = []
      const seen = hdr.recordedValuesIterator
      seen.reset()
      while (seen.hasNext()) {
        const { valueIteratedTo, countAtValueIteratedTo } = seen.next()
        out.push(valueIteratedTo, countAtValueIteratedTo)
      }
      return out
    },
    clear: () => hdr.reset(),
    encoded: () => encodeIntoCompressedBase64(hdr),
  }
}

/** The quantiles of every table, by their names in thresholds. */
export const QUANTILES = { p50: 0.5, p90: 0.9, p99: 0.99, 'p99.9': 0.999, max: 1 } as const
export type QuantileName = keyof typeof QUANTILES

/**
 * The curve of an encoded histogram: `[nines, ms]`, where 1 is the 90th percentile, 2 the 99th, 3 the 99.9th, as far as
 * its count supports.
 */
export function percentileCurve(encoded: string): [nines: number, ms: number][] {
  const hdr = decodeFromCompressedBase64(encoded, 32, false)
  if (hdr.totalCount === 0) return []
  const end = Math.log10(hdr.totalCount)
  const steps = Math.max(1, Math.round(end * 24))
  return Array.from({ length: steps + 1 }, (_, i) => {
    const nines = (end * i) / steps
    // The last point is the maximum, so that a single answer in a stall is on the plot.
    return [nines, hdr.getValueAtPercentile(i === steps ? 100 : 100 * (1 - 10 ** -nines)) / 1000]
  })
}
