import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { blankModel, encodeModel } from '../../src/calibration/model-file.js'
import { normal, seededRandom } from '../../src/calibration/random.js'
import type { KeyPress } from '../../src/domain/key-press.js'
import { REPLAY_BANDS } from '../../src/domain/replay.js'
import { wasmFile } from '../../src/scoring/artifacts.js'
import { createKernel } from '../../src/scoring/kernel.js'
import { pressTimes } from '../../src/scoring/read-pattern.js'
import { referenceMark, sipHash } from './replay-mark-reference.js'
import { typedBy } from './typists.js'

const kernel = createKernel(readFileSync(wasmFile()), encodeModel(blankModel()))
const key = new Uint8Array(32).fill(9)
const replayMark = (presses: readonly KeyPress[], replayKey: Uint8Array) => kernel.mark(pressTimes(presses), replayKey)
const shared = (a: readonly KeyPress[], b: readonly KeyPress[]): number => {
  const theirs = replayMark(b, key).bands
  return replayMark(a, key).bands.filter((band) => theirs.includes(band)).length
}
const moved = (presses: readonly KeyPress[], change: (ms: number) => number): KeyPress[] =>
  presses.map((press) => ({ ...press, pressMs: change(press.pressMs), releaseMs: change(press.releaseMs) }))

describe('replay mark', () => {
  it('has eight signed 64-bit bands and sixteen exact bytes', () => {
    const mark = replayMark(typedBy(1, 0), key)
    expect(mark.exact).toHaveLength(16)
    expect(mark.bands).toHaveLength(REPLAY_BANDS)
    for (const band of mark.bands) expect(BigInt.asIntN(64, band)).toBe(band)
  })

  it('equals the slow reference, for 1 to 500 presses', () => {
    const random = seededRandom(4)
    const own = Uint8Array.from({ length: 32 }, () => 256 * random())
    for (const n of [1, 2, 3, 14, 15, 30, 113, 114, 499, 500]) {
      const times = typedBy(n, 0, n).flatMap(({ pressMs, releaseMs }) => [pressMs, releaseMs])
      const { exact, bands } = kernel.mark(Float64Array.from(times), own)
      const wanted = referenceMark(times, own)
      expect(bands).toEqual(wanted.bands)
      expect(BigInt(`0x${Buffer.from(exact).reverse().toString('hex')}`)).toBe(wanted.exact)
    }
  })

  it('uses SipHash that matches the test vectors of its authors', () => {
    const published = Uint8Array.from({ length: 16 }, (_, i) => i)
    expect(sipHash(published, published.subarray(0, 15), false)).toBe(0xa129ca6149be45e5n)
    expect(sipHash(published, published.subarray(0, 8), false)).toBe(0x93f5f5799a932462n)
  })

  it('is the same for the same timings after a shift to an epoch clock with fractions', () => {
    const typed = typedBy(1, 0)
    const later = moved(typed, (ms) => ms + 1_700_000_000_000.3)
    expect(replayMark(later, key)).toEqual(replayMark(typed, key))
  })

  it('depends on the replay key', () => {
    const typed = typedBy(1, 0)
    const other = replayMark(typed, new Uint8Array(32).fill(8))
    expect(other.exact).not.toEqual(replayMark(typed, key).exact)
  })

  it.each([0.97, 0.99, 1.01, 1.03])('recognizes a pattern scaled by %f', (scale) => {
    for (let person = 0; person < 50; person++) {
      const typed = typedBy(person, 0, 15 + (person % 36))
      const scaled = moved(typed, (ms) => ms * scale)
      expect(shared(typed, scaled)).toBeGreaterThan(0)
    }
  })

  it.each([
    [1, 0.999],
    [2, 0.995],
    [5, 0.9],
  ])('recognizes a pattern jittered by up to %i ms in at least a share of %f', (jitterMs, share) => {
    const random = seededRandom(jitterMs)
    let known = 0
    for (let i = 0; i < 400; i++) {
      const typed = typedBy(i, i, 15 + (i % 36))
      const jittered = moved(typed, (ms) => ms + jitterMs * (2 * random() - 1))
      if (shared(typed, jittered) > 0) known++
    }
    expect(known / 400).toBeGreaterThanOrEqual(share)
  })

  it('matches at most three of 400 pairs of different sessions of one person, of the same text and of different texts', () => {
    const random = seededRandom(3)
    let called = 0
    for (let person = 0; person < 200; person++) {
      const typed = typedBy(person, 0)
      const again = moved(typed, (ms) => ms + 40 * normal(random))
      for (const other of [typedBy(person, 4), again]) if (shared(typed, other) > 0) called++
    }
    expect(called).toBeLessThanOrEqual(3)
  })
})
