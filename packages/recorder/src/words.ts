/** Compares typed text with the words to type. */

export type Mark = 'todo' | 'now' | 'done' | 'wrong'

/** Judges words that a space ends. The word being typed is not judged, unless it is right already. */
export function marksOf(expected: readonly string[], typed: readonly string[]): Mark[] {
  const last = typed.length - 1
  return expected.map((word, i) => {
    const token = typed[i] ?? ''
    if (i > last) return 'todo'
    if (i === last) return isTyped(word, token) ? 'done' : 'now'
    return isTyped(word, token) ? 'done' : 'wrong'
  })
}

/** The words typed so far; the last one is empty after a space. */
export const tokensOf = (value: string): string[] => value.trimStart().split(/\s+/)

/** Length of the part of a word that is typed already. */
export function sharedStart(word: string, typed: string): number {
  const [wanted, given] = [[...word.normalize('NFC')], [...typed.normalize('NFC')]]
  let length = 0
  while (length < given.length && lettersOf(given[length] ?? '') === lettersOf(wanted[length] ?? '')) length++
  return wanted.slice(0, length).join('').length
}

/** The letters and digits of a text without case and accents, as the service compares them. */
export const isTyped = (word: string, typed: string): boolean => typed !== '' && lettersOf(word) === lettersOf(typed)

/** Letters without a decomposition into a base letter and marks. */
const BASE_LETTERS: Readonly<Record<string, string>> = Object.fromEntries(
  'ßss æae œoe øo đd ðd þth ħh ıi ĳij ĸk łl ŉn ŋn ŧt ſs'
    .split(' ')
    .map(([letter = '', ...base]) => [letter, base.join('')]),
)

const lettersOf = (text: string): string =>
  text
    .toLowerCase()
    .normalize('NFD')
    .replace(/[^\p{L}\p{N}]/gu, '')
    .replace(/[^a-z0-9]/g, (letter) => BASE_LETTERS[letter] ?? letter)
