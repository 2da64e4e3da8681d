import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Subject } from '../../src/calibration/dataset.js'
import { dealt, livenessExamples } from '../../src/calibration/examples.js'
import { seededRandom } from '../../src/calibration/random.js'
import { CHUNK_ROWS } from '../../src/calibration/rows.js'
import { modelFile, wasmFile } from '../../src/scoring/artifacts.js'
import { typedBy } from '../scoring/typists.js'

const read = (file: string) => new Uint8Array(readFileSync(file))
const people: Subject[] = [1, 2, 3].map((id) => ({
  id,
  sessions: new Map(Array.from({ length: 10 }, (_, session) => [String(session), typedBy(id, session)])),
}))

describe('the training data of the bot detector', () => {
  it('splits sessions into references, captures and probes without overlap', () => {
    const random = seededRandom(1)
    const sessions = Array.from({ length: 15 }, (_, session) => typedBy(session, session))
    const counts = new Set<number>()
    for (let i = 0; i < 200; i++) {
      const { references, captures, probes } = dealt(sessions, 'references', random)
      expect(references.length + captures.length + probes.length).toBe(15)
      expect(captures.length).toBeGreaterThan(0)
      expect(probes.length).toBeGreaterThan(0)
      counts.add(references.length)
    }
    expect([2, 5, 7].every((n) => counts.has(n))).toBe(true)
    expect(dealt(sessions, 'none', random).references).toEqual([])
  })

  it.each(['references', 'none'] as const)(
    'has sincere and forged rows (%s), all finite, and the same rows for the same seed',
    (company) => {
      const examples = () =>
        livenessExamples({ wasm: read(wasmFile()), model: read(modelFile()) }, people, company, { seed: 7 })
      const { chunks, labels, width } = examples()
      expect(chunks).toHaveLength(Math.ceil(labels.length / CHUNK_ROWS))
      expect(chunks.every((rows) => rows.length === CHUNK_ROWS * width && rows.every(Number.isFinite))).toBe(true)
      expect(new Set(labels)).toEqual(new Set([0, 1]))
      expect(examples().chunks).toEqual(chunks)
    },
  )
})
