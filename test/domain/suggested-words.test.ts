import { describe, expect, it } from 'vitest'
import {
  drawWords,
  ENROLLED_TOGETHER,
  pairsOf,
  pairWorth,
  SUGGESTED_KEY_PRESSES,
  suggestWordsFor,
} from '../../src/domain/suggested-words.js'
import { coreWords, LANGUAGES } from '../../src/domain/typing-words.js'

const counted = (n: number) => Array.from({ length: n }, (_, i) => i)
/** All enrolled patterns of an owner, and sign-ins. */
const enrolled = (owner: string, words: readonly string[], seed = 0) =>
  counted(ENROLLED_TOGETHER).map((n) => suggestWordsFor(owner, words, { enrolls: true, n }, seed + n))
const signIn = (owner: string, words: readonly string[], n: number, seed = n) =>
  suggestWordsFor(owner, words, { enrolls: false, n }, seed)
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

describe('words suggested to a person', () => {
  it.each(LANGUAGES)(
    'in %s are all different and give 40 key presses or more, from any seed, and repeat for the same seed',
    (language) => {
      const words = coreWords(language)
      for (const seed of counted(100))
        for (const enrolls of [true, false]) {
          const suggest = () => suggestWordsFor(`owner ${seed}`, words, { enrolls, n: 3 * seed }, seed)
          const suggested = suggest()
          expect(new Set(suggested).size).toBe(suggested.length)
          expect(suggested.join(' ').length).toBeGreaterThanOrEqual(SUGGESTED_KEY_PRESSES)
          expect(suggest()).toEqual(suggested)
        }
    },
  )

  it.each(LANGUAGES)(
    'in %s come again in no later pattern of the enrollment and in none of 48 sign-ins',
    (language) => {
      const words = coreWords(language)
      for (const owner of ['ann', 'bob', 'cy', 'dee']) {
        const before = enrolled(owner, words).flat()
        expect(new Set(before).size).toBe(before.length)
        const signIns = counted(200).map((n) => signIn(owner, words, n))
        for (const [n, own] of signIns.entries()) {
          const typed = new Set([...signIns.slice(Math.max(0, n - 48), n).flat(), ...before])
          expect(own.filter((word) => typed.has(word))).toEqual([])
        }
        expect(new Set(signIns.map((own) => own.join(' '))).size).toBe(signIns.length)
      }
    },
  )

  it('are of no earlier sign-in, however often somebody asks for other ones', () => {
    const words = coreWords('en')
    const before = new Set([...counted(48).flatMap((n) => signIn('ann', words, n)), ...enrolled('ann', words).flat()])
    const asked = counted(1000).flatMap((seed) => signIn('ann', words, 48, seed))
    expect(asked.filter((word) => before.has(word))).toEqual([])
    expect(new Set(asked).size).toBeGreaterThanOrEqual(10)
  })

  it.each(LANGUAGES)(
    'in %s have the key pairs of the enrollment at sign-ins, more than random words do',
    (language) => {
      const words = coreWords(language)
      const share = (patterns: readonly (readonly string[])[], own: readonly string[]) => {
        const held = new Set(patterns.flat().flatMap(pairsOf))
        const pairs = own.flatMap(pairsOf)
        return pairs.filter((pair) => held.has(pair)).length / pairs.length
      }
      const owners = counted(20).map((i) => `owner ${i}`)
      const chosen = mean(
        owners.flatMap((owner) => counted(10).map((n) => share(enrolled(owner, words), signIn(owner, words, n)))),
      )
      const random = mean(
        counted(200).map((i) =>
          share(
            counted(ENROLLED_TOGETHER).map((n) => drawWords(words, 10 * i + n)),
            drawWords(words, 10 * i + 9),
          ),
        ),
      )
      expect(chosen).toBeGreaterThan(0.8)
      expect(chosen - random).toBeGreaterThan(0.1)
    },
  )

  it('of an enrollment have key pairs that identify a typist, and differ between people', () => {
    const words = coreWords('en')
    const all = counted(60).map((i) => [...enrolled(`person ${i}`, words).flat()].sort().join())
    expect(new Set(all).size).toBeGreaterThan(10)
    const nats = pairWorth('', 0)
    const worth = (own: readonly string[]) => mean(own.flatMap(pairsOf).map((pair) => nats[pair] ?? 0))
    expect(worth(enrolled('ann', words).flat())).toBeGreaterThan(worth(words))
  })

  it('at sign-ins come in another order of their own for each person', () => {
    const words = coreWords('en')
    const firsts = counted(50).map((i) => new Set(counted(5).flatMap((n) => signIn(`person ${i}`, words, n))))
    const shared = firsts.slice(1).map((own) => [...own].filter((word) => firsts[0]?.has(word)).length / own.size)
    expect(Math.max(...shared)).toBeLessThan(0.6)
  })

  it('may contain letters, digits and marks without a measured worth', () => {
    const odd = counted(30).map((i) => `éç-ñ'${i}ø`)
    for (const enrolls of [true, false])
      expect(suggestWordsFor('ann', odd, { enrolls, n: 1 }, 1).join(' ').length).toBeGreaterThanOrEqual(
        SUGGESTED_KEY_PRESSES,
      )
  })
})
