import { z } from 'zod'
import { Refusal } from './refusal.js'
import { CORE_POOLS, coreWords, type Language, type WordPools } from './typing-words.js'

/** A word of the typing widget as an organization manages it. */
export interface TypingWord {
  readonly id: string
  /** Normalized, see `normalizeWord`. */
  readonly word: string
  readonly language: Language
  /** Shipped with the product: can be disabled, not edited or deleted. */
  readonly core: boolean
  readonly enabled: boolean
}

/** Most own words per language, including disabled ones: nearly twice the shipped ones. Not measured. */
export const OWN_WORDS_MAX = 1000
/** Fewest usable words of a language: even with two letters each they give 89 key presses (60 letters, 29 spaces). */
export const USABLE_WORDS_MIN = 30
const LENGTH_MIN = 2
const LENGTH_MAX = 24

/** Lower-case letters of Latin keyboards: ASCII, Latin-1, Latin Extended-A. They cover all supported languages. */
const LETTER = 'a-zß-öø-ž'
/** A word starts with a letter, so that it is readable. */
const WORD = new RegExp(`^[${LETTER}](?:['-]?[${LETTER}0-9])*$`)

/**
 * The form in which an own word is stored, compared and suggested: NFKC, lower-case, keyboard apostrophe and hyphen. Null
 * if it is not 2 to 24 characters: letters, digits after the first letter, single apostrophes and hyphens inside. Our
 * choice: every character is one key, or a dead key and a letter.
 */
export function normalizeWord(text: string): string | null {
  const word = text.normalize('NFKC').toLowerCase().replaceAll('\u2019', "'").replaceAll('\u2010', '-')
  return word.length >= LENGTH_MIN && word.length <= LENGTH_MAX && WORD.test(word) ? word : null
}

/** An own word on the wire: accepts any spelling and returns the normalized one. */
export const Word = z
  .string()
  .max(64)
  .transform((text, context) => {
    const word = normalizeWord(text)
    if (word !== null) return word
    context.addIssue({
      code: 'custom',
      message:
        `must be ${LENGTH_MIN} to ${LENGTH_MAX} characters, a letter first: Latin letters, digits, and single ` +
        'apostrophes or hyphens between them',
    })
    return z.NEVER
  })

/** One word written or removed. Removing the row of a disabled core word enables the word. */
export type WordChange = { readonly put: TypingWord } | { readonly drop: string }

/**
 * The words of one language that may be suggested. `stored` holds the organization's changes: its own words, and the core
 * words that it disabled.
 */
export function usableWords(language: Language, stored: readonly TypingWord[]): string[] {
  const disabled = new Set(stored.filter(({ core, enabled }) => core && !enabled).map(({ word }) => word))
  const own = stored.filter(({ core, enabled }) => !core && enabled).map(({ word }) => word)
  // A later version of the product may ship a word that the organization has already added.
  return [...new Set([...coreWords(language).filter((word) => !disabled.has(word)), ...own])]
}

/**
 * The words that suggestions are drawn from; `stored` holds an organization's changes in all languages. A change cannot take a
 * language below `USABLE_WORDS_MIN`. If a shorter list of a later version does, all shipped words of the language are used.
 */
export function wordPools(stored: readonly TypingWord[]): WordPools {
  const pools = { ...CORE_POOLS }
  for (const language of new Set(stored.map((word) => word.language))) {
    const usable = usableWords(
      language,
      stored.filter((word) => word.language === language),
    )
    if (usable.length >= USABLE_WORDS_MIN) pools[language] = usable
  }
  return pools
}

/** Refuses a change of one language's words that duplicates a word, exceeds the maximum or leaves too few words. */
export function checkChange(language: Language, stored: readonly TypingWord[], change: WordChange): void {
  const id = 'put' in change ? change.put.id : change.drop
  const before = stored.find((word) => word.id === id)
  const others = stored.filter((word) => word.id !== id)
  if ('put' in change && !change.put.core && change.put.word !== before?.word) {
    const { word } = change.put
    if (coreWords(language).includes(word)) {
      throw new Refusal(
        'typing-word-taken',
        'this word is shipped with the product in this language: enable it instead',
      )
    }
    if (others.some((other) => !other.core && other.word === word)) {
      throw new Refusal('typing-word-taken', 'this language has this word already')
    }
    if (before === undefined && others.filter(({ core }) => !core).length >= OWN_WORDS_MAX) {
      throw new Refusal('typing-words-bound', `a language holds ${OWN_WORDS_MAX} words of an organization at the most`)
    }
  }
  const left = usableWords(language, 'put' in change ? [...others, change.put] : others).length
  if (left < USABLE_WORDS_MIN && left < usableWords(language, stored).length) {
    throw new Refusal('typing-words-bound', `a language keeps ${USABLE_WORDS_MIN} enabled words at the least`)
  }
}
