import { z } from 'zod'
import { drawWords } from './suggested-words.js'
import { de } from './words/de.js'
import { en } from './words/en.js'
import { es } from './words/es.js'
import { fr } from './words/fr.js'
import { it } from './words/it.js'
import { nl } from './words/nl.js'
import { pt } from './words/pt.js'

export const LANGUAGES = ['en', 'fr', 'de', 'es', 'it', 'pt', 'nl'] as const
export type Language = (typeof LANGUAGES)[number]

/** Each language's own name. */
export const LANGUAGE_NAMES: Readonly<Record<Language, string>> = {
  en: 'English',
  fr: 'Français',
  de: 'Deutsch',
  es: 'Español',
  it: 'Italiano',
  pt: 'Português',
  nl: 'Nederlands',
}

/** The words of each language that suggestions are drawn from. */
export type WordPools = Readonly<Record<Language, readonly string[]>>

/** The shipped words. */
export const CORE_POOLS: WordPools = {
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

/** The language of a tag without its region (`pt` of `pt-BR`); null if it has no words. */
function languageOf(tag: string): Language | null {
  const base = tag.trim().toLowerCase().split('-')[0] ?? ''
  return isLanguage(base) ? base : null
}

/** The `language` query: any language tag (BCP 47). `wordsLanguage` skips a language without words. */
export const LanguageWish = z
  .string()
  .max(35)
  .refine(isLanguageTag, 'must be a language tag (BCP 47) such as fr or pt-BR')
  .describe('language of suggested words; if it has no words, another one is used, named by suggestedWordsLanguage')

function isLanguageTag(text: string): boolean {
  try {
    return Intl.getCanonicalLocales(text).length === 1
  } catch {
    return false
  }
}

/** A language on the wire. Our choice: a region (`pt-BR`) and capitals are accepted and dropped. */
export const LanguageTag = z
  .string()
  .max(35)
  .transform((text, context) => {
    const language = languageOf(text)
    if (language !== null) return language
    context.addIssue({ code: 'custom', message: `must be a language with words: ${LANGUAGES.join(', ')}` })
    return z.NEVER
  })

/** The shipped words of a language, most frequent first; at least 400. */
export const coreWords = (language: Language): readonly string[] => CORE_POOLS[language]

/** Shipped words drawn at random, not tied to an owner; the same seed gives the same words. */
export const suggestWords = (language: Language, seed: number): string[] => drawWords(coreWords(language), seed)

interface LanguageWishes {
  /** The member's own choice. */
  readonly preferred: string | null
  /** The `language` query. */
  readonly asked: string | null
  /** `Accept-Language` of the request; used only if the organization's mode is `auto`. */
  readonly acceptLanguage: string | null
  readonly mode: 'auto' | 'forced'
  readonly organizationDefault: string
}

/** Language of the suggested words: the member's, else the query's, else an accepted one, else the organization's. */
export function wordsLanguage(wishes: LanguageWishes): Language {
  const accepted =
    wishes.mode === 'auto' && wishes.acceptLanguage !== null ? firstAccepted(wishes.acceptLanguage) : null
  for (const wish of [wishes.preferred, wishes.asked, accepted, wishes.organizationDefault]) {
    const language = languageOf(wish ?? '')
    if (language !== null) return language
  }
  return 'en'
}

/** The best language of an `Accept-Language` value (RFC 9110 12.5.4) that has words; null if none. */
function firstAccepted(header: string): Language | null {
  const ranked = header
    .split(',')
    .map((part) => {
      const [tag = '', ...parameters] = part.split(';').map((piece) => piece.trim())
      const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
      return { language: languageOf(tag), quality: quality === undefined ? 1 : Number(quality) }
    })
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality)
  return ranked.find(({ language }) => language !== null)?.language ?? null
}
