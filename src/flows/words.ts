import type { Member } from '../domain/account.js'
import { type Language, suggestWords, wordsLanguage } from '../domain/typing-words.js'
import type { Settings } from './settings.js'

/** What a request says about the language it wants. */
export interface LanguageHints {
  readonly language: string | null
  readonly acceptLanguage: string | null
}

export interface SuggestedWords {
  readonly suggestedWords: string[]
  readonly suggestedWordsLanguage: Language
}

/** Fresh words for the typing widget, out of those the organization has enabled; `seed` makes them differ from call to call. */
export function suggestedWords(
  { organization, words }: Pick<Settings, 'organization' | 'words'>,
  member: Member | null,
  hints: LanguageHints,
  seed: number,
): SuggestedWords {
  const suggestedWordsLanguage = wordsLanguage({
    preferred: member?.preferredLanguage ?? null,
    asked: hints.language,
    acceptLanguage: hints.acceptLanguage,
    mode: organization.languageMode,
    organizationDefault: organization.defaultLanguage,
  })
  const pool = words[suggestedWordsLanguage]
  return { suggestedWords: suggestWords(suggestedWordsLanguage, seed, pool), suggestedWordsLanguage }
}
