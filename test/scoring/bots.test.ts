import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type AttackModel, capturedFrom, synthesize } from '../../src/calibration/attack-models.js'
import { seededRandom } from '../../src/calibration/random.js'
import type { KeyPress } from '../../src/domain/key-press.js'
import { modelFile, wasmFile } from '../../src/scoring/artifacts.js'
import { createKernel } from '../../src/scoring/kernel.js'
import { encodeSample } from '../../src/scoring/sample.js'
import { typedBy } from './typists.js'

const kernel = createKernel(new Uint8Array(readFileSync(wasmFile())), new Uint8Array(readFileSync(modelFile())))
const likelihood = (presses: readonly KeyPress[]): number =>
  kernel.score(encodeSample(presses, 'visible'), []).botLikelihood
const evenly = (holdMs: number, flightMs: number, n = 40): KeyPress[] =>
  Array.from({ length: n }, (_, i) => ({ key: 1 + (i % 20), pressMs: i * flightMs, releaseMs: i * flightMs + holdMs }))

describe('the bot likelihood', () => {
  it.each([15, 25, 50, 200])('classifies %i constant intervals as a bot', (n) => {
    expect(likelihood(evenly(80, 120, n))).toBeGreaterThan(0.5)
  })

  it('classifies typing without flights as a bot', () => {
    expect(likelihood(evenly(1, 0, 40))).toBeGreaterThan(0.5)
  })

  it('classifies constant holds with human flights as a bot', () => {
    const typed = typedBy(1, 0).map((press) => ({ ...press, releaseMs: press.pressMs + 60 }))
    expect(likelihood(typed)).toBeGreaterThan(0.5)
  })

  it.each<AttackModel>(['S3', 'S4'])(
    'classifies %s drawn from the population as a bot in at least 65 of 100 cases, at 50 keys without Shift',
    (attackModel) => {
      const random = seededRandom(5)
      const population = capturedFrom(Array.from({ length: 40 }, (_, person) => typedBy(person, 0)))
      let called = 0
      for (let i = 0; i < 100; i++) {
        if (likelihood(synthesize(attackModel, typedBy(i, i), population, { gridMs: 1, random })) > 0.5) called++
      }
      expect(called).toBeGreaterThanOrEqual(65)
    },
  )

  it('classifies at most 10 of 100 synthetic people as a bot', () => {
    let called = 0
    for (let person = 0; person < 100; person++) if (likelihood(typedBy(person, person)) > 0.5) called++
    expect(called).toBeLessThanOrEqual(10)
  })
})
