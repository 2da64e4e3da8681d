import { de } from './words/de.js'
import { en } from './words/en.js'
import { es } from './words/es.js'
import { fr } from './words/fr.js'
import { it } from './words/it.js'
import { nl } from './words/nl.js'
import { pt } from './words/pt.js'

export const LANGUAGES = ['en', 'fr', 'de', 'es', 'it', 'pt', 'nl'] as const
export type Language = (typeof LANGUAGES)[number]

const CORE_WORDS: Record<Language, readonly string[]> = {
  en: split(en),
  fr: split(fr),
  de: split(de),
  es: split(es),
  it: split(it),
  pt: split(pt),
  nl: split(nl),
}

function split(text: string): readonly string[] {
  return text.trim().split(/\s+/)
}

export const isLanguage = (text: string): text is Language => (LANGUAGES as readonly string[]).includes(text)

/** The shipped words of a language, most frequent first, at least 400. */
export const coreWords = (language: Language): readonly string[] => CORE_WORDS[language]

/** Suggested words, typed with a space between each two, give at least this many key presses. */
export const SUGGESTED_KEY_PRESSES = 40

/**
 * Words to propose in the typing widget: different from each other and, from seed to seed, from the last ones.
 * `seed` is any number; the same seed gives the same words.
 */
export function suggestWords(language: Language, seed: number): string[] {
  const words = CORE_WORDS[language]
  const next = sequence(seed)
  const chosen = new Set<string>()
  let presses = -1
  while (presses < SUGGESTED_KEY_PRESSES) {
    const word = words[next() % words.length] ?? ''
    if (chosen.has(word)) continue
    chosen.add(word)
    presses += word.length + 1
  }
  return [...chosen]
}

/** Seeded numbers from 0 to 2^32 - 1 (mulberry32): variety is all that is asked of them. */
function sequence(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
}

export interface LanguageWishes {
  /** The member's own choice. */
  readonly preferred: string | null
  /** The `language` query. */
  readonly asked: string | null
  /** `Accept-Language` of the request; looked at only where the organization's mode is `auto`. */
  readonly acceptLanguage: string | null
  readonly mode: 'auto' | 'forced'
  readonly organizationDefault: string
}

/** Language of the suggested words: the member's, else the asked one, else the organization's. */
export function wordsLanguage(wishes: LanguageWishes): Language {
  const accepted =
    wishes.mode === 'auto' && wishes.acceptLanguage !== null ? firstAccepted(wishes.acceptLanguage) : null
  for (const wish of [wishes.preferred, wishes.asked, accepted, wishes.organizationDefault]) {
    const base = wish?.trim().toLowerCase().split('-')[0] ?? ''
    if (isLanguage(base)) return base
  }
  return 'en'
}

/** The best language of an `Accept-Language` value (RFC 9110 12.5.4) that has words; null where none has. */
function firstAccepted(header: string): Language | null {
  const ranked = header
    .split(',')
    .map((part) => {
      const [tag = '', ...parameters] = part.split(';').map((piece) => piece.trim())
      const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
      return { base: tag.toLowerCase().split('-')[0] ?? '', quality: quality === undefined ? 1 : Number(quality) }
    })
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality)
  return ranked.map(({ base }) => base).find(isLanguage) ?? null
}
