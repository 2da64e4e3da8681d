import { TELLING_PAIRS } from './words/telling-pairs.js'

/** Fewest key presses that suggested words give, typed with one space between words. */
export const SUGGESTED_KEY_PRESSES = 40
/**
 * Number of words from which an owner's suggestions are drawn. With fewer words each word is typed more often: five earlier
 * suggestions contain 68 % of an English suggestion's key pairs if all words are used, about 83 % with 48 words, 91 % with
 * 32, about 95 % with 20 (docs/accuracy.md). Six of 32 words, in any order, give 650 million texts.
 */
export const HOME_WORDS = 32
/** Keys of a pair: 26 letters, Space, any other. */
const KEYS = 28
const SPACE = 26
const OTHER = 27
/** Worth of a pair with any other key, against a mean of 19. Not measured; the key may be a dead key. */
const OTHER_WORTH = 10
/**
 * Largest relative deviation of an owner's worth of a pair from the general worth. At 0 all owners get the same few words; a
 * larger value selects less informative words.
 */
const OWN_SHARE = 0.5

/** General worth: information that one typing of each pair gives about its typist, in fourteenths of a nat; by first and second key. */
const GENERAL_WORTH = generalWorth()

function generalWorth(): Float64Array {
  const rows = TELLING_PAIRS.trim().split(/\s+/)
  return Float64Array.from({ length: KEYS * KEYS }, (_, pair) => {
    const digit = rows[Math.floor(pair / KEYS)]?.[pair % KEYS]
    return digit === undefined ? OTHER_WORTH : Number.parseInt(digit, 36)
  })
}

/** Worth of typing each key pair; indexed as in `pairsOf`. */
export type PairWorth = ArrayLike<number>

/** The general worth of each pair, varied for this owner by at most `ownShare`; the same for each call. */
export function pairWorth(owner: string, ownShare = OWN_SHARE): Float64Array {
  let state = 0x811c9dc5
  // FNV-1a (Fowler, Noll, Vo) distributes the owners; it is not a cryptographic hash.
  for (let i = 0; i < owner.length; i++) state = Math.imul(state ^ owner.charCodeAt(i), 0x01000193)
  const next = sequence(state)
  return GENERAL_WORTH.map((worth) => worth * (1 + ownShare * (next() / 2 ** 31 - 1)))
}

/** The key pairs of a word typed between two spaces, each as first × 28 + second. */
export function pairsOf(word: string): number[] {
  const keys = [SPACE, ...Array.from(word, placeOf), SPACE]
  return keys.slice(1).map((key, i) => (keys[i] ?? OTHER) * KEYS + key)
}

function placeOf(character: string): number {
  const letter = character.charCodeAt(0) - 97
  return character === ' ' ? SPACE : letter >= 0 && letter < 26 ? letter : OTHER
}

/** The `count` words with the highest mean worth of their pairs, best first. The mean gives long words no advantage. */
export function worthiestWords(words: readonly string[], worth: PairWorth, count: number): string[] {
  const { pairs, ends } = pairsOfAll(words)
  const best: { readonly word: string; readonly worth: number }[] = []
  let at = 0
  for (let i = 0; i < words.length; i++) {
    const [from, end] = [at, ends[i] ?? at]
    let sum = 0
    while (at < end) sum += worth[pairs[at++] ?? 0] ?? 0
    const mean = sum / (end - from)
    // Most words are skipped here: sorting all of them would take five times as long.
    if (best.length >= count && mean <= (best.at(-1)?.worth ?? 0)) continue
    let place = best.length
    while (place > 0 && (best[place - 1]?.worth ?? 0) < mean) place--
    best.splice(place, 0, { word: words[i] ?? '', worth: mean })
    if (best.length > count) best.pop()
  }
  return best.map(({ word }) => word)
}

interface PairsOfAll {
  readonly pairs: Uint16Array
  /** Where each word's pairs end. */
  readonly ends: Uint32Array
}
const known = new WeakMap<readonly string[], PairsOfAll>()
/** Cached by list: a list is never changed in place and is used many times. */
function pairsOfAll(words: readonly string[]): PairsOfAll {
  const found = known.get(words)
  if (found !== undefined) return found
  let end = 0
  const all = words.map(pairsOf)
  const made = { pairs: Uint16Array.from(all.flat()), ends: Uint32Array.from(all, ({ length }) => (end += length)) }
  known.set(words, made)
  return made
}

/**
 * Distinct words that characterise their owner; another seed draws other words. They are drawn from the owner's home
 * words, which depend only on `owner` and `words`. So a sign-in has mostly the key pairs of the enrollment, and nothing is
 * stored. Enabling or disabling a word changes no other home word except the last. `words` must be distinct; if all of them
 * give too few key presses, all are returned.
 */
export function suggestWordsFor(owner: string, seed: number, words: readonly string[]): string[] {
  return drawWords(worthiestWords(words, pairWorth(owner), HOME_WORDS), seed)
}

/** Distinct words drawn until they give enough key presses; the same seed draws the same words. */
export function drawWords(words: readonly string[], seed: number): string[] {
  const next = sequence(seed)
  const chosen = new Set<string>()
  let presses = -1
  while (presses < SUGGESTED_KEY_PRESSES && chosen.size < words.length) {
    const word = words[next() % words.length] ?? ''
    if (chosen.has(word)) continue
    chosen.add(word)
    presses += word.length + 1
  }
  return [...chosen]
}

/** Seeded numbers from 0 to 2^32 - 1 (mulberry32); for variety only, not for secrets. */
function sequence(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
}
