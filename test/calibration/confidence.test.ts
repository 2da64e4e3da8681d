import { describe, expect, it } from 'vitest'
import { fitConfidence, plattScale } from '../../src/calibration/confidence.js'
import { normal, seededRandom } from '../../src/calibration/random.js'

const logistic = (x: number): number => 1 / (1 + Math.exp(-x))

describe('confidence', () => {
  it('recovers the slope that labels were drawn with', () => {
    const random = seededRandom(1)
    const scores = Array.from({ length: 20_000 }, () => 3 * normal(random))
    const labels = scores.map((score) => (random() < logistic(0.7 * score) ? 1 : 0))
    const { slope, intercept } = plattScale(scores, labels, new Float32Array(scores.length).fill(1))
    expect(slope).toBeCloseTo(0.7, 1)
    expect(intercept).toBeCloseTo(0, 1)
  })

  // Regression: the slope reached a billion.
  it('keeps the slope small for almost separable classes', () => {
    const random = seededRandom(2)
    const labels = Array.from({ length: 20_000 }, () => (random() < 0.3 ? 1 : 0))
    const scores = labels.map((label) => (label === 1 ? 8 : -12) + 4 * normal(random))
    const { slope } = plattScale(scores, labels, new Float32Array(scores.length).fill(1))
    expect(slope).toBeGreaterThan(0.1)
    expect(slope).toBeLessThan(5)
  })

  it('gives the same share of impostors a confidence above 0.5 under every condition', () => {
    const random = seededRandom(3)
    const n = 60_000
    const conditions = Array.from({ length: n }, () => [random() < 0.5 ? 0 : 1, 0, 0, 0])
    const labels = Uint8Array.from({ length: n }, () => (random() < 0.2 ? 1 : 0))
    // Under the second condition all scores are 2 higher, so with a common threshold more of its impostors would pass.
    const scores = Float64Array.from(
      labels,
      (label, i) => (label === 1 ? 4 : -4) + 2 * (conditions[i]?.[0] ?? 0) + 2 * normal(random),
    )
    const rows = {
      scores,
      labels,
      sources: new Uint8Array(n),
      conditions: Float32Array.from(conditions.flat()),
    }
    const { slope, intercept, conditions: weights } = fitConfidence(rows, 0.01)
    for (const condition of [0, 1]) {
      const impostors = Array.from(scores.keys()).filter((i) => labels[i] === 0 && conditions[i]?.[0] === condition)
      const passed = impostors.filter((i) => slope * (scores[i] ?? 0) + intercept + condition * (weights[0] ?? 0) >= 0)
      expect(passed.length / impostors.length).toBeGreaterThan(0.007)
      expect(passed.length / impostors.length).toBeLessThan(0.013)
    }
  })

  it('lets at most the share of the impostors of each source pass, and that share of the worst source', () => {
    const random = seededRandom(4)
    const n = 60_000
    const sources = Uint8Array.from({ length: n }, () => (random() < 0.9 ? 0 : 1))
    const labels = Uint8Array.from({ length: n }, () => (random() < 0.2 ? 1 : 0))
    // No condition tells the sources apart, and the impostors of the rare one score higher.
    const scores = Float64Array.from(
      labels,
      (label, i) => (label === 1 ? 4 : -4 + (sources[i] ?? 0)) + 2 * normal(random),
    )
    const rows = { scores, labels, sources, conditions: new Float32Array(2 * n) }
    const { slope, intercept } = fitConfidence(rows, 0.01)
    const [common, rare] = [0, 1].map((source) => {
      const impostors = Array.from(scores.keys()).filter((i) => labels[i] === 0 && sources[i] === source)
      return impostors.filter((i) => slope * (scores[i] ?? 0) + intercept > 0).length / impostors.length
    })
    expect(common).toBeLessThan(0.006)
    expect(rare).toBeGreaterThan(0.008)
    expect(rare).toBeLessThanOrEqual(0.0102)
  })
})
