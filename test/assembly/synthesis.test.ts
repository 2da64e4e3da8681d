import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { blankModel, encodeModel, withSynthesis } from '../../src/calibration/model-file.js'
import { seededRandom } from '../../src/calibration/random.js'
import { forgeWithMemory, meansOf } from '../../src/calibration/remembered-noise.js'
import type { KeyPress } from '../../src/domain/key-press.js'
import { modelFile, wasmFile } from '../../src/scoring/artifacts.js'
import { createKernel, type Kernel } from '../../src/scoring/kernel.js'
import { encodeSample } from '../../src/scoring/sample.js'
import { confirmed, sketchOf } from '../../src/scoring/sketch.js'
import { typedBy } from '../scoring/typists.js'

const wasm = new Uint8Array(readFileSync(wasmFile()))
const shipped = new Uint8Array(readFileSync(modelFile()))
const blank = encodeModel(blankModel())
const sample = (presses: readonly KeyPress[]): Uint8Array => encodeSample(presses, 'visible')

/** The last sign: the most similar place under other keys. */
const PLACE = 129

/** Reads a pattern, a member's references and the known patterns, of which the references are the first. */
function read(kernel: Kernel, probe: readonly KeyPress[], known: readonly (readonly KeyPress[])[], references = 5) {
  const enrolled = known.slice(0, references)
  enrolled.forEach((reference, i) => {
    kernel.read(i + 1, sample(reference))
  })
  kernel.read(0, sample(probe))
  kernel.scoreRead(enrolled.length)
  kernel.copies(
    sketchOf(sample(probe)),
    known.map((one) => confirmed(sketchOf(sample(one)))),
  )
}

/** Eight known patterns of a synthetic person. */
const knownOf = (person: number): KeyPress[][] => [0, 1, 2, 3, 4, 5, 6, 7].map((session) => typedBy(person, session))

/** Three of them, of other texts than session 9. */
const capturesOf = (person: number): KeyPress[][] => [0, 2, 3].map((session) => typedBy(person, session))

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

describe('signs against the known patterns', () => {
  it('are 130, and none with fewer than two references or four patterns', () => {
    const kernel = createKernel(wasm, blank)
    const known = knownOf(1)
    read(kernel, typedBy(1, 9), known)
    expect(kernel.examineKnown(0).length).toBe(130)
    read(kernel, typedBy(1, 9), known, 1)
    expect(kernel.examineKnown(0).length).toBe(0)
    read(kernel, typedBy(1, 9), known.slice(0, 3), 3)
    expect(kernel.examineKnown(0).length).toBe(0)
  })

  it('are the same after other patterns were examined', () => {
    const kernel = createKernel(wasm, blank)
    const signs = (): number[] => {
      read(kernel, typedBy(2, 9), knownOf(2))
      return Array.from(kernel.examineKnown(0))
    }
    const first = signs()
    read(kernel, typedBy(3, 9, 20), knownOf(4))
    kernel.examineKnown(2)
    expect(signs()).toEqual(first)
  })

  it('leave a reference out of the patterns that it is compared with', () => {
    const kernel = createKernel(wasm, blank)
    const known = knownOf(5)
    read(kernel, known[0] ?? [], known.slice(1), 4)
    const alone = Array.from(kernel.examineKnown(0)).slice(95)
    read(kernel, typedBy(5, 9), known)
    const left = Array.from(kernel.examineKnown(1)).slice(95)
    left.forEach((value, i) => {
      expect(value).toBeCloseTo(alone[i] ?? 0, 4)
    })
  })

  const people = Array.from({ length: 30 }, (_, person) => person)
  it('detect the residuals of a capture under other keys', () => {
    const kernel = createKernel(wasm, shipped)
    const random = seededRandom(1)
    const found = (probe: (person: number) => readonly KeyPress[]): number =>
      mean(
        people.map((person) => {
          read(kernel, probe(person), knownOf(person))
          return kernel.examineKnown(0)[PLACE] ?? 0
        }),
      )
    const forged = found((person) =>
      forgeWithMemory(
        'S8shrunkSession',
        typedBy(person, 9),
        { victim: meansOf(capturesOf(person)), strangers: [] },
        { gridMs: 0.1, random },
      ),
    )
    expect(forged).toBeGreaterThan(found((person) => typedBy(person, 9)) + 0.3)
  })
})

describe('synthesis trees in a model file', () => {
  const tree = { feature: [95, -1, -1], value: [-1000, 0, 3], left: [1, 0, 0] }
  const synthesis = { base: -1, trees: [tree], intercept: 0.5, allowance: 0 }

  it('can be added once, and the bytes after the header stay the same', () => {
    expect(withSynthesis(blank, synthesis).slice(64, blank.length)).toEqual(blank.slice(64))
    expect(() => withSynthesis(withSynthesis(blank, synthesis), synthesis)).toThrow('has synthesis trees')
  })

  it('give the likelihood of the sum, and at most the allowance is taken off for the references', () => {
    const likelihood = (allowance: number): number => {
      const kernel = createKernel(wasm, withSynthesis(blank, { ...synthesis, allowance }))
      read(kernel, typedBy(6, 9), knownOf(6))
      return kernel.synthesized()
    }
    expect(likelihood(0)).toBeCloseTo(1 / (1 + Math.exp(-2.5)), 6)
    // Each reference needs as much as the pattern itself.
    expect(likelihood(2)).toBeCloseTo(1 / (1 + Math.exp(-0.5)), 6)
  })

  it('are 0 without trees', () => {
    const kernel = createKernel(wasm, blank)
    read(kernel, typedBy(6, 9), knownOf(6))
    expect(kernel.synthesized()).toBe(0)
  })
})
