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

const own = (word: string, changes: Partial<TypingWord> = {}): TypingWord => ({
  id: `own ${word}`,
  word,
  language: 'en',
  core: false,
  enabled: true,
  ...changes,
})
const disabledCore = (word: string, language: Language = 'en'): TypingWord => ({
  id: `core ${language} ${word}`,
  word,
  language,
  core: true,
  enabled: false,
})
/** Words that no list ships: `azzq`, `bzzq`, `czzq`, ... */
const made = (count: number) =>
  Array.from({ length: count }, (_, i) => `${[...i.toString(26)].map((digit) => letterOf(digit)).join('')}zzq`)
const letterOf = (digit: string) => String.fromCharCode(97 + Number.parseInt(digit, 26))
const kindOf = (act: () => void) => {
  try {
    act()
    return null
  } catch (error) {
    if (error instanceof Refusal) return error.kind
    throw error
  }
}

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

  it.each([
    ['nothing', ''],
    ['one character', 'a'],
    ['25 characters', 'a'.repeat(25)],
    ['a space inside', 'two words'],
    ['a leading space', ' word'],
    ['a line break', 'word\n'],
    ['a digit first', '3com'],
    ['digits alone', '2024'],
    ['a hyphen first', '-word'],
    ['a hyphen last', 'word-'],
    ['two hyphens', 'a--b'],
    ['an apostrophe last', "word'"],
    ['a control character', 'wo\u0000rd'],
    ['a zero-width space', 'wo\u200brd'],
    ['a bidirectional override', 'wo\u202erd'],
    ['a soft hyphen', 'wo\u00adrd'],
    ['markup', '<b>word'],
    ['a quote', 'wo"rd'],
    ['a letter of another script', 'wоrd'],
    ['another script', '言葉'],
    ['a lone combining mark', 'x\u0301y'],
    ['an emoji', 'wo😀rd'],
    ['a lone surrogate', 'wo\ud800rd'],
    ['the multiplication sign', 'a×b'],
  ])('is not one with %s', (_, text) => {
    expect(normalizeWord(text)).toBeNull()
    const result = Word.safeParse(text)
    expect(result.success).toBe(false)
    if (text.length > 4) expect(result.error?.message).not.toContain(text)
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
      { numRuns: 2000 },
    )
  })
  it('keeps the form of every shipped word', () => {
    for (const language of LANGUAGES) for (const word of coreWords(language)) expect(normalizeWord(word)).toBe(word)
  })
})

describe('a change of a language', () => {
  it('accepts a word once, and no shipped word, enabled or disabled', () => {
    const stored = [own('zephyr'), own('quokka', { enabled: false }), disabledCore('house')]
    expect(kindOf(() => checkChange('en', stored, { put: own('zephyr', { id: 'other' }) }))).toBe('typing-word-taken')
    expect(kindOf(() => checkChange('en', stored, { put: own('quokka', { id: 'other' }) }))).toBe('typing-word-taken')
    expect(kindOf(() => checkChange('en', stored, { put: own('house') }))).toBe('typing-word-taken')
    expect(kindOf(() => checkChange('en', stored, { put: own('water') }))).toBe('typing-word-taken')
    expect(kindOf(() => checkChange('en', stored, { put: own('vuvuzela') }))).toBeNull()
    expect(kindOf(() => checkChange('en', stored, { put: { ...own('zephyr'), word: 'quokka' } }))).toBe(
      'typing-word-taken',
    )
  })

  it('may enable or disable an own word that a later version of the product ships', () => {
    const stored = [own('house')]
    expect(kindOf(() => checkChange('en', stored, { put: own('house', { enabled: false }) }))).toBeNull()
  })

  it(`accepts ${OWN_WORDS_MAX} own words and edits of each`, () => {
    const words = made(OWN_WORDS_MAX + 1).map((word) => own(word))
    const [last, ...stored] = words
    if (last === undefined || stored[0] === undefined) throw new Error('no words')
    expect(kindOf(() => checkChange('en', stored.slice(1), { put: last }))).toBeNull()
    expect(kindOf(() => checkChange('en', stored, { put: last }))).toBe('typing-words-bound')
    expect(kindOf(() => checkChange('en', stored, { put: { ...stored[0], word: 'zephyr' } as TypingWord }))).toBeNull()
  })

  it(`must leave ${USABLE_WORDS_MIN} enabled words; below that, adding and enabling are allowed`, () => {
    const [first = '', ...rest] = coreWords('en')
    const disabled = rest.slice(USABLE_WORDS_MIN - 1).map((word) => disabledCore(word))
    expect(usableWords('en', disabled)).toHaveLength(USABLE_WORDS_MIN)
    expect(kindOf(() => checkChange('en', disabled, { put: disabledCore(first) }))).toBe('typing-words-bound')
    const withOwn = [...disabled, own('zephyr')]
    expect(kindOf(() => checkChange('en', withOwn, { put: disabledCore(first) }))).toBeNull()
    const tight = [...withOwn, disabledCore(first)]
    expect(kindOf(() => checkChange('en', tight, { drop: own('zephyr').id }))).toBe('typing-words-bound')
    expect(kindOf(() => checkChange('en', tight, { put: own('zephyr', { enabled: false }) }))).toBe(
      'typing-words-bound',
    )
    expect(kindOf(() => checkChange('en', tight, { drop: disabledCore(first).id }))).toBeNull()
    const below = [...tight, disabledCore(rest[0] ?? ''), own('quokka', { enabled: false })]
    expect(usableWords('en', below)).toHaveLength(USABLE_WORDS_MIN - 1)
    expect(kindOf(() => checkChange('en', below, { put: own('vuvuzela') }))).toBeNull()
    expect(kindOf(() => checkChange('en', below, { put: own('quokka') }))).toBeNull()
    expect(kindOf(() => checkChange('en', below, { drop: own('quokka').id }))).toBeNull()
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

  it('are distinct enabled words of the right language only, with at least 40 key presses', () => {
    fc.assert(
      fc.property(changed, fc.integer({ min: 0, max: 2 ** 32 - 1 }), ({ language, stored }, seed) => {
        const usable = usableWords(language, stored)
        const words = suggestWordsFor('ann', seed, wordPools(stored)[language])
        const allowed = new Set(usable.length >= USABLE_WORDS_MIN ? usable : coreWords(language))
        expect(words.filter((word) => !allowed.has(word))).toEqual([])
        expect(new Set(words).size).toBe(words.length)
        expect(words.join(' ').length).toBeGreaterThanOrEqual(SUGGESTED_KEY_PRESSES)
      }),
      { numRuns: 300 },
    )
  })

  it('vary from call to call, even with the fewest words allowed', () => {
    const stored = coreWords('nl')
      .slice(USABLE_WORDS_MIN)
      .map((word) => disabledCore(word, 'nl'))
    const pool = wordPools(stored).nl
    expect(pool).toHaveLength(USABLE_WORDS_MIN)
    const seen = new Set(Array.from({ length: 1000 }, (_, seed) => suggestWordsFor('ann', seed, pool).join(' ')))
    expect(seen.size).toBeGreaterThan(990)
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
    expect(suggestWordsFor('ann', 1, ['ab', 'cd']).sort()).toEqual(['ab', 'cd'])
    expect(suggestWordsFor('ann', 1, [])).toEqual([])
  })
})
