import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { blankModel, encodeModel } from '../../src/calibration/model-file.js'
import { type Random, seededRandom } from '../../src/calibration/random.js'
import type { KeyPress } from '../../src/domain/key-press.js'
import { wasmFile } from '../../src/scoring/artifacts.js'
import { createKernel } from '../../src/scoring/kernel.js'
import { encodeSample } from '../../src/scoring/sample.js'
import { isCopy } from '../../src/scoring/score.js'
import { confirmed, sketchBytesAt, sketchOf } from '../../src/scoring/sketch.js'
import { decode, slowRepeats } from './repeats-reference.js'
import { typedBy } from './typists.js'

const kernel = createKernel(readFileSync(wasmFile()), encodeModel(blankModel()))
const sketch = (presses: readonly KeyPress[]) => sketchOf(encodeSample(presses, 'visible'))
const stretched = (presses: readonly KeyPress[], factor: (i: number) => number): KeyPress[] => {
  let now = 0
  return presses.map(({ key, pressMs, releaseMs }, i) => {
    now += i === 0 ? 0 : (pressMs - (presses[i - 1]?.pressMs ?? 0)) * factor(i)
    return { key, pressMs: now, releaseMs: now + (releaseMs - pressMs) * factor(i) }
  })
}
const later = (presses: readonly KeyPress[], at: number, ms: number): KeyPress[] =>
  presses.map((press, i) =>
    i < at ? press : { ...press, pressMs: press.pressMs + ms, releaseMs: press.releaseMs + ms },
  )
const noise = (random: Random) =>
  Uint8Array.from({ length: 1 + 3 * 40 }, (_, i) => (i === 0 ? 40 : Math.floor((i <= 40 ? 6 : 60) * random())))

describe('a sketch', () => {
  it('has a key and two times for each press, in steps of 2.75 %', () => {
    const presses = [
      { key: 5, pressMs: 1000, releaseMs: 1100 },
      { key: 7, pressMs: 1200, releaseMs: 1290 },
    ]
    const step = (ms: number) => Math.round(Math.log(1 + ms / 10) / 0.0275)
    const expected = { confirmed: false, keys: [5, 7], holds: [step(100), step(90)], intervals: [0, step(200)] }
    expect(decode(sketch(presses))).toEqual(expected)
    expect(decode(confirmed(sketch(presses)))).toEqual({ ...expected, confirmed: true })
    expect(sketchBytesAt(confirmed(sketch(presses)), 0)).toBe(7)
  })

  it('excludes presses after the 127th, and has none for an unreadable sample', () => {
    expect(decode(sketch(typedBy(1, 0, 500).concat(typedBy(1, 1, 500), typedBy(1, 2, 500)))).keys).toHaveLength(127)
    expect(sketchOf(new Uint8Array(9))).toEqual(new Uint8Array(1))
  })
})

describe('repeats of known patterns', () => {
  it('equal those of the slow reference, for typists and for noise', () => {
    const random = seededRandom(3)
    for (let n = 0; n < 200; n++) {
      const make = n % 2 === 0 ? () => noise(random) : () => sketch(typedBy(n % 7, Math.floor(1000 * random())))
      const known = Array.from({ length: Math.floor(20 * random()) }, () =>
        random() < 0.7 ? confirmed(make()) : make(),
      )
      const probe = make()
      const [found, expected] = [kernel.repeats(probe, known), slowRepeats(probe, known)]
      expect(found === null).toBe(expected === null)
      if (found === null || expected === null) continue
      expect({ ...found, evidence: 0 }).toEqual({ ...expected, evidence: 0 })
      expect(found.evidence).toBeCloseTo(expected.evidence, 9)
    }
  })

  const known = Array.from({ length: 12 }, (_, session) => typedBy(3, session))
  const sketches = Buffer.concat(known.map((one) => confirmed(sketch(one))))
  const capture = known[9] ?? []
  it.each<[string, KeyPress[]]>([
    ['the same', capture],
    ['with one pause longer', later(capture, 20, 300)],
    ['without its first ten presses', capture.slice(10)],
    ['of its first 15 presses', capture.slice(0, 15)],
    ['scaled by 1.2', stretched(capture, () => 1.2)],
    ['with halves scaled by 1.03 and 0.97', stretched(capture, (i) => (i < 25 ? 1.03 : 0.97))],
    ['warped smoothly by 4 %', stretched(capture, (i) => 1 + 0.04 * Math.sin(i / 3))],
    ['without a press, and with a pause', later(capture.toSpliced(15, 1), 30, 200)],
  ])('are a copy if the pattern is %s', (_, presses) => {
    const repeat = kernel.repeats(sketch(presses), [sketches])
    expect(repeat?.index).toBe(9)
    expect(isCopy(repeat)).toBe(true)
  })

  it('are no copy if the same person types the same text again', () => {
    for (let session = 12; session < 200; session++)
      expect(isCopy(kernel.repeats(sketch(typedBy(3, session)), [sketches]))).toBe(false)
  })

  it('are a copy even if many refused copies are known', () => {
    const copies = Array.from({ length: 40 }, (_, i) => sketch(later(capture, 1 + i, 100 + 7 * i)))
    expect(isCopy(kernel.repeats(sketch(later(capture, 45, 150)), [sketches, ...copies]))).toBe(true)
  })

  it('are none without known patterns', () => {
    expect(kernel.repeats(sketch(capture), [])).toBeNull()
    expect(isCopy(null)).toBe(false)
  })
})
