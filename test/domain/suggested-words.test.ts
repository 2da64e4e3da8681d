import { describe, expect, it } from 'vitest'
import {
  drawWords,
  HOME_WORDS,
  pairsOf,
  pairWorth,
  SUGGESTED_KEY_PRESSES,
  suggestWordsFor,
  worthiestWords,
} from '../../src/domain/suggested-words.js'
import { coreWords, LANGUAGES } from '../../src/domain/typing-words.js'

const seeds = (n: number) => Array.from({ length: n }, (_, seed) => seed)
const homeOf = (owner: string, words: readonly string[]) => worthiestWords(words, pairWorth(owner), HOME_WORDS)

describe('words suggested to a person', () => {
  it.each(LANGUAGES)(
    'in %s are all different and give 40 key presses or more, from any seed, and repeat for the same seed',
    (language) => {
      for (const seed of seeds(100)) {
        const words = suggestWordsFor(`owner ${seed}`, seed, coreWords(language))
        expect(new Set(words).size).toBe(words.length)
        expect(words.join(' ').length).toBeGreaterThanOrEqual(SUGGESTED_KEY_PRESSES)
        expect(suggestWordsFor(`owner ${seed}`, seed, coreWords(language))).toEqual(words)
      }
    },
  )

  it('are drawn from the same home words at every sign-in, and from others for another person', () => {
    const words = coreWords('en')
    const typed = new Set(seeds(200).flatMap((seed) => suggestWordsFor('ann', seed, words)))
    expect([...typed].sort()).toEqual([...homeOf('ann', words)].sort())
    const shared = seeds(100).map((i) => homeOf(`person ${i}`, words).filter((word) => typed.has(word)).length)
    expect(Math.max(...shared)).toBeLessThan(HOME_WORDS * 0.75)
    const all = new Set(seeds(200).flatMap((i) => homeOf(`person ${i}`, words)))
    expect(all.size).toBeGreaterThan(words.length / 2)
  })

  it.each(LANGUAGES)('in %s share more key pairs with five earlier suggestions than random words do', (language) => {
    const words = coreWords(language)
    const held = (suggest: (seed: number) => string[]) => {
      const known = new Set(seeds(5).flatMap(suggest).flatMap(pairsOf))
      const pairs = [10, 11, 12, 13].flatMap(suggest).flatMap(pairsOf)
      return pairs.filter((pair) => known.has(pair)).length / pairs.length
    }
    const mean = (of: (owner: number) => number) => seeds(20).reduce((sum, owner) => sum + of(owner), 0) / 20
    const random = mean((owner) => held((seed) => drawWords(words, 100 * owner + seed)))
    const chosen = mean((owner) => held((seed) => suggestWordsFor(`owner ${owner}`, 100 * owner + seed, words)))
    expect(chosen).toBeGreaterThan(0.87)
    expect(chosen - random).toBeGreaterThan(0.1)
  })

  it('have key pairs that identify a typist better than those of random words', () => {
    const tells = pairWorth('', 0)
    const worth = (word: string) =>
      pairsOf(word).reduce((sum, pair) => sum + (tells[pair] ?? 0), 0) / pairsOf(word).length
    const mean = (words: readonly string[]) => words.reduce((sum, word) => sum + worth(word), 0) / words.length
    for (const language of LANGUAGES) {
      const chosen = mean(seeds(50).flatMap((seed) => suggestWordsFor(`owner ${seed}`, seed, coreWords(language))))
      // The standard deviation over the words of a language is about 1.4.
      expect(chosen - mean(coreWords(language))).toBeGreaterThan(1)
    }
  })

  it('change by at most one if a word is disabled or added', () => {
    const words = coreWords('de')
    const home = homeOf('ann', words)
    const without = homeOf(
      'ann',
      words.filter((word) => word !== home[3]),
    )
    expect(without.filter((word) => home.includes(word))).toHaveLength(HOME_WORDS - 1)
    expect(without).not.toContain(home[3])
    const more = homeOf('ann', [...words, 'zephyr'])
    expect(more.filter((word) => home.includes(word)).length).toBeGreaterThanOrEqual(HOME_WORDS - 1)
  })

  it('may contain letters, digits and marks without a measured worth', () => {
    const odd = seeds(30).map((i) => `éç-ñ'${i}ø`)
    const words = suggestWordsFor('ann', 1, odd)
    expect(words.join(' ').length).toBeGreaterThanOrEqual(SUGGESTED_KEY_PRESSES)
  })
})
