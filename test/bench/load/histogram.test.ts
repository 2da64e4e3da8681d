import { describe, expect, it } from 'vitest'
import { histogram, percentileCurve, QUANTILES } from '../../../bench/load/histogram.js'
import { normal, seededRandom } from '../../../src/calibration/random.js'

/** Typical latencies: most are a few ms, with a tail of seconds. */
function latencies(seed: number, count: number): number[] {
  const random = seededRandom(seed)
  return Array.from({ length: count }, () => Math.exp(1 + 1.5 * normal(random)) * (random() < 0.01 ? 50 : 1))
}
const filled = (values: readonly number[]) => {
  const made = histogram()
  for (const value of values) made.record(value)
  return made
}

describe('the histogram', () => {
  it.each([1, 2, 7, 100, 10_000])('gives quantiles of %i sorted values to a thousandth', (count) => {
    for (let seed = 0; seed < 20; seed++) {
      const values = latencies(seed, count)
      const sorted = values.toSorted((a, b) => a - b)
      const made = filled(values)
      for (const share of [...Object.values(QUANTILES), 0.1, 0.25, 0.75]) {
        // A share that falls between two ranks may be either.
        const low = sorted[Math.max(0, Math.floor(share * count) - 1)] ?? 0
        const high = sorted[Math.min(count - 1, Math.ceil(share * count))] ?? 0
        const found = made.quantileMs(share) ?? Number.NaN
        expect(found).toBeGreaterThanOrEqual(low * 0.999 - 0.001)
        expect(found).toBeLessThanOrEqual(high * 1.001 + 0.001)
      }
      expect(made.quantileMs(1)).toBeCloseTo(sorted.at(-1) ?? 0, -Math.log10((sorted.at(-1) ?? 0) * 0.002 + 0.002))
      const mean = values.reduce((sum, value) => sum + value, 0) / count
      expect(made.meanMs()).toBeGreaterThan(mean * 0.998 - 0.001)
      expect(made.meanMs()).toBeLessThan(mean * 1.002 + 0.001)
    }
  })

  it('of several threads adds up to the one of all their values', () => {
    const parts = [1, 2, 3].map((seed) => latencies(seed, 5000))
    const sum = histogram()
    for (const part of parts) sum.add(filled(part).pairs())
    const all = filled(parts.flat())
    expect(sum.pairs()).toEqual(all.pairs())
    expect(sum.encoded()).toBe(all.encoded())
    expect(sum.count()).toBe(15_000)
  })

  it('counts times above ten minutes as ten minutes, and is null if empty', () => {
    const made = filled([3_600_000])
    expect(made.quantileMs(1)).toBeCloseTo(600_000, -3)
    made.clear()
    expect([made.count(), made.quantileMs(0.5), made.meanMs()]).toEqual([0, null, null])
    expect(percentileCurve(made.encoded())).toEqual([])
  })

  it('is drawn by percentile as far as its count supports', () => {
    const made = filled(latencies(4, 10_000))
    const curve = percentileCurve(made.encoded())
    expect(curve[0]?.[0]).toBe(0)
    expect(curve.at(-1)).toEqual([4, made.quantileMs(1)])
    expect(curve.find(([nines]) => nines === 2)?.[1]).toBe(made.quantileMs(0.99))
    expect(curve.every(([, ms], i) => ms >= (curve[i - 1]?.[1] ?? 0))).toBe(true)
  })
})
