import { drawWords, pairsOf, pairWorth, suggestWordsFor, worthiestWords } from '../../src/domain/suggested-words.js'
import { coreWords, LANGUAGES } from '../../src/domain/typing-words.js'

const OWNERS = 50
const ENROLLED = 5
/** Sign-ins of each owner; those after the first `HISTORY` are measured. */
const SIGN_INS = 96
const HISTORY = 48

/** Words for the `nth` pattern of an owner, the enrolled ones first. */
type Rule = (owner: string, words: readonly string[], nth: number) => string[]

/** The rules that are compared: `home` draws all patterns from the 32 words of most worth for their owner. */
const RULES: Readonly<Record<string, Rule>> = {
  random: (_, words, nth) => drawWords(words, nth),
  home: (owner, words, nth) => drawWords(worthiestWords(words, pairWorth(owner), 32), nth),
  chosen: (owner, words, nth) =>
    nth < ENROLLED
      ? suggestWordsFor(owner, words, { enrolls: true, n: nth }, nth)
      : suggestWordsFor(owner, words, { enrolls: false, n: nth }, nth),
}

const percent = (share: number): string => `${(100 * share).toFixed(0)} %`
const share = (of: readonly unknown[], among: ReadonlySet<unknown>): number =>
  of.filter((one) => among.has(one)).length / of.length
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

/** Figures of a rule in a list, as cells of a row. */
function cellsOf(rule: Rule, words: readonly string[]): string[] {
  const nats = pairWorth('', 0)
  const found: number[][] = []
  for (let owner = 0; owner < OWNERS; owner++) {
    const typed = Array.from({ length: ENROLLED + SIGN_INS }, (_, nth) => rule(`owner ${owner}`, words, nth))
    const enrolled = typed.slice(0, ENROLLED).flat()
    const covered = new Set(enrolled.flatMap(pairsOf))
    for (let nth = ENROLLED + HISTORY; nth < typed.length; nth++) {
      const own = typed[nth] ?? []
      const pairs = own.flatMap(pairsOf)
      const before = (n: number) => typed.slice(nth - n, nth).flat()
      found.push([
        share(pairs, covered),
        mean(pairs.map((pair) => nats[pair] ?? 0)) / 14,
        ...[1, 10, HISTORY].map((n) => share(pairs, new Set(before(n).flatMap(pairsOf)))),
        share(own, new Set(before(10))),
        share(own, new Set([...before(HISTORY), ...enrolled])),
      ])
    }
  }
  const [covered = 0, worth = 0, ...rest] = (found[0] ?? []).map((_, i) => mean(found.map((row) => row[i] ?? 0)))
  return [percent(covered), worth.toFixed(2), ...rest.map(percent)]
}

/** A table with a row for each language and rule: what a sign-in shares with the enrollment and with earlier sign-ins. */
export const overlapLines = (): string[] => [
  '| language, words | rule | pairs of the enrollment | nats a pair | pairs of the last 1, 10, 48 sign-ins | words of the last 10 | words of the last 48 and the enrollment |',
  '|---|---|---|---|---|---|---|',
  ...LANGUAGES.flatMap((language) =>
    Object.entries(RULES).map(([name, rule]) => {
      const words = coreWords(language)
      const [covered, worth, one, ten, many, ...repeated] = cellsOf(rule, words)
      const pairs = `${one}, ${ten}, ${many}`
      return `| ${language}, ${words.length} | ${name} | ${[covered, worth, pairs, ...repeated].join(' | ')} |`
    }),
  ),
]
