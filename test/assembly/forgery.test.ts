import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { capturedFrom, synthesize } from '../../src/calibration/attack-models.js'
import { blankModel, encodeModel } from '../../src/calibration/model-file.js'
import { seededRandom } from '../../src/calibration/random.js'
import { forgeWithMemory, meansOf } from '../../src/calibration/remembered-noise.js'
import type { KeyPress } from '../../src/domain/key-press.js'
import { modelFile, wasmFile } from '../../src/scoring/artifacts.js'
import { createKernel } from '../../src/scoring/kernel.js'
import { encodeSample } from '../../src/scoring/sample.js'
import { typedBy } from '../scoring/typists.js'

const wasm = new Uint8Array(readFileSync(wasmFile()))
const kernel = createKernel(wasm, new Uint8Array(readFileSync(modelFile())))
const sample = (presses: readonly KeyPress[]): Uint8Array => encodeSample(presses, 'visible')

/** Indices of the forgery signs among the bot signs, as in assembly/liveness.ts. */
const SAME_KEY_HELD = 53
const SHARED = 54
const BOTH_SAME = 55
const SAME_END = 60
const NEARER_END = 68
const HOLD_TIE = 80

/** The probe's bot signs against a person's references. */
function signs(probe: readonly KeyPress[], references: readonly (readonly KeyPress[])[]): number[] {
  kernel.read(0, sample(probe))
  references.forEach((reference, i) => {
    kernel.read(i + 1, sample(reference))
  })
  return Array.from(kernel.examine(references.length))
}

const typed = (person: number): KeyPress[][] => [0, 1, 2, 3, 4].map((session) => typedBy(person, session))
const pairsOf = (presses: readonly KeyPress[]) => presses.slice(1).map(({ key }, i) => `${presses[i]?.key} ${key}`)

const PEOPLE = Array.from({ length: 40 }, (_, person) => person)
const meanOf = (rows: readonly (readonly number[])[], at: number) =>
  rows.reduce((sum, row) => sum + (row[at] ?? 0), 0) / rows.length

describe('forgery signs', () => {
  it('are all 0 without references', () => {
    expect(signs(typedBy(1, 7), []).slice(SHARED)).toEqual(signs(typedBy(1, 7), []).slice(SHARED).fill(0))
  })

  it('count the presses whose key pair occurs in a reference', () => {
    for (let person = 0; person < 20; person++) {
      const references = [typedBy(person, 0, 20 + person), typedBy(person, 1, 30)]
      const probe = typedBy(person, 2 + (person % 3))
      const held = new Set(references.flatMap(pairsOf))
      expect(signs(probe, references)[SHARED]).toBe(pairsOf(probe).filter((pair) => held.has(pair)).length)
    }
  })

  it('find the times of a spliced pattern in the references, and almost none of a sincere pattern', () => {
    const random = seededRandom(4)
    const shares = PEOPLE.map((person) => {
      const forged = synthesize('S6splice', typedBy(person, 6), capturedFrom(typed(person)), { gridMs: 1, random })
      return [forged, typedBy(person, 6)].map((probe) => signs(probe, typed(person))[BOTH_SAME] ?? 0)
    })
    expect(meanOf(shares, 0)).toBeGreaterThan(0.2)
    expect(meanOf(shares, 1)).toBeLessThan(0.02)
  })

  it('find an averaged pattern nearer to the references than these are to one another, and no other person', () => {
    const random = seededRandom(4)
    for (let person = 0; person < 20; person++) {
      const references = typed(person)
      const forged = synthesize('S6pairAverage', typedBy(person, 6), capturedFrom(references), { gridMs: 1, random })
      const nearer = (probe: readonly KeyPress[]) =>
        signs(probe, references)
          .slice(SAME_END, NEARER_END)
          .reduce((sum, sign) => sum + sign, 0)
      expect(nearer(forged)).toBeLessThan(-1)
      expect(nearer(typedBy(person + 100, 6))).toBeGreaterThan(-1)
    }
  })

  it('find that forged times follow the noise of the means they were drawn from, and sincere times do not', () => {
    const random = seededRandom(4)
    const ties = PEOPLE.map((person) => {
      const means = meansOf(typed(person))
      const forged = forgeWithMemory(
        'S7joint',
        typedBy(person, 6),
        { victim: means, strangers: means.residuals },
        { gridMs: 1, random },
      )
      return [forged, typedBy(person, 6)].map((probe) => signs(probe, typed(person))[HOLD_TIE] ?? 0)
    })
    expect(meanOf(ties, 0)).toBeGreaterThan(0.1)
    expect(Math.abs(meanOf(ties, 1))).toBeLessThan(0.1)
  })

  it('count the presses of a key that is already down', () => {
    const probe = typedBy(1, 6).map((press, i, all) =>
      i === 10 ? { ...press, key: all[11]?.key ?? 1, releaseMs: (all[11]?.pressMs ?? 0) + 5 } : press,
    )
    expect(signs(probe, typed(1))[SAME_KEY_HELD]).toBe(1)
    expect(signs(typedBy(1, 6), typed(1))[SAME_KEY_HELD]).toBe(0)
  })

  it('are identical bit for bit after another pattern is examined in between', () => {
    const first = signs(typedBy(2, 9), typed(2))
    signs(typedBy(5, 1, 15), [typedBy(5, 2), typedBy(6, 2)])
    expect(signs(typedBy(2, 9), typed(2))).toEqual(first)
  })
})

describe('the bot verdict', () => {
  /** A model that gives every pattern the same liveness. */
  const giving = (liveness: number, own: number, lone: number) =>
    createKernel(wasm, encodeModel({ ...blankModel(), livenessCurve: Float32Array.of(liveness, 1, -3, own, lone) }))
  const likelihood = (kernelOf: ReturnType<typeof giving>, references: number) =>
    kernelOf.score(sample(typedBy(1, 7)), typed(1).slice(0, references).map(sample)).botLikelihood

  it('grants a person the allowance that their own references need, up to the limit of the model', () => {
    expect(likelihood(giving(5, 0, 0), 5)).toBeGreaterThan(0.5)
    expect(likelihood(giving(5, 4, 0), 5)).toBeLessThan(0.5)
    expect(likelihood(giving(8, 4, 0), 5)).toBeGreaterThan(0.5)
  })

  it.each([0, 1])('uses only the signs of the pattern itself with %i references', (references) => {
    expect(likelihood(giving(5, 4, -1), references)).toBeLessThan(0.5)
    expect(likelihood(giving(-5, 4, 1), references)).toBeGreaterThan(0.5)
  })
})
