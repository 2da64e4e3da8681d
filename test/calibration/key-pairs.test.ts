import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Subject } from '../../src/calibration/dataset.js'
import { PAIR_KEYS, pairFigures } from '../../src/calibration/key-pairs.js'
import { normal, seededRandom } from '../../src/calibration/random.js'
import { modelFile, wasmFile } from '../../src/scoring/artifacts.js'
import { createKernel } from '../../src/scoring/kernel.js'

const read = (file: string) => new Uint8Array(readFileSync(file))
const [A, B, C] = [1, 2, 3]

/** People, each with an individual flight time from a to b, and with none from b to c. */
function people(count: number): Subject[] {
  const random = seededRandom(5)
  return Array.from({ length: count }, (_, id) => {
    const habit = Math.exp(0.6 * normal(random))
    const session = () => {
      let now = 0
      return Array.from({ length: 30 }, (_, i) => {
        const flight = i % 3 === 1 ? 150 * habit * Math.exp(0.1 * normal(random)) : 150 * Math.exp(0.4 * normal(random))
        now += flight
        return { key: [A, B, C][i % 3] ?? 0, pressMs: now, releaseMs: now + 80 + 10 * random() }
      })
    }
    return { id, sessions: new Map(['0', '1'].map((name) => [name, session()])) }
  })
}

describe('the information of a key pair', () => {
  const pairs = pairFigures(createKernel(read(wasmFile()), read(modelFile())), people(60))
  const of = (first: number, second: number) => pairs[(first - 1) * PAIR_KEYS + second - 1]

  it('is high if people differ more than the sessions of one person, and low otherwise', () => {
    expect(of(A, B)?.ratios[1]).toBeGreaterThan(3)
    expect(of(B, C)?.ratios[1]).toBeLessThan(0.3)
    expect(of(A, B)?.people).toBe(60)
  })

  it('is the mean of all pairs for a pair that nobody typed', () => {
    const never = of(C, B)
    expect(never?.people).toBe(0)
    expect(never?.nats).toBeGreaterThan(of(B, C)?.nats ?? 0)
    expect(never?.nats).toBeLessThan(of(A, B)?.nats ?? 0)
    expect(of(B, A)?.nats).toBe(never?.nats)
  })
})
