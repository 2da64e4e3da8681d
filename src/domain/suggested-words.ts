import { TELLING_PAIRS } from './words/telling-pairs.js'

/** Suggested words, typed with a space between each two, give at least this many key presses. */
export const SUGGESTED_KEY_PRESSES = 40
/**
 * Words an owner's suggestions are drawn from. Fewer are typed more often: of an English suggestion's key pairs five earlier
 * ones hold 68 % where all words are drawn from, some 83 % with 48 words, 91 % with 32, some 95 % with 20 (docs/accuracy.md).
 * Six of 32, in any order, are 650 million texts.
 */
export const HOME_WORDS = 32
/** Keys of a pair: 26 letters, Space, any other. */
const KEYS = 28
const SPACE = 26
const OTHER = 27
/** What a pair with any other key is worth, for a mean of 19: nobody measured it, and it may be a dead key. */
const OTHER_WORTH = 10
/**
 * How far an owner's own worth of a pair lies from what it tells of people in general: up to a half. Without it everybody is
 * given the same few words; with more they tell less.
 */
const OWN_SHARE = 0.5

/** By first key and second: what one typing of each pair tells of who typed it, in fourteenths of a nat. */
const TELLS = tells()

function tells(): Float64Array {
  const rows = TELLING_PAIRS.trim().split(/\s+/)
  return Float64Array.from({ length: KEYS * KEYS }, (_, pair) => {
    const digit = rows[Math.floor(pair / KEYS)]?.[pair % KEYS]
    return digit === undefined ? OTHER_WORTH : Number.parseInt(digit, 36)
  })
}

/** What typing each key pair is worth; by first key and second, see `pairsOf`. */
export type PairWorth = ArrayLike<number>

/** What pairs tell of anybody, moved up or down for this owner by `ownShare` at most, always the same way. */
export function pairWorth(owner: string, ownShare = OWN_SHARE): Float64Array {
  let state = 0x811c9dc5
  // FNV-1a (Fowler, Noll, Vo): spreads owners, hides nothing.
  for (let i = 0; i < owner.length; i++) state = Math.imul(state ^ owner.charCodeAt(i), 0x01000193)
  const next = sequence(state)
  return TELLS.map((tell) => tell * (1 + ownShare * (next() / 2 ** 31 - 1)))
}

/** The key pairs of a word typed between two spaces, each as first x 28 + second. */
export function pairsOf(word: string): number[] {
  const keys = [SPACE, ...Array.from(word, placeOf), SPACE]
  return keys.slice(1).map((key, i) => (keys[i] ?? OTHER) * KEYS + key)
}

function placeOf(character: string): number {
  const letter = character.charCodeAt(0) - 97
  return character === ' ' ? SPACE : letter >= 0 && letter < 26 ? letter : OTHER
}

/** The `count` words whose pairs are worth most on average, so that long words have no advantage; the best first. */
export function worthiestWords(words: readonly string[], worth: PairWorth, count: number): string[] {
  const { pairs, ends } = pairsOfAll(words)
  const best: { readonly word: string; readonly worth: number }[] = []
  let at = 0
  for (let i = 0; i < words.length; i++) {
    const [from, end] = [at, ends[i] ?? at]
    let sum = 0
    while (at < end) sum += worth[pairs[at++] ?? 0] ?? 0
    const mean = sum / (end - from)
    // Most words end here: sorting all of them would cost five times as much.
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
/** A list of words is never changed in place, and asked about again and again. */
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
 * Words that tell their owner apart, different from each other and, from seed to seed, from the last ones: drawn from the
 * owner's home words, which are always the same of the same `words`, so that what is typed at a sign-in has the pairs that
 * were typed at enrollment, and nothing needs to be remembered. A word that is enabled or disabled changes no other home
 * word but the last. `words` must all be different; where all of them give too few key presses, all come back.
 */
export function suggestWordsFor(owner: string, seed: number, words: readonly string[]): string[] {
  return drawWords(worthiestWords(words, pairWorth(owner), HOME_WORDS), seed)
}

/** Any of `words`, all different, until they give enough key presses; the same seed draws the same ones. */
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

/** Seeded numbers from 0 to 2^32 - 1 (mulberry32): variety is all that is asked of them. */
function sequence(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
}
