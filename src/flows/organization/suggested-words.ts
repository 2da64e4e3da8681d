import type { Member } from '../../domain/account.js'
import { suggestWordsFor } from '../../domain/suggested-words.js'
import { type Language, wordsLanguage } from '../../domain/typing-words.js'
import type { Settings } from './settings.js'

/** The language that a request asks for. */
export interface LanguageHints {
  readonly language: string | null
  readonly acceptLanguage: string | null
}

export interface SuggestedWords {
  readonly suggestedWords: string[]
  readonly suggestedWordsLanguage: Language
}

/**
 * Words for the typing widget, from those that the organization has enabled; `seed` varies them from call to call. They
 * depend on the person's `member_ref`, which is known before the account exists, so the words of the first pattern suit
 * the later ones.
 */
export function suggestedWords(
  { organization, words }: Pick<Settings, 'organization' | 'words'>,
  person: Pick<Member, 'memberRef' | 'preferredLanguage'>,
  hints: LanguageHints,
  seed: number,
): SuggestedWords {
  const suggestedWordsLanguage = wordsLanguage({
    preferred: person.preferredLanguage,
    asked: hints.language,
    acceptLanguage: hints.acceptLanguage,
    mode: organization.languageMode,
    organizationDefault: organization.defaultLanguage,
  })
  const owner = `${organization.id}:${person.memberRef}`
  return { suggestedWords: suggestWordsFor(owner, seed, words[suggestedWordsLanguage]), suggestedWordsLanguage }
}
