import { drawWords, pairsOf, pairWorth, suggestWordsFor } from '../../src/domain/suggested-words.js'
import { coreWords, LANGUAGES } from '../../src/domain/typing-words.js'

const OWNERS = 100
const PATTERNS = 5

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`

/** A table with a row a language: overlap of generated owners' suggestions with five earlier ones, and their information. */
export function overlapLines(): string[] {
  const nats = pairWorth('', 0)
  const row = (suggest: (owner: string, seed: number) => string[]): [overlap: number, nats: number, words: number] => {
    let [shared, sum, count] = [0, 0, 0]
    const used = new Set<string>()
    for (let owner = 0; owner < OWNERS; owner++) {
      const suggestion = (i: number) => suggest(`owner ${owner}`, 1000 * owner + i)
      const enrolled = Array.from({ length: PATTERNS }, (_, i) => suggestion(i))
      const held = new Set(enrolled.flat().flatMap(pairsOf))
      for (const word of enrolled.flat()) used.add(word)
      for (const pair of suggestion(PATTERNS).flatMap(pairsOf)) {
        count += 1
        if (held.has(pair)) shared += 1
        sum += (nats[pair] ?? 0) / 14
      }
    }
    return [shared / count, sum / count, used.size]
  }
  return [
    '| language | pairs in five earlier suggestions: random, chosen | nats a pair: random, chosen | words seen by 100 owners |',
    '|---|---|---|---|',
    ...LANGUAGES.map((language) => {
      const words = coreWords(language)
      const random = row((_, seed) => drawWords(words, seed))
      const chosen = row((owner, seed) => suggestWordsFor(owner, seed, words))
      const cells = [
        `${percent(random[0])}, ${percent(chosen[0])}`,
        `${random[1].toFixed(2)}, ${chosen[1].toFixed(2)}`,
        `${chosen[2]} of ${words.length}`,
      ]
      return `| ${language} | ${cells.join(' | ')} |`
    }),
  ]
}
