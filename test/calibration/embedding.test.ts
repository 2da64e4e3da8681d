import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type EmbeddingSource, fitEmbedding } from '../../src/calibration/embedding.js'
import {
  blankModel,
  EMBEDDING_SIZE,
  type Embedding,
  encodeModel,
  VECTOR_SIZE,
} from '../../src/calibration/model-file.js'
import { normal, seededRandom } from '../../src/calibration/random.js'
import { wasmFile } from '../../src/scoring/artifacts.js'
import { createKernel } from '../../src/scoring/kernel.js'
import { encodeSample } from '../../src/scoring/sample.js'
import { typedBy } from '../scoring/typists.js'

const PATTERNS = 12
const OPTIONS = { steps: 100, hidden: 16, seed: 1 }

/** People who differ along a few inputs, among many that are noise. */
function source(people: number, seed: number): EmbeddingSource {
  const random = seededRandom(seed)
  const rows: number[] = []
  for (let person = 0; person < people; person++) {
    const own = Array.from({ length: VECTOR_SIZE }, (_, i) => (i < 20 ? 3 * normal(random) : 0))
    for (let pattern = 0; pattern < PATTERNS; pattern++) rows.push(...own.map((mean) => mean + normal(random)))
  }
  return {
    weight: 1,
    cuts: [Float32Array.from(rows)],
    starts: Int32Array.from({ length: people + 1 }, (_, i) => i * PATTERNS),
    people: Int32Array.from({ length: people }, (_, i) => i),
  }
}

/** The direction of an input, computed plainly. */
function embedded(network: Embedding, input: Float32Array): number[] {
  const { mean, inverseSds, hiddenWeights, hiddenOffsets, direct, through, offsets } = network
  const x = Array.from(input, (value, i) => Math.max(-4, Math.min(4, (value - (mean[i] ?? 0)) * (inverseSds[i] ?? 0))))
  const rowsOf = (weights: Float32Array, of: readonly number[], row: number) =>
    of.reduce((sum, value, i) => sum + value * (weights[row * of.length + i] ?? 0), 0)
  const hidden = Array.from(hiddenOffsets, (offset, row) => Math.max(0, offset + rowsOf(hiddenWeights, x, row)))
  const out = Array.from(offsets, (offset, row) => offset + rowsOf(direct, x, row) + rowsOf(through, hidden, row))
  const length = Math.hypot(...out)
  return out.map((value) => value / length)
}

const dot = (a: readonly number[], b: readonly number[]): number => a.reduce((sum, x, i) => sum + x * (b[i] ?? 0), 0)

describe('embedding', () => {
  it('gives two patterns of a person who was not fitted on nearer directions than patterns of others', () => {
    const network = fitEmbedding([source(80, 1)], OPTIONS)
    const rows = source(40, 2).cuts[0] ?? new Float32Array()
    const directions = Array.from({ length: 80 }, (_, i) => {
      const row = Math.floor(i / 2) * PATTERNS + (i % 2)
      return embedded(network, rows.subarray(row * VECTOR_SIZE, (row + 1) * VECTOR_SIZE))
    })
    const nearest = directions.map((own, i) => {
      const cosines = directions.map((other, j) => (i === j ? -2 : dot(own, other)))
      return cosines.indexOf(Math.max(...cosines))
    })
    // By chance the nearest of 79 is of the same person once in 79.
    expect(nearest.filter((j, i) => j === (i ^ 1)).length / 80).toBeGreaterThan(0.5)
  })

  it('gives the same network for the same seed and another one for another seed', () => {
    const short = { ...OPTIONS, steps: 3 }
    expect(fitEmbedding([source(70, 1)], short)).toEqual(fitEmbedding([source(70, 1)], short))
    expect(fitEmbedding([source(70, 1)], { ...short, seed: 2 })).not.toEqual(fitEmbedding([source(70, 1)], short))
  })

  it('refuses a source with too few people', () => {
    expect(() => fitEmbedding([source(63, 1)], OPTIONS)).toThrow('63 people with 11 patterns: an embedding wants 64')
  })

  it('is computed by the kernel, and compared with the mean direction of the references', () => {
    const random = seededRandom(5)
    const drawn = (length: number) => Float32Array.from({ length }, () => normal(random))
    const network = {
      mean: drawn(VECTOR_SIZE),
      inverseSds: drawn(VECTOR_SIZE).map(Math.abs),
      hiddenWeights: drawn(12 * VECTOR_SIZE),
      hiddenOffsets: drawn(12),
      direct: drawn(EMBEDDING_SIZE * VECTOR_SIZE),
      through: drawn(EMBEDDING_SIZE * 12),
      offsets: drawn(EMBEDDING_SIZE),
    }
    const kernel = createKernel(
      new Uint8Array(readFileSync(wasmFile())),
      encodeModel({ ...blankModel(), embedding: network }),
    )
    const read = (slot: number, session: number) => {
      kernel.read(slot, encodeSample(typedBy(slot === 0 ? 2 : 1, session, 45), 'visible'))
      return embedded(network, kernel.vector(slot))
    }
    const references = [1, 2, 3].map((slot) => read(slot, slot))
    const probe = read(0, 9)
    kernel.enroll(3)
    const mean = probe.map((_, i) => references.reduce((sum, reference) => sum + (reference[i] ?? 0) / 3, 0))
    const length = Math.hypot(...mean)
    // Its row of STATS is the last one: sixteen features, before the three late conditions.
    const row = kernel.compare(3).slice(-19)
    expect(row[0]).toBeCloseTo(dot(probe, mean) / length, 2)
    expect(row[1]).toBeCloseTo(dot(probe, mean), 2)
    expect(row[2]).toBeCloseTo(length, 2)
  })

  it('gives the same comparison from a stored template', () => {
    const random = seededRandom(6)
    const drawn = (length: number) => Float32Array.from({ length }, () => normal(random))
    const network = {
      mean: drawn(VECTOR_SIZE),
      inverseSds: new Float32Array(VECTOR_SIZE).fill(1),
      hiddenWeights: drawn(4 * VECTOR_SIZE),
      hiddenOffsets: drawn(4),
      direct: drawn(EMBEDDING_SIZE * VECTOR_SIZE),
      through: drawn(EMBEDDING_SIZE * 4),
      offsets: drawn(EMBEDDING_SIZE),
    }
    const model = encodeModel({ ...blankModel(), embedding: network })
    const [whole, stored] = [1, 2].map(() => createKernel(new Uint8Array(readFileSync(wasmFile())), model))
    const sampleOf = (who: number, session: number) => encodeSample(typedBy(who, session, 40), 'visible')
    const references = [1, 2, 3, 4, 5].map((session) => sampleOf(1, session))
    whole?.score(sampleOf(2, 9), references)
    const template = whole?.templateOf(5).slice() ?? new Uint8Array()
    whole?.score(sampleOf(3, 8), references)
    stored?.scoreTemplate(sampleOf(3, 8), template)
    // `compare` reads what the score has left: the last row of STATS holds the comparison of the directions.
    expect(stored?.compare(5)).toEqual(whole?.compare(5))
  })
})
