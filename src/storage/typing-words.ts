import type { TypingWord, WordChange } from '../domain/own-words.js'
import type { Language } from '../domain/typing-words.js'

/**
 * Organizations' changes to the words of the typing widget: own words, and disabled core words. Every change increments
 * the organization's `wordsVersion`.
 */
export interface TypingWordStore {
  /** Words of one language, or of all if it is null, in the order of their ids. Own words come oldest first. */
  list(organizationId: string, language: Language | null): Promise<TypingWord[]>
  /** A stored word; null if the organization has no such row. */
  find(organizationId: string, id: string): Promise<TypingWord | null>
  /**
   * Makes one change of a language's words. `decide` gets the stored words of that language; a lock excludes other changes
   * of the organization's words. An error of `decide` is rethrown, and nothing is written.
   */
  change(
    organizationId: string,
    language: Language,
    decide: (stored: readonly TypingWord[]) => WordChange,
  ): Promise<void>
}
