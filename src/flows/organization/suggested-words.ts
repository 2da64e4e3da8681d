import type { Member } from '../../domain/account.js'
import { issuedText, type Suggestion } from '../../domain/issued-words.js'
import { suggestWordsFor } from '../../domain/suggested-words.js'
import { type Language, wordsLanguage } from '../../domain/typing-words.js'
import type { Settings } from './settings.js'

/** The language that a request asks for, and whether its pattern must type the words of its session. */
export interface LanguageHints {
  readonly language: string | null
  readonly acceptLanguage: string | null
  /** `require`: it must, whatever the policy says. `none`: the call has no words. Absent: by the policy. */
  readonly words?: 'require' | 'none'
}

export interface SuggestedWords {
  readonly suggestedWords: string[]
  readonly suggestedWordsLanguage: Language
}

/** Suggestions that a session gets at once: as many as the typing attempts that it has by default. */
const ISSUED_TOGETHER = 3

type Person = Pick<Member, 'memberRef' | 'preferredLanguage'>

/** The language of a person's words in a call. */
export const languageFor = (
  { organization }: Pick<Settings, 'organization'>,
  { preferredLanguage }: Person,
  { language, acceptLanguage }: LanguageHints,
): Language =>
  wordsLanguage({
    preferred: preferredLanguage,
    asked: language,
    acceptLanguage,
    mode: organization.languageMode,
    organizationDefault: organization.defaultLanguage,
  })

/**
 * Words for the typing widget, from those that the organization has enabled; `seed` varies them from call to call. They
 * depend on the person's `member_ref`, which is known before the account exists, so the words of the first pattern suit
 * the later ones.
 */
export function suggestedWords(
  settings: WordSettings,
  person: Person,
  hints: LanguageHints,
  seed: number,
): SuggestedWords {
  const language = languageFor(settings, person, hints)
  return shownWords({ words: wordsIn(settings, person, language, seed), language })
}

/** Suggestions for a session, in the format of `issued-words.ts`. */
export function newSuggestions(settings: WordSettings, person: Person, hints: LanguageHints, seed: number): string {
  const language = languageFor(settings, person, hints)
  const suggestions = Array.from({ length: ISSUED_TOGETHER }, (_, i) => wordsIn(settings, person, language, seed + i))
  return issuedText(suggestions, language)
}

export const shownWords = ({ words, language }: Suggestion): SuggestedWords => ({
  suggestedWords: [...words],
  suggestedWordsLanguage: language,
})

type WordSettings = Pick<Settings, 'organization' | 'words'>

const wordsIn = (
  { organization, words }: WordSettings,
  { memberRef }: Person,
  language: Language,
  seed: number,
): string[] => suggestWordsFor(`${organization.id}:${memberRef}`, seed, words[language])
