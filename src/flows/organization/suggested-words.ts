import type { Member } from '../../domain/account.js'
import { canVerify, outdated, type ProfileTargets, profileView } from '../../domain/biometric-status.js'
import { issuedText, type Suggestion } from '../../domain/issued-words.js'
import { ENROLLED_TOGETHER, suggestWordsFor, type WordTurn } from '../../domain/suggested-words.js'
import { type Language, wordsLanguage } from '../../domain/typing-words.js'
import type { Settings } from './settings.js'

/** The language that a request asks for, and whether its pattern must type the words of its session. */
export interface LanguageHints {
  readonly language: string | null
  readonly acceptLanguage: string | null
  /** With `require` the pattern must type the words, with `none` the call has no words. If absent, the policy decides. */
  readonly words?: 'require' | 'none'
}

export interface SuggestedWords {
  readonly suggestedWords: string[]
  readonly suggestedWordsLanguage: Language
}

/** Suggestions that a session gets at once: as many as the typing attempts that it has by default. */
const ISSUED_TOGETHER = 3

/** The person who types suggested words, and the use of the words. */
export interface Typist {
  readonly memberRef: string
  readonly preferredLanguage: string | null
  /** Generation of the profile that the pattern is for. */
  readonly generation: number
  readonly turn: WordTurn
}

/** A person who does not exist yet. */
export const newcomer = (memberRef: string): Typist => ({
  memberRef,
  preferredLanguage: null,
  generation: 0,
  turn: { enrolls: true, n: 0 },
})

/** The next pattern of a member. Every judged attempt and every stored pattern changes the turn of a complete profile. */
export function typistOf(
  member: Member,
  { targets, now }: { readonly targets: ProfileTargets; readonly now: () => number },
): Typist {
  const at = now()
  const { biometricStatus, nPatternsRef } = profileView(member, targets, at)
  const enrolls = !canVerify(biometricStatus)
  const generation = outdated(member, targets, at) ? member.generation + 1 : member.generation
  const n = enrolls ? nPatternsRef : member.attemptsVersion + member.profileVersion
  return { ...member, generation, turn: { enrolls, n } }
}

/** The language of a person's words in a call. */
export const languageFor = (
  { organization }: Pick<Settings, 'organization'>,
  { preferredLanguage }: Pick<Typist, 'preferredLanguage'>,
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
 * Words for the typing widget, from those that the organization has enabled; `seed` varies them from call to call. The words
 * depend on the person's `member_ref`, which is known before the account exists, so the words of the first pattern suit the
 * later ones.
 */
export function suggestedWords(
  settings: WordSettings,
  typist: Typist,
  hints: LanguageHints,
  seed: number,
): SuggestedWords {
  const language = languageFor(settings, typist, hints)
  return shownWords({ words: wordsIn(settings, typist, language, seed), language })
}

/** Suggestions for a session, in the format of `issued-words.ts`: for the turns from now on, which are sign-ins or an enrollment. */
export function newSuggestions(settings: WordSettings, typist: Typist, hints: LanguageHints, seed: number): string {
  const language = languageFor(settings, typist, hints)
  const { enrolls, n } = typist.turn
  const count = enrolls ? Math.min(ISSUED_TOGETHER, ENROLLED_TOGETHER - (n % ENROLLED_TOGETHER)) : ISSUED_TOGETHER
  const suggestions = Array.from({ length: count }, (_, i) =>
    wordsIn(settings, { ...typist, turn: { enrolls, n: n + i } }, language, seed),
  )
  return issuedText(suggestions, language)
}

export const shownWords = ({ words, language }: Suggestion): SuggestedWords => ({
  suggestedWords: [...words],
  suggestedWordsLanguage: language,
})

type WordSettings = Pick<Settings, 'organization' | 'words'>

const wordsIn = (
  { organization, words }: WordSettings,
  { memberRef, generation, turn }: Typist,
  language: Language,
  seed: number,
): string[] => suggestWordsFor(`${organization.id}:${memberRef}:${generation}`, words[language], turn, seed)
