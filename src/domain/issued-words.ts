import { isLanguage, type Language } from './typing-words.js'

/** Words to type together in one pattern. */
export interface Suggestion {
  readonly words: readonly string[]
  readonly language: Language
}

/**
 * Suggestions of one language as a session stores them: words separated by spaces, suggestions by `|`, the language last. A word
 * has neither character. The words themselves are stored, because the list that they were drawn from may change meanwhile.
 */
export const issuedText = (suggestions: readonly (readonly string[])[], language: Language): string =>
  [...suggestions.map((words) => words.join(' ')), language].join('|')

/** The suggestion after `used` others; null if all are used up, or none was issued. */
export function suggestionAt(issued: string | null, used: number): Suggestion | null {
  if (issued === null) return null
  const parts = issued.split('|')
  const language = parts.pop() ?? ''
  const words = parts[used]
  return words === undefined || !isLanguage(language) ? null : { words: words.split(' '), language }
}
