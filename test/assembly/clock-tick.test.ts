import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { blankModel, encodeModel } from '../../src/calibration/model-file.js'
import type { KeyPress } from '../../src/domain/key-press.js'
import { wasmFile } from '../../src/scoring/artifacts.js'
import { createKernel } from '../../src/scoring/kernel.js'
import { encodeSample } from '../../src/scoring/sample.js'
import { typedBy } from '../scoring/typists.js'

const kernel = createKernel(new Uint8Array(readFileSync(wasmFile())), encodeModel(blankModel()))

const onTick = (presses: readonly KeyPress[], tickMs: number): KeyPress[] =>
  presses.map(({ key, pressMs, releaseMs }) => ({
    key,
    pressMs: Math.round(pressMs / tickMs) * tickMs,
    releaseMs: Math.round(releaseMs / tickMs) * tickMs,
  }))

/** The coarseness of references on one clock, compared with a probe on another. */
function coarseness(referencesMs: number, probeMs: number): number {
  for (let slot = 1; slot <= 5; slot++)
    kernel.read(slot, encodeSample(onTick(typedBy(3, slot, 50), referencesMs), 'visible'))
  kernel.read(0, encodeSample(onTick(typedBy(4, 7, 50), probeMs), 'visible'))
  kernel.enroll(5)
  return kernel.compare(5).at(-3) ?? Number.NaN
}

describe('the coarseness of the clock', () => {
  it('grows with the tick of the references', () => {
    const [one, eight, sixteen] = [1, 8, 15.625].map((tick) => coarseness(tick, 1))
    expect(Math.abs(one ?? 1)).toBeLessThan(0.4)
    expect(eight).toBeGreaterThan(1.3)
    expect(sixteen).toBeGreaterThan((eight ?? 9) + 0.4)
  })

  it('says nothing of the probe', () => {
    expect(coarseness(1, 8)).toBe(coarseness(1, 1))
    expect(coarseness(8, 1)).toBe(coarseness(8, 8))
  })
})
