import { checkChange, type TypingWord, usableWords, type WordChange } from '../../domain/own-words.js'
import { Refusal } from '../../domain/refusal.js'
import { coreWords, LANGUAGE_NAMES, LANGUAGES, type Language } from '../../domain/typing-words.js'
import type { TypingWordStore } from '../../storage/typing-words.js'
import { coreTypingWords, coreWordOf } from './core-word-ids.js'

interface Needs {
  readonly typingWords: TypingWordStore
  readonly forgetSettings: (organizationId: string) => Promise<void>
  readonly newId: () => string
}

/** Null matches everything. */
interface WordFilter {
  readonly language: Language | null
  readonly core: boolean | null
  readonly enabled: boolean | null
}

/** Absent fields are unchanged. */
interface WordEdit {
  readonly enabled?: boolean | undefined
  /** Normalized. */
  readonly word?: string | undefined
}

interface LanguageWords {
  readonly language: Language
  readonly name: string
  readonly nCore: number
  readonly nOwn: number
  /** The pool of suggestions: core and own words without the disabled ones. */
  readonly nEnabled: number
}

/** The words of an organization's typing widget. Ids of another organization's words are unknown. */
export interface TypingWordFlows {
  /** Own words first, oldest first, then core words by language and frequency. */
  list(organizationId: string, filter: WordFilter): Promise<TypingWord[]>
  languages(organizationId: string): Promise<LanguageWords[]>
  /** `word` is normalized. */
  add(organizationId: string, language: Language, word: string): Promise<TypingWord>
  /** Refuses a new `word` for a core word. */
  change(organizationId: string, id: string, to: WordEdit): Promise<TypingWord>
  /** Returns the deleted word. Refuses a core word. */
  remove(organizationId: string, id: string): Promise<TypingWord>
}

export function createTypingWordFlows(needs: Needs): TypingWordFlows {
  return {
    async list(organizationId, { language, core, enabled }) {
      const stored = await needs.typingWords.list(organizationId, language)
      const disabled = new Set(stored.filter((word) => word.core).map(({ id }) => id))
      const shipped = coreTypingWords(language).map((word) => ({ ...word, enabled: !disabled.has(word.id) }))
      return [...stored.filter((word) => !word.core), ...shipped].filter(
        (word) => (core === null || word.core === core) && (enabled === null || word.enabled === enabled),
      )
    },

    async languages(organizationId) {
      const stored = await needs.typingWords.list(organizationId, null)
      return LANGUAGES.map((language) => {
        const changed = stored.filter((word) => word.language === language)
        return {
          language,
          name: LANGUAGE_NAMES[language],
          nCore: coreWords(language).length,
          nOwn: changed.filter(({ core }) => !core).length,
          nEnabled: usableWords(language, changed).length,
        }
      })
    },

    async add(organizationId, language, word) {
      const added = { id: needs.newId(), word, language, core: false, enabled: true }
      await change(needs, organizationId, language, () => ({ put: added }))
      return added
    },

    async change(organizationId, id, { enabled, word }) {
      const core = coreWordOf(id)
      if (core !== null) {
        if (word !== undefined || enabled === undefined) throw shipped()
        const next = { ...core, enabled }
        await change(needs, organizationId, core.language, () => (enabled ? { drop: id } : { put: next }))
        return next
      }
      const changed = (before: TypingWord) => ({
        ...before,
        enabled: enabled ?? before.enabled,
        word: word ?? before.word,
      })
      return changed(await changeOwn(needs, organizationId, id, (before) => ({ put: changed(before) })))
    },

    async remove(organizationId, id) {
      if (coreWordOf(id) !== null) throw shipped()
      return changeOwn(needs, organizationId, id, () => ({ drop: id }))
    },
  }
}

/** Makes one checked change of a language's words; `decide` gets the stored words. */
async function change(
  needs: Needs,
  organizationId: string,
  language: Language,
  decide: (stored: readonly TypingWord[]) => WordChange,
): Promise<void> {
  await needs.typingWords.change(organizationId, language, (stored) => {
    const decided = decide(stored)
    checkChange(language, stored, decided)
    return decided
  })
  await needs.forgetSettings(organizationId)
}

/** Changes an own word; returns it as it was before. */
async function changeOwn(
  needs: Needs,
  organizationId: string,
  id: string,
  decide: (word: TypingWord) => WordChange,
): Promise<TypingWord> {
  const found = await needs.typingWords.find(organizationId, id)
  // A stored core word with an unknown id was shipped by an earlier version.
  if (found === null || found.core) throw notFound()
  let before = found
  await change(needs, organizationId, found.language, (stored) => {
    const current = stored.find((word) => word.id === id)
    if (current === undefined) throw notFound()
    before = current
    return decide(current)
  })
  return before
}

const notFound = () => new Refusal('typing-word-not-found', 'no typing word has this id')
const shipped = () => new Refusal('core-word', 'the product ships this word: it can be disabled, not edited or deleted')
