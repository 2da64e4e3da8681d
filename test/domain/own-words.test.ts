import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  checkChange,
  normalizeWord,
  OWN_WORDS_MAX,
  type TypingWord,
  USABLE_WORDS_MIN,
  usableWords,
  Word,
  wordPools,
} from '../../src/domain/own-words.js'
import { Refusal } from '../../src/domain/refusal.js'
import { SUGGESTED_KEY_PRESSES, suggestWordsFor } from '../../src/domain/suggested-words.js'
import { CORE_POOLS, coreWords, LANGUAGES, type Language } from '../../src/domain/typing-words.js'

const own = (word: string, changes: Partial<TypingWord> = {}): TypingWord => {
  return { id: `own ${word}`, word, language: 'en', core: false, enabled: true, ...changes }
}
const disabledCore = (word: string, language: Language = 'en'): TypingWord => {
  return { id: `core ${language} ${word}`, word, language, core: true, enabled: false }
}
/** Words that no list ships: `azzq`, `bzzq`, `czzq`, ... */
const made = (count: number) =>
  Array.from({ length: count }, (_, i) => `${[...i.toString(26)].map((digit) => letterOf(digit)).join('')}zzq`)
const letterOf = (digit: string) => String.fromCharCode(97 + Number.parseInt(digit, 26))
/** The refusal of the change; null if it is accepted. */
const refusal = (...change: Parameters<typeof checkChange>) => {
  try {
    checkChange(...change)
    return null
  } catch (error) {
    if (error instanceof Refusal) return error.kind
    throw error
  }
}

/** Words of a wrong length, with spaces, digits or joints in wrong places, control characters, markup or other scripts. */
// biome-ignore format: many short cases, some to a line
const REFUSED = [
  '', 'a', 'a'.repeat(25), 'two words', ' word', 'word\n', '3com', '2024', '-word', 'word-', 'a--b', "word'", 'wo\u0000rd', 'wo\u200brd', 'wo\u202erd', 'wo\u00adrd',
  '<b>word', 'wo"rd', 'wоrd', '言葉', 'x\u0301y', 'wo😀rd', 'wo\ud800rd', 'a×b',
]

describe('an own word', () => {
  it.each([
    ['Zephyr', 'zephyr'],
    ['ÉTÉ', 'été'],
    ['e\u0301te\u0301', 'été'],
    ['L’Orient', "l'orient"],
    ['aujourd\u2019hui', "aujourd'hui"],
    ['porte\u2010monnaie', 'porte-monnaie'],
    ['Straße', 'straße'],
    ['STRAẞE', 'straße'],
    ['zĳn', 'zijn'],
    ['ｚｏｏ', 'zoo'],
    ['øl', 'øl'],
    ['łódź', 'łódź'],
    ['mp3', 'mp3'],
    ['a'.repeat(24), 'a'.repeat(24)],
  ])('%j is kept as %j', (text, word) => expect(normalizeWord(text)).toBe(word))

  it('is refused in any other form, and the message does not repeat it', () => {
    for (const text of REFUSED) {
      expect([text, normalizeWord(text)]).toEqual([text, null])
      const { error } = Word.safeParse(text)
      expect(error?.message).toBeDefined()
      if (text.length > 4) expect(error?.message).not.toContain(text)
    }
  })

  it('is stored in one form for any input: short, of letters, digits and single joints', () => {
    const pieces = fc.constantFrom(...'abzÀéßŒıİĳſŉK0９’‐\'-\u0301 \n\u200b<"&'.split(''))
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: pieces, maxLength: 30 }))
    fc.assert(
      fc.property(text, (given) => {
        const word = normalizeWord(given)
        if (word === null) return
        expect(normalizeWord(word)).toBe(word)
        expect(word.normalize('NFC')).toBe(word)
        expect(word).toBe(word.toLowerCase())
        expect(word).toMatch(/^\p{Ll}(?:['-]?[\p{Ll}0-9])+$/u)
        expect(word).toMatch(/^[\p{Script=Latin}0-9'-]{2,24}$/u)
      }),
      { seed: 1, numRuns: 2000 },
    )
  })
  it('keeps the form of every shipped word', () => {
    for (const language of LANGUAGES) for (const word of coreWords(language)) expect(normalizeWord(word)).toBe(word)
  })
})

describe('a change of a language', () => {
  it('accepts a word once, and no shipped word, enabled or disabled', () => {
    const stored = [own('zephyr'), own('quokka', { enabled: false }), disabledCore('house')]
    const taken = [
      ...[own('zephyr', { id: 'other' }), own('quokka', { id: 'other' }), own('house'), own('water')],
      { ...own('zephyr'), word: 'quokka' },
    ]
    for (const put of taken) expect([put.word, refusal('en', stored, { put })]).toEqual([put.word, 'typing-word-taken'])
    expect(refusal('en', stored, { put: own('vuvuzela') })).toBeNull()
  })

  it('may enable or disable an own word that a later version of the product ships', () => {
    const stored = [own('house')]
    expect(refusal('en', stored, { put: own('house', { enabled: false }) })).toBeNull()
  })

  it(`accepts ${OWN_WORDS_MAX} own words and edits of each`, () => {
    const words = made(OWN_WORDS_MAX + 1).map((word) => own(word))
    const [last, ...stored] = words
    if (last === undefined || stored[0] === undefined) throw new Error('no words')
    expect(refusal('en', stored.slice(1), { put: last })).toBeNull()
    expect(refusal('en', stored, { put: last })).toBe('typing-words-bound')
    expect(refusal('en', stored, { put: { ...stored[0], word: 'zephyr' } as TypingWord })).toBeNull()
  })

  it(`must leave ${USABLE_WORDS_MIN} enabled words; below that, adding and enabling are allowed`, () => {
    const [first = '', ...rest] = coreWords('en')
    const disabled = rest.slice(USABLE_WORDS_MIN - 1).map((word) => disabledCore(word))
    expect(usableWords('en', disabled)).toHaveLength(USABLE_WORDS_MIN)
    expect(refusal('en', disabled, { put: disabledCore(first) })).toBe('typing-words-bound')
    const withOwn = [...disabled, own('zephyr')]
    expect(refusal('en', withOwn, { put: disabledCore(first) })).toBeNull()
    const tight = [...withOwn, disabledCore(first)]
    expect(refusal('en', tight, { drop: own('zephyr').id })).toBe('typing-words-bound')
    expect(refusal('en', tight, { put: own('zephyr', { enabled: false }) })).toBe('typing-words-bound')
    expect(refusal('en', tight, { drop: disabledCore(first).id })).toBeNull()
    const below = [...tight, disabledCore(rest[0] ?? ''), own('quokka', { enabled: false })]
    expect(usableWords('en', below)).toHaveLength(USABLE_WORDS_MIN - 1)
    expect(refusal('en', below, { put: own('vuvuzela') })).toBeNull()
    expect(refusal('en', below, { put: own('quokka') })).toBeNull()
    expect(refusal('en', below, { drop: own('quokka').id })).toBeNull()
  })
})

describe('suggested words of an organization', () => {
  /** A language with any shipped words disabled and any own words added. */
  const changed = fc
    .record({
      language: fc.constantFrom(...LANGUAGES),
      keep: fc.double({ min: 0, max: 1, noNaN: true }),
      dice: fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
      ownWords: fc.uniqueArray(fc.stringMatching(/^[a-zéü][a-zéü'0-9]{1,12}$/), { maxLength: 60 }),
      ownEnabled: fc.boolean(),
    })
    .map(({ language, keep, dice, ownWords, ownEnabled }) => ({
      language,
      stored: [
        ...coreWords(language)
          .filter(() => dice.next().value > keep)
          .map((word) => disabledCore(word, language)),
        ...ownWords
          .filter((word) => !coreWords(language).includes(word))
          .map((word) => own(word, { language, enabled: ownEnabled })),
      ],
    }))

  const turns = fc.record({ enrolls: fc.boolean(), n: fc.nat(10_000) })

  it('are distinct enabled words of the right language only, with at least 40 key presses', () => {
    fc.assert(
      fc.property(changed, turns, fc.integer({ min: 0, max: 2 ** 32 - 1 }), ({ language, stored }, turn, seed) => {
        const usable = usableWords(language, stored)
        const words = suggestWordsFor('ann', wordPools(stored)[language], turn, seed)
        const allowed = new Set(usable.length >= USABLE_WORDS_MIN ? usable : coreWords(language))
        expect(words.filter((word) => !allowed.has(word))).toEqual([])
        expect(new Set(words).size).toBe(words.length)
        expect(words.join(' ').length).toBeGreaterThanOrEqual(SUGGESTED_KEY_PRESSES)
      }),
      { seed: 1, numRuns: 200 },
    )
  })

  it('vary from call to call, even with the fewest words allowed', () => {
    const stored = coreWords('nl')
      .slice(USABLE_WORDS_MIN)
      .map((word) => disabledCore(word, 'nl'))
    const pool = wordPools(stored).nl
    expect(pool).toHaveLength(USABLE_WORDS_MIN)
    for (const enrolls of [true, false]) {
      const text = (seed: number) => suggestWordsFor('ann', pool, { enrolls, n: 3 }, seed).join(' ')
      expect(new Set(Array.from({ length: 1000 }, (_, seed) => text(seed))).size).toBeGreaterThan(900)
    }
  })

  it('are the shipped ones again if a shorter list of a later version leaves too few', () => {
    const stored = coreWords('fr')
      .slice(USABLE_WORDS_MIN - 1)
      .map((word) => disabledCore(word, 'fr'))
    expect(wordPools(stored)).toEqual(CORE_POOLS)
  })

  it('leave the other languages as they are', () => {
    const pools = wordPools([disabledCore('house'), own('zephyr')])
    expect(pools).toEqual({ ...CORE_POOLS, en: [...coreWords('en').filter((word) => word !== 'house'), 'zephyr'] })
  })

  it('are all words if these cannot give enough key presses', () => {
    for (const enrolls of [true, false]) {
      expect(suggestWordsFor('ann', ['ab', 'cd'], { enrolls, n: 7 }, 1).sort()).toEqual(['ab', 'cd'])
      expect(suggestWordsFor('ann', [], { enrolls, n: 7 }, 1)).toEqual([])
    }
  })
})
