import { describe, expect, it } from 'vitest'
import { fitBoosting, type Tree } from '../../src/calibration/boosting.js'
import { calibrationError, equalErrorRate, figuresOf, thresholdAt } from '../../src/calibration/metrics.js'
import { normal, seededRandom } from '../../src/calibration/random.js'
import { CHUNK_ROWS, collector } from '../../src/calibration/rows.js'

const WIDTH = 3
/** Random examples. The label is 1 if the first feature is above the second, or the third is above 1.5 in absolute value. */
function examples(n: number, seed: number) {
  const random = seededRandom(seed)
  const collected = collector(WIDTH)
  for (let i = 0; i < n; i++) {
    const row = Float32Array.from({ length: WIDTH }, () => normal(random))
    const [a = 0, b = 0, c = 0] = row
    collected.add(row, a > b || Math.abs(c) > 1.5 ? 1 : 0)
  }
  return collected.done()
}
const options = {
  ...{ trees: 60, leaves: 8, learningRate: 0.2, l2: 1, rowsPerLeafMin: 10 },
  ...{ rowShare: 0.8, featureShare: 1, seed: 1 },
}

function leafOf({ feature, value, left }: Tree, row: Float32Array): number {
  let node = 0
  for (let at = feature[node] ?? -1; at >= 0; at = feature[node] ?? -1) {
    node = (left[node] ?? 0) + ((row[at] ?? 0) > (value[node] ?? 0) ? 1 : 0)
  }
  return value[node] ?? 0
}

describe('boosting', () => {
  it('learns a nonlinear rule, and predicts unseen rows by it', () => {
    // More rows than a chunk of the collector holds.
    const { trees, base } = fitBoosting(examples(CHUNK_ROWS + 500, 1), options)
    const fresh = examples(1000, 2)
    const right = Array.from(fresh.labels).filter((label, i) => {
      const row = fresh.chunks[0]?.subarray(i * WIDTH, i * WIDTH + WIDTH) ?? new Float32Array()
      return trees.reduce((sum, tree) => sum + leafOf(tree, row), base) > 0 === (label === 1)
    })
    expect(right.length / 1000).toBeGreaterThan(0.93)
  })

  it('gives the same trees for the same seed and different trees for another seed', () => {
    const rows = examples(500, 1)
    const small = { ...options, trees: 5 }
    expect(fitBoosting(rows, small)).toEqual(fitBoosting(rows, small))
    expect(fitBoosting(rows, { ...small, seed: 2 })).not.toEqual(fitBoosting(rows, small))
  })
})

describe('metrics', () => {
  it('computes an equal error rate of 0 for separable scores and of one half for identical distributions', () => {
    expect(equalErrorRate([3, 4, 5], [0, 1, 2])).toBe(0)
    expect(equalErrorRate([1, 2, 3, 4], [1, 2, 3, 4])).toBeCloseTo(0.5, 5)
  })

  it('computes the threshold that the given share of impostors exceeds, and the false non-matches at it', () => {
    const impostor = Array.from({ length: 1000 }, (_, i) => i / 1000)
    expect(impostor.filter((score) => score > thresholdAt(impostor, 0.01))).toHaveLength(10)
    const figures = { fnmr_at_1pct: 0.5, fnmr_at_01pct: 0.5, people: 1 }
    expect(figuresOf([{ genuine: [0.5, 2], impostor }])).toMatchObject(figures)
  })

  it('computes a calibration error of 0 if a tenth of the pairs with a score of 0.1 is genuine', () => {
    expect(calibrationError([{ genuine: [0.1], impostor: Array(9).fill(0.1) as number[] }], 0.1)).toBeCloseTo(0, 9)
  })
})
