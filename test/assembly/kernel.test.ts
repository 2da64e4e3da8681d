import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { blankModel, CONDITIONS, encodeModel } from '../../src/calibration/model-file.js'
import { seededRandom } from '../../src/calibration/random.js'
import type { KeyPress } from '../../src/domain/key-press.js'
import { modelFile, wasmFile } from '../../src/scoring/artifacts.js'
import { createKernel } from '../../src/scoring/kernel.js'
import { fitOf, fittedTemplate, samplesIn } from '../../src/scoring/profile-template.js'
import { encodeSample } from '../../src/scoring/sample.js'
import { typedBy } from '../scoring/typists.js'
import { alignedDistance, logTimes, type Normalised, quantile, replayDistance, sharedText } from './reference.js'

const wasm = new Uint8Array(readFileSync(wasmFile()))
const shipped = new Uint8Array(readFileSync(modelFile()))
const blank = encodeModel(blankModel())
const sample = (presses: readonly KeyPress[]): Uint8Array => encodeSample(presses, 'visible')

/** Random times within the bounds of a pattern, unlike typing. */
function anyPresses(n: number, seed: number): KeyPress[] {
  const random = seededRandom(seed)
  let now = 0
  return Array.from({ length: n }, () => {
    now += Math.floor(random() * 1200)
    return { key: Math.floor(random() * 128), pressMs: now, releaseMs: now + 1 + Math.floor(random() * 3000) }
  })
}

describe('kernel', () => {
  it.each([1, 2, 3, 15, 50, 127, 128, 129, 500])(
    'computes the same log times of %i presses as the slow reference',
    (n) => {
      const kernel = createKernel(wasm, blank)
      for (let seed = 0; seed < 10; seed++) {
        const presses = anyPresses(n, seed)
        kernel.read(3, sample(presses))
        logTimes(presses.slice(0, 128)).forEach((row, kind) => {
          const found = kernel.row('raw', 3, kind)
          for (const [i, value] of row.entries()) expect(found[i]).toBeCloseTo(value, 4)
        })
      }
    },
  )

  it.each([1, 50, 400])('computes the same quantiles as the slow reference, of times in steps of %i ms', (stepMs) => {
    const kernel = createKernel(wasm, blank)
    for (const [seed, n] of [2, 3, 4, 5, 6, 7, ...Array.from({ length: 50 }, (_, i) => 15 + i), 127, 128].entries()) {
      const presses = anyPresses(n, seed).map(({ key, pressMs, releaseMs }, i) => ({
        key,
        pressMs: i + pressMs - (pressMs % stepMs),
        releaseMs: i + 1 + releaseMs - (releaseMs % stepMs),
      }))
      kernel.read(0, sample(presses))
      const [holds = [], flights = []] = logTimes(presses)
      const summary = kernel.summary(0)
      for (const [i, share] of [0.1, 0.25, 0.5, 0.75, 0.9].entries()) {
        expect(summary[i]).toBeCloseTo(quantile(holds, share), 4)
        expect(summary[5 + i]).toBeCloseTo(quantile(flights, share), 4)
      }
    }
  })

  it('aligns patterns and measures them against the reference baseline as the slow reference does', () => {
    const kernel = createKernel(wasm, shipped)
    const read = (slot: number, presses: readonly KeyPress[]): Normalised => {
      kernel.read(slot, sample(presses))
      const rows = [0, 1, 2, 3].map((kind) => Array.from(kernel.row('z', slot, kind).subarray(0, presses.length)))
      return {
        keys: presses.map(({ key }) => key),
        z: rows.map((row, kind) => (kind === 0 ? row : [0, ...row.slice(0, -1)])),
      }
    }
    for (let person = 0; person < 20; person++) {
      const references = [1, 2, 3].map((slot) => read(slot, typedBy(person, slot + person, 20 + 7 * slot)))
      const probe = read(0, typedBy(person, person % 5, 40))
      kernel.enroll(3)
      const found = kernel.compare(3)
      const shared = sharedText(probe, references)
      expect(found[0]).toBeCloseTo(Math.log(40 / 50), 5)
      expect(found[1]).toBeCloseTo(Math.log(3 / 5), 5)
      expect(found[2]).toBeCloseTo(shared[0], 5)
      expect(found[3]).toBeCloseTo(shared[1], 5)
      for (let kind = 0; kind < 4; kind++) {
        const { value, aboveOwn, aboveMost } = alignedDistance(probe, references, kind)
        // Each of STATS has sixteen features: the value, and the value above the baseline's mean, minimum and maximum; four kinds each.
        const at = CONDITIONS + 17 * 16 + kind
        expect(found[at]).toBeCloseTo(value, 4)
        expect(found[at + 4]).toBeCloseTo(aboveOwn, 4)
        expect(found[at + 12]).toBeCloseTo(aboveMost, 4)
      }
    }
  })

  it('removes shift and scale from the replay distance at least as well as the slow reference', () => {
    const kernel = createKernel(wasm, shipped)
    for (let person = 0; person < 30; person++) {
      const probe = typedBy(person, 0)
      const reference = typedBy(person, 4)
      const { replayDistanceMs } = kernel.score(sample(probe), [sample(reference)])
      expect(replayDistanceMs).toBeLessThanOrEqual(replayDistance(probe, reference) + 0.01)
      const scaled = reference.map(({ key, pressMs, releaseMs }) => ({
        key,
        pressMs: pressMs * 1.02,
        releaseMs: releaseMs * 1.02,
      }))
      expect(kernel.score(sample(scaled), [sample(reference)]).replayDistanceMs).toBeLessThan(0.01)
    }
  })

  it('gives a confidence from 0 to 1 on any input, with one to sixteen references of any length', () => {
    const kernel = createKernel(wasm, shipped)
    const lengths = [1, 2, 3, 15, 50, 128, 129, 500]
    for (const [seed, n] of lengths.entries()) {
      for (const references of [1, 2, 5, 16]) {
        const lengthOf = (i: number) => lengths[(i + seed) % 8] ?? 15
        const own = Array.from({ length: references }, (_, i) => sample(anyPresses(lengthOf(i), 100 + i)))
        const { confidence, botLikelihood } = kernel.score(sample(anyPresses(n, seed)), own)
        expect([confidence, botLikelihood].filter((value) => !(value !== null && value >= 0 && value <= 1))).toEqual([])
        expect(kernel.compare(references).every(Number.isFinite)).toBe(true)
        expect(kernel.examine(references).every(Number.isFinite)).toBe(true)
      }
    }
  })

  it('has another confidence for a later sitting, and the same rest, also against a kept template', () => {
    const kernel = createKernel(wasm, shipped)
    const references = [0, 1, 2, 3, 4].map((session) => sample(typedBy(1, session)))
    const probe = sample(typedBy(1, 7))
    const { confidence, fused, ...rest } = kernel.score(probe, references)
    const template = kernel.templateOf(references.length)
    const later = kernel.score(probe, references, 'later')
    expect(later).toMatchObject(rest)
    expect([later.confidence, later.fused]).not.toEqual([confidence, fused])
    expect(kernel.scoreRead(references.length, 'later')).toEqual(later)
    expect(kernel.scoreTemplate(probe, template, 'later')).toEqual(later)
    expect(kernel.scoreTemplate(probe, template, 'same')).toEqual({ confidence, fused, ...rest })
  })

  it('gives the same score against a kept template as against its references, bit for bit', () => {
    const kernel = createKernel(wasm, shipped)
    const lengths = [1, 2, 15, 50, 128, 129, 500]
    for (let person = 0; person < 40; person++) {
      const references = Array.from({ length: 1 + (person % 16) }, (_, i) =>
        sample(person % 3 === 0 ? anyPresses(lengths[(person + i) % 7] ?? 15, 100 + i) : typedBy(person, i)),
      )
      const probes = [typedBy(person, 20), typedBy(person + 1, 21), anyPresses(40, person), typedBy(person, 0)].map(
        sample,
      )
      const scores = probes.map((probe) => kernel.score(probe, references))
      const template = kernel.templateOf(references.length)
      const whole = { bytes: template, n: references.length }
      expect(samplesIn(whole)).toEqual(references)
      const fitted = fittedTemplate(fitOf(whole), references).bytes
      const other = [sample(typedBy(person + 2, 1)), sample(anyPresses(300, 2))]
      for (const [i, probe] of probes.entries()) {
        kernel.score(sample(typedBy(person + 3, 4)), other)
        expect(kernel.scoreTemplate(probe, fitted)).toEqual(scores[i])
        expect(kernel.templateOf(references.length)).toEqual(template)
        expect(kernel.scoreTemplate(probe, template)).toEqual(scores[i])
        const row = Array.from(kernel.explain().subarray(0, 160))
        expect(kernel.score(probe, references)).toEqual(scores[i])
        expect(Array.from(kernel.explain().subarray(0, 160))).toEqual(row)
      }
    }
  })

  it('gives no confidence and an infinite replay distance without references', () => {
    const found = createKernel(wasm, shipped).score(sample(typedBy(1, 0)), [])
    expect(found.confidence).toBeNull()
    expect(found.replayDistanceMs).toBe(Number.POSITIVE_INFINITY)
  })

  it('refuses a file that is no model, a model of another version and a truncated model', () => {
    expect(() => createKernel(wasm, new Uint8Array(100))).toThrow('not a Keystride model')
    expect(() => createKernel(wasm, blank.with(4, 9))).toThrow('another version')
    expect(() => createKernel(wasm, blank.subarray(0, -4))).toThrow('damaged')
  })

  it('works again after a trap', () => {
    const kernel = createKernel(wasm, shipped)
    expect(() => kernel.read(99, sample(typedBy(1, 0)))).toThrow()
    expect(kernel.score(sample(typedBy(1, 0)), []).botLikelihood).toBeLessThan(0.5)
  })
})
