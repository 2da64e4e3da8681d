import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { CONDITIONS } from '../../src/calibration/model-file.js'
import { modelFile, wasmFile } from '../../src/scoring/artifacts.js'
import { createKernel } from '../../src/scoring/kernel.js'
import { encodeSample } from '../../src/scoring/sample.js'
import { typedBy } from '../scoring/typists.js'

const read = (file: string) => new Uint8Array(readFileSync(file))
const kernel = createKernel(read(wasmFile()), read(modelFile()))
const presses = (who: number, session: number) => typedBy(who, session, 45)
const sample = (who: number, session: number) => encodeSample(presses(who, session), 'visible')
const references = [1, 2, 3, 4, 5].map((session) => sample(1, session))

describe('explain', () => {
  it('gives the distances that measure sums: their mean over the presses is the first statistic of the fusion', () => {
    for (const who of [1, 2, 3, 4]) {
      kernel.score(sample(who, 9), references)
      const first = kernel.compare(5).slice(CONDITIONS, CONDITIONS + 4)
      const rows = kernel.explain()
      const n = rows.length / 16
      expect(n).toBe(45)
      for (const kind of [0, 1, 2, 3]) {
        let sum = 0
        for (let i = 0; i < n; i++) sum += rows[16 * i + kind] ?? 0
        expect(sum / (kind === 0 ? n : n - 1)).toBeCloseTo(first[kind] ?? Number.NaN, 4)
      }
    }
  })

  it('gives the typed times in ms, and only a hold for the first press', () => {
    kernel.score(sample(2, 9), references)
    const rows = kernel.explain()
    const typed = presses(2, 9)
    expect([...rows.slice(0, 16)].filter((_, i) => i % 4 !== 0)).toEqual(Array(12).fill(0))
    typed.forEach((press, i) => {
      const before = typed[i - 1]
      expect(rows[16 * i + 8]).toBeCloseTo(press.releaseMs - press.pressMs, 2)
      if (before === undefined) return
      expect(rows[16 * i + 9]).toBeCloseTo(press.pressMs - before.pressMs, 2)
      expect(rows[16 * i + 10]).toBeCloseTo(press.pressMs - before.releaseMs, 2)
      expect(rows[16 * i + 11]).toBeCloseTo(press.releaseMs - before.releaseMs, 2)
    })
  })

  it('counts how often the references hold a key', () => {
    kernel.score(sample(2, 9), references)
    const rows = kernel.explain()
    const held = [1, 2, 3, 4, 5].flatMap((session) => presses(1, session)).map(({ key }) => key)
    presses(2, 9).forEach(({ key }, i) => {
      expect(rows[16 * i + 12]).toBe(held.filter((other) => other === key).length)
    })
  })

  it('changes no score', () => {
    const before = kernel.score(sample(3, 9), references)
    kernel.explain()
    const after = kernel.scoreRead(5)
    expect(Object.is(after.fused, before.fused)).toBe(true)
    expect(Object.is(after.confidence, before.confidence)).toBe(true)
    expect(Object.is(after.liveness, before.liveness)).toBe(true)
  })
})
