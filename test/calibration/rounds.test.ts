import { describe, expect, it } from 'vitest'
import type { Subject } from '../../src/calibration/dataset.js'
import { seededRandom } from '../../src/calibration/random.js'
import { composedText } from '../../src/calibration/rounds.js'

const PIECES = 20
/** Writers whose presses tell the piece they are of: `pressMs` of the first press is 1,000 x writer + piece. */
const writers: Subject[] = [0, 1, 2, 3, 4, 5].map((id) => ({
  id,
  sessions: new Map(
    Array.from({ length: PIECES }, (_, piece) => [
      String(piece),
      Array.from({ length: 60 }, (__, i) => ({
        key: 1,
        pressMs: 1000 * id + piece + i,
        releaseMs: 1000 * id + piece + i + 1,
      })),
    ]),
  ),
}))
const [writerOf, pieceOf] = [
  (session: readonly { readonly pressMs: number }[]) => Math.floor((session[0]?.pressMs ?? 0) / 1000),
  (session: readonly { readonly pressMs: number }[]) => (session[0]?.pressMs ?? 0) % 1000,
]

describe('rounds of composed text', () => {
  it.each(['same', 'later'] as const)(
    'have references and probes of one writer, and impostors of others (%s)',
    (sitting) => {
      const rounds = [...composedText(writers, sitting, seededRandom(1))]
      expect(rounds).toHaveLength(5 * writers.length)
      for (const { references, genuine, impostors } of rounds) {
        const [own] = references.map(writerOf)
        expect(new Set([...references, ...genuine].map(writerOf))).toEqual(new Set([own]))
        expect(impostors.length).toBeGreaterThan(0)
        expect(impostors.map(writerOf)).not.toContain(own)
        expect(genuine.length).toBeGreaterThan(0)
        const enrolled = references.map(pieceOf)
        expect(genuine.map(pieceOf).filter((piece) => enrolled.includes(piece))).toEqual([])
        if (sitting === 'same') continue
        expect(Math.max(...enrolled)).toBeLessThan(PIECES / 2)
        expect(Math.min(...genuine.map(pieceOf))).toBeGreaterThanOrEqual((3 * PIECES) / 4)
      }
    },
  )

  it('have neighbouring references in about half of the rounds of one sitting', () => {
    const rounds = Array.from({ length: 20 }, (_, seed) => [
      ...composedText(writers, 'same', seededRandom(seed)),
    ]).flat()
    const neighbouring = rounds.filter(({ references }) =>
      references.every((reference, i) => i === 0 || pieceOf(reference) === pieceOf(references[i - 1] ?? []) + 1),
    )
    expect(neighbouring.length / rounds.length).toBeGreaterThan(0.4)
    expect(neighbouring.length / rounds.length).toBeLessThan(0.6)
  })
})
