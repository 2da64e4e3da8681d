import { suggestionAt } from '../../domain/issued-words.js'
import { Refusal } from '../../domain/refusal.js'
import { type TypedWords, typesWords } from '../../domain/typed-words.js'
import { decodeSample, sampleKeys } from '../../scoring/sample.js'
import type { PatternReading } from '../../scoring/scoring.js'
import type { SessionStore, SessionWords } from '../../storage/session.js'
import type { Settings } from '../organization/settings.js'
import {
  type LanguageHints,
  languageFor,
  newSuggestions,
  type SuggestedWords,
  shownWords,
  suggestedWords,
  type Typist,
} from '../organization/suggested-words.js'
import type { Designation, LiveSession } from './person.js'

interface Needs {
  readonly sessions: Pick<SessionStore, 'changeWords'>
  readonly randomSeed: () => number
}

/** The session whose words are shown, its person, and the request. */
interface Shown {
  readonly who: Designation
  readonly session: Pick<LiveSession, 'sha256' | 'words' | 'implicit'>
  readonly settings: Settings
  readonly typist: Typist
  readonly hints: LanguageHints
}

/**
 * The words to type next in a session: those that it has issued and that are not used up, so that a page that is loaded again shows
 * the same ones. If none are left, or the language is another one, new words are issued, by only one of several concurrent calls.
 */
export async function wordsOf(needs: Needs, { who, session, settings, typist, hints }: Shown): Promise<SuggestedWords> {
  // Nobody holds an implicit session, so its words could not be typed in it.
  if (session.implicit === true) return suggestedWords(settings, typist, hints, needs.randomSeed())
  const language = languageFor(settings, typist, hints)
  let { words } = session
  for (;;) {
    const left = unusedOf(words)
    if (left?.language === language) return shownWords(left)
    const to = { issued: newSuggestions(settings, typist, hints, needs.randomSeed()), used: 0 }
    const change = { from: words, to }
    const outcome = await needs.sessions.changeWords(who.organizationId, who.userRef, session.sha256, change)
    const isIssued = outcome === null || outcome.changed
    if (isIssued) return shownWords(unusedOf(to) ?? { words: [], language })
    words = outcome.words
  }
}

const unusedOf = (words: SessionWords | null) => (words === null ? null : suggestionAt(words.issued, words.used))

type Typed = Pick<PatternReading, 'mode' | 'sample'>

/** Whether a pattern types the words at position `at` of those that a session has issued. */
export const typedWords = (reading: Typed, words: SessionWords | null, at: number): TypedWords =>
  typedOf(reading, words === null ? null : (suggestionAt(words.issued, at)?.words ?? null))

/** Whether a pattern types these words; `words` is null if none were issued. */
export function typedOf({ mode, sample }: Typed, words: readonly string[] | null): TypedWords {
  if (mode === 'sensitive') return 'masked'
  const presses = () => decodeSample(sample)?.presses ?? []
  return words !== null && typesWords(words, sampleKeys(sample), presses) ? 'issued' : 'other'
}

interface Use {
  readonly who: Designation
  readonly session: LiveSession
  readonly hints: LanguageHints
  readonly requires: boolean
}

/** A session after the use of its words. If `owed`, a pattern has used up the words, and `returnWords` gives them back if it is not stored. */
export interface WordsUse {
  readonly session: LiveSession
  readonly owed: boolean
}

/**
 * Uses up the words of a session for a pattern that is to be enrolled, before the pattern is stored. Only one of several concurrent
 * patterns with the same words is `issued`. If words are required, refuses any other pattern and uses up nothing.
 */
export async function useWords(
  needs: Pick<Needs, 'sessions'>,
  { who, session, hints, requires }: Use,
  reading: Typed,
): Promise<WordsUse> {
  const { words } = session
  const typed = hints.words === 'none' ? 'other' : typedWords(reading, words, words?.used ?? 0)
  const refusal = requires ? wordsRefusal(typed) : null
  if (refusal !== null) throw refusal
  if (words === null || unusedOf(words) === null || session.implicit === true) return { session, owed: false }
  const to = { ...words, used: words.used + 1 }
  const change = { from: words, to }
  const outcome = await needs.sessions.changeWords(who.organizationId, who.userRef, session.sha256, change)
  const wereUsed = outcome !== null && !outcome.changed
  const late = requires && wereUsed ? wordsRefusal('other') : null
  if (late !== null) throw late
  return { session: { ...session, words: wereUsed ? outcome.words : to }, owed: !wereUsed }
}

/** Gives the words back, unless the session has used or issued other words since. Returns the session as it is afterwards. */
export async function returnWords(
  needs: Pick<Needs, 'sessions'>,
  { organizationId, userRef }: Designation,
  { session, owed }: WordsUse,
): Promise<LiveSession> {
  const from = session.words
  if (!owed || from === null) return session
  const to = { ...from, used: from.used - 1 }
  const outcome = await needs.sessions.changeWords(organizationId, userRef, session.sha256, { from, to })
  return { ...session, words: outcome === null ? to : outcome.words }
}

/** Whether the words of the session must be typed. */
export const requiresWords = ({ policy }: Settings, { words }: LanguageHints): boolean =>
  words === 'require' || policy.policy.words === 'require'

/** The refusal of a pattern under `require`; null if it types the words. */
export function wordsRefusal(typed: TypedWords, wanted = WANTED): Refusal | null {
  if (typed === 'issued') return null
  return new Refusal('words-not-typed', typed === 'masked' ? MASKED : wanted)
}

const MASKED =
  'the suggested words are required, and a pattern in mode sensitive does not show what was typed: record it in mode visible'
const WANTED =
  'type the words of this session: suggestedWords of its bootstrap or of nextAttempt, which one attempt or enrolled pattern ' +
  'uses up. GET /users/{userRef} with this session shows those that it has now'
