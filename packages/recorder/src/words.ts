/** Compares typed text with the words to type. */

export type Mark = 'todo' | 'now' | 'done' | 'wrong'

/** Judges words that a space ends. The word being typed is not judged, unless it is right already. */
export function marksOf(expected: readonly string[], typed: readonly string[]): Mark[] {
  const last = typed.length - 1
  return expected.map((word, i) => {
    const token = typed[i] ?? ''
    if (i > last) return 'todo'
    if (i === last) return token === folded(word) ? 'done' : 'now'
    return isClose(word, token) ? 'done' : 'wrong'
  })
}

/** The words typed so far, case-folded; the last one is empty after a space. */
export const tokensOf = (value: string): string[] => folded(value).trimStart().split(/\s+/)
const folded = (text: string): string => text.normalize('NFC').toLowerCase()

/** Length of the part of a word that is typed already. */
export function sharedStart(word: string, typed: string): number {
  const wanted = folded(word)
  let length = 0
  while (length < typed.length && typed[length] === wanted[length]) length++
  return length
}

/** Accepts small slips: the rhythm counts, not the spelling. */
export function isClose(word: string, typed: string): boolean {
  const wanted = folded(word)
  if (typed === wanted) return true
  const slips = wanted.length >= 8 ? 2 : wanted.length >= 4 ? 1 : 0
  return slips > 0 && Math.abs(wanted.length - typed.length) <= slips && distance(wanted, typed) <= slips
}

/** Edit distance with insertion, deletion, substitution and transposition (Damerau 1964, each position edited once). */
function distance(a: string, b: string): number {
  let [before, last] = [[] as number[], Array.from({ length: b.length + 1 }, (_, j) => j)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      let least = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + same)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, (before[j - 2] ?? 0) + 1)
      row.push(least)
    }
    ;[before, last] = [last, row]
  }
  return last[b.length] ?? 0
}
