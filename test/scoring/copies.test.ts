import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { blankModel, encodeModel } from '../../src/calibration/model-file.js'
import { normal, type Random, seededRandom } from '../../src/calibration/random.js'
import type { KeyPress } from '../../src/domain/key-press.js'
import { modelFile, wasmFile } from '../../src/scoring/artifacts.js'
import { copyEvidence, isCopy, mayBeCopy } from '../../src/scoring/copy-evidence.js'
import { createKernel } from '../../src/scoring/kernel.js'
import { encodeSample } from '../../src/scoring/sample.js'
import { searchCopy } from '../../src/scoring/score.js'
import { confirmed, sketchBytesAt, sketchOf } from '../../src/scoring/sketch.js'
import { decode, POPULATION, slowCopies } from './copies-reference.js'
import { typedBy } from './typists.js'

const wasm = readFileSync(wasmFile())
const kernel = createKernel(wasm, readFileSync(modelFile()))
const simple = createKernel(
  wasm,
  encodeModel({
    ...blankModel(),
    means: Float32Array.from(POPULATION.means),
    inverseSds: Float32Array.from(POPULATION.inverseSds),
  }),
)
const sketch = (presses: readonly KeyPress[]) => sketchOf(encodeSample(presses, 'visible'))
const known = (presses: readonly KeyPress[]) => confirmed(sketch(presses))
const noise = (random: Random, keys = 6) =>
  Uint8Array.from({ length: 1 + 3 * 40 }, (_, i) =>
    i === 0 ? 40 : Math.floor(i <= 40 ? 1 + keys * random() : 60 + 60 * random()),
  )

/** Times of the presses as holds and intervals, changed, under the same keys or others. */
const changed = (
  presses: readonly KeyPress[],
  change: (ms: number, i: number) => number,
  keyOf = (key: number) => key,
): KeyPress[] => {
  let now = 0
  return presses.map(({ key, pressMs, releaseMs }, i) => {
    now += i === 0 ? 0 : change(pressMs - (presses[i - 1]?.pressMs ?? 0), i)
    return { key: keyOf(key), pressMs: now, releaseMs: now + change(releaseMs - pressMs, i) }
  })
}
const blurred = (presses: readonly KeyPress[], deviation: number, seed: number) => {
  const random = seededRandom(seed)
  return changed(presses, (ms) => ms * Math.exp(deviation * normal(random)))
}
const PERSON = 3
const sessions = Array.from({ length: 15 }, (_, session) => typedBy(PERSON, session))
const all = sessions.map(known)
const search = (presses: readonly KeyPress[], among = all) => searchCopy(kernel, sketch(presses), among)

describe('a sketch', () => {
  it('has a key and two times for each press, in steps of 2.75 %', () => {
    const presses = [
      { key: 5, pressMs: 1000, releaseMs: 1100 },
      { key: 7, pressMs: 1200, releaseMs: 1290 },
    ]
    const step = (ms: number) => Math.round(Math.log(1 + ms / 10) / 0.0275)
    const expected = { confirmed: false, keys: [5, 7], holds: [step(100), step(90)], intervals: [0, step(200)] }
    expect(decode(sketch(presses))).toEqual(expected)
    expect(decode(known(presses))).toEqual({ ...expected, confirmed: true })
    expect(sketchBytesAt(known(presses), 0)).toBe(7)
  })

  it('excludes presses after the 127th, and has none for an unreadable sample', () => {
    expect(decode(sketch(typedBy(1, 0, 500).concat(typedBy(1, 1, 500), typedBy(1, 2, 500)))).keys).toHaveLength(127)
    expect(sketchOf(new Uint8Array(9))).toEqual(new Uint8Array(1))
  })
})

describe('the measures of a copy', () => {
  it('equal those of the slow reference, for typists, copies and noise', () => {
    const random = seededRandom(3)
    for (let n = 0; n < 60; n++) {
      const typed = () => typedBy(n % 7, Math.floor(1000 * random()))
      const masked = (sketch: Uint8Array) =>
        sketch.map((byte, i) => (i > 0 && i <= (sketch[0] ?? 0) && n % 6 === 5 ? 0 : byte))
      const make = n % 3 === 0 ? () => noise(random, n % 2 === 0 ? 6 : 40) : () => masked(sketch(typed()))
      const among = Array.from({ length: Math.floor(12 * random()) }, () =>
        random() < 0.7 ? confirmed(make()) : make(),
      )
      const original = sketch(typed())
      const probe = n % 3 === 1 ? original : make()
      if (n % 3 === 1) among.push(confirmed(original))
      const [found, expected] = [simple.copies(probe, among), slowCopies(probe, among)]
      expect(found === null).toBe(expected === null)
      if (found === null || expected === null) continue
      expect(found.measures.correlation).toBeCloseTo(expected.correlation, 2)
      expect(Math.abs(found.measures.sources - expected.sources)).toBeLessThan(0.5)
      expect(found.measures.positions).toBe(expected.positions)
    }
  })

  it('are null without known patterns, and 0 or less for a pattern that shares no key pair', () => {
    expect(kernel.copies(sketch(typedBy(1, 0)), [])).toBeNull()
    const foreign = changed(
      typedBy(1, 0),
      (ms) => ms,
      (key) => key + 60,
    )
    const found = kernel.copies(sketch(foreign), [known(typedBy(2, 1))])
    expect(found?.measures.correlation).toBe(0)
    expect(found?.measures.sources).toBeLessThanOrEqual(0)
  })

  it('are found for as many patterns of any length as there are places, whatever their bytes', () => {
    const random = seededRandom(8)
    for (let n = 0; n < 40; n++) {
      const of = (length: number) =>
        Uint8Array.from({ length: 1 + 3 * length }, (_, i) =>
          i === 0 ? length | (random() < 0.5 ? 0x80 : 0) : Math.floor(256 * random()) & (n % 2 === 0 ? 0xff : 0x03),
        )
      const among = Array.from({ length: 90 }, () => of(Math.floor(128 * random())))
      const found = kernel.copies(
        of(Math.floor(128 * random())).map((byte, i) => (i === 0 ? byte & 0x7f : byte)),
        among,
      )
      for (const value of Object.values(found?.measures ?? {})) expect(Number.isFinite(value)).toBe(true)
    }
  })
})

describe('a copy', () => {
  it.each([
    ['exact', (presses: readonly KeyPress[]) => presses],
    [
      'with every time moved by 11 %',
      (presses: readonly KeyPress[]) => changed(presses, (ms, i) => ms * (i % 3 === 0 ? 0.89 : 1.11)),
    ],
    ['blurred by 15 %', (presses: readonly KeyPress[]) => blurred(presses, 0.15, 5)],
    [
      'under other keys',
      (presses: readonly KeyPress[]) =>
        changed(
          presses,
          (ms) => ms,
          (key) => (key < 27 ? 1 + ((key + 6) % 26) : key),
        ),
    ],
    ['of its second half', (presses: readonly KeyPress[]) => presses.slice(presses.length >> 1)],
  ])('is found: %s', (_, edit) => {
    const copy = search(edit(typedBy(PERSON, 14)))
    expect(isCopy(copy)).toBe(true)
    expect(copy?.index).toBe(14)
  })

  it('is found if its presses are taken in turn from two patterns of the same words', () => {
    const [a, b] = [typedBy(PERSON, 8), typedBy(PERSON, 12)]
    let now = 0
    const spliced = a.map(({ key }, i) => {
      const source = i % 2 === 0 ? a : b
      const { pressMs = 0, releaseMs = 0 } = source[i] ?? {}
      now += i === 0 ? 0 : pressMs - (source[i - 1]?.pressMs ?? 0)
      return { key, pressMs: now, releaseMs: now + releaseMs - pressMs }
    })
    expect(isCopy(search(spliced))).toBe(true)
  })

  it('is not what the person types next, nor what another person types', () => {
    const called = Array.from({ length: 200 }, (_, i) => search(typedBy(PERSON, 100 + i))).filter(isCopy)
    expect(called).toEqual([])
    expect(isCopy(search(typedBy(PERSON + 1, 14)))).toBe(false)
  })

  it('is found in sensitive mode, where the keys are masked', () => {
    const hidden = (presses: readonly KeyPress[]) =>
      changed(
        presses,
        (ms) => ms,
        () => 0,
      )
    const among = sessions.map((session) => known(hidden(session)))
    expect(isCopy(search(hidden(blurred(typedBy(PERSON, 14), 0.12, 5)), among))).toBe(true)
    expect(isCopy(search(hidden(typedBy(PERSON, 200)), among))).toBe(false)
  })

  it('is found after any number of failed copies, which are not confirmed', () => {
    const failed = Array.from({ length: 16 }, (_, i) => sketch(blurred(typedBy(PERSON, 14), 0.15, i)))
    expect(isCopy(search(blurred(typedBy(PERSON, 14), 0.15, 99), [...all, ...failed]))).toBe(true)
  })

  it('has presses that were taken from the known patterns, each with a probability', () => {
    const copied = kernel.copiedPresses(sketch(typedBy(PERSON, 14)), all)
    expect(copied).toHaveLength(50)
    expect(copied.filter((probability) => probability > 0.9).length).toBeGreaterThan(45)
    const own = kernel.copiedPresses(sketch(typedBy(PERSON, 500)), all)
    expect(own.filter((probability) => probability > 0.9).length).toBeLessThan(10)
  })
})

describe('the chance of a copy', () => {
  const patterns = { correlation: 1, sources: 2, positions: 3 }
  const chance = (measures: Parameters<typeof copyEvidence>[0]) => copyEvidence(measures, patterns)

  it('falls with each measure, and names the pattern of the one that decides', () => {
    const none = { correlation: 0, sources: 0, positions: 0 }
    expect(chance(none).chance).toBe(1)
    for (const which of ['correlation', 'sources', 'positions'] as const) {
      const [some, more] = [10, 30].map((value) => chance({ ...none, [which]: value }))
      expect(more?.chance).toBeLessThan(some?.chance ?? 0)
      expect(more?.index).toBe(patterns[which])
    }
  })

  it('is in doubt from one sincere pattern in 200 on, and a copy from one in 1,000 on', () => {
    const at = (share: number) => ({ chance: share, index: 0 })
    expect([0.006, 0.004, 0.002, 0.0009].map((share) => [mayBeCopy(at(share)), isCopy(at(share))])).toEqual([
      [false, false],
      [true, false],
      [true, false],
      [true, true],
    ])
    expect([mayBeCopy(null), isCopy(null)]).toEqual([false, false])
  })
})
