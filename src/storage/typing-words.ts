import type { TypingWord, WordChange } from '../domain/own-words.js'
import type { Language } from '../domain/typing-words.js'

/**
 * What organizations changed in the words of the typing widget: own words, and core words they disabled. Every change
 * moves the organization's `wordsVersion`.
 */
export interface TypingWordStore {
  /** Of one language, or of all where it is null; in the order of their ids, own words oldest first. */
  list(organizationId: string, language: Language | null): Promise<TypingWord[]>
  /** Null where the organization has no such row. */
  find(organizationId: string, id: string): Promise<TypingWord | null>
  /**
   * One change of a language's words, alone: `decide` is given what is stored in that language, and no other change of
   * this organization's words comes between. What it throws is thrown on, and then nothing is written.
   */
  change(
    organizationId: string,
    language: Language,
    decide: (stored: readonly TypingWord[]) => WordChange,
  ): Promise<void>
}
