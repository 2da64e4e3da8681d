import { describe, expect, it } from 'vitest'
import { normal, seededRandom } from '../../src/calibration/random.js'
import type { KeyPress } from '../../src/domain/key-press.js'
import { alignmentScore, sharesPart, sharesPartInTurns } from '../../src/scoring/alignment.js'
import { encodeSample } from '../../src/scoring/sample.js'
import { typedBy } from './typists.js'

const sample = (presses: readonly KeyPress[]): Uint8Array => encodeSample(presses, 'visible')
const typed = typedBy(1, 0, 50)
const shifted = (presses: readonly KeyPress[], ms: number): KeyPress[] =>
  presses.map((press) => ({ ...press, pressMs: press.pressMs + ms, releaseMs: press.releaseMs + ms }))

describe('alignment of two patterns', () => {
  it.each([
    ['the same', typed],
    ['with other keys', typed.map((press) => ({ ...press, key: 1 }))],
    ['with six longer pauses', typed.map((press, i) => shifted([press], 200 * Math.floor(i / 8))[0] ?? press)],
    ['without three keys', typed.filter((_, i) => ![7, 21, 40].includes(i))],
    [
      'a fifth slower',
      typed.map((press) => ({ ...press, pressMs: 1.2 * press.pressMs, releaseMs: 1.2 * press.releaseMs })),
    ],
    ['its last 15 presses', typed.slice(35)],
    ['its halves swapped', [...typed.slice(25), ...shifted(typed.slice(0, 25), 60_000)]],
    [
      'in the middle of another',
      [...typedBy(2, 0, 60), ...shifted(typed, 60_000), ...shifted(typedBy(3, 0, 60), 120_000)],
    ],
  ])('finds the part that is in both: %s', async (_, copy) => {
    expect(sharesPart(sample(copy), sample(typed))).toBe(true)
    expect(await sharesPartInTurns(sample(copy), sample(typed))).toBe(true)
    expect(sharesPart(sample(typed), sample(copy))).toBe(true)
  })

  it('finds none in 500 pairs of different typings, of the same text and of different texts', () => {
    const random = seededRandom(7)
    let highest = 0
    for (let person = 0; person < 250; person++) {
      const one = typedBy(person, 0, 50)
      const again = one.map((press) => ({ ...press, releaseMs: press.releaseMs + 15 * normal(random) }))
      let later = 0
      const varied = again.map((press) => {
        later += 25 * normal(random)
        return { ...press, pressMs: press.pressMs + later, releaseMs: press.releaseMs + later }
      })
      for (const other of [typedBy(person, 4, 50), varied])
        highest = Math.max(highest, alignmentScore(sample(one), sample(other)))
    }
    expect(highest).toBeGreaterThan(0)
    expect(highest).toBeLessThan(16)
  })

  it('is 0 for a sample of another version', () => {
    expect(alignmentScore(new Uint8Array([99, 0, 1, 0]), sample(typed))).toBe(0)
  })

  it('lets the event loop go on while it compares long patterns', async () => {
    const [a, b] = [sample(typedBy(4, 0, 500)), sample(typedBy(5, 0, 500))]
    let turns = 0
    let compares = true
    const turn = () => {
      turns++
      if (compares) setImmediate(turn)
    }
    setImmediate(turn)
    expect(await sharesPartInTurns(a, b)).toBe(false)
    compares = false
    expect(turns).toBeGreaterThan(5)
    expect(sharesPart(a, b)).toBe(false)
  })
})
