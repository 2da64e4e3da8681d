import { TELLING_PAIRS } from './words/telling-pairs.js'

/** Fewest key presses that suggested words give, typed with one space between words. */
export const SUGGESTED_KEY_PRESSES = 40
/** Patterns whose words together cover the key pairs of a language: the target of a profile by default. */
export const ENROLLED_TOGETHER = 5
/** Sign-ins in which no word comes twice, if the list has enough words: as many as the latest patterns that a copy is searched in. */
const SIGN_INS_APART = 49
/**
 * Number of words from which one sign-in draws about seven. The more there are, the fewer words two concurrent sessions share. Below
 * `least`, a text could be predicted. Above `most`, a longer list serves the choice of key pairs better.
 */
const DRAWN_FROM = { least: 10, most: 14 }
/** Plans of a list. A person has one of them, in an order of their own. */
const PLANS = 16
/** Factor of a pair's worth for each enrolled word that has the pair already. Not measured. */
const AGAIN = 0.25
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
  const next = sequence(hashOf(owner))
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
  /** End of each word's pairs. */
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

/** The use of a suggestion: the pattern after `n` enrolled ones, or the sign-in after `n` patterns of the profile and attempts. */
export interface WordTurn {
  readonly enrolls: boolean
  readonly n: number
}

/** The words of a list by their use: those of an enrollment, pattern by pattern, and those of sign-ins. */
interface Plan {
  readonly enrollment: readonly (readonly string[])[]
  readonly signIns: readonly string[]
}

/**
 * Distinct words for one pattern of their owner; another seed draws other words, or another order. The words of an enrollment
 * cover as many of the language's key pairs as they can, those first that identify people best. The words of sign-ins are others,
 * with these key pairs: no word of the enrollment, and none of about the last 48 sign-ins. They follow from the owner, the list and
 * `turn`, so nothing is stored, and a repeated call returns no word that was typed before. `words` must be distinct; if all of them
 * give too few key presses, all are returned.
 */
export function suggestWordsFor(owner: string, words: readonly string[], turn: WordTurn, seed: number): string[] {
  const hash = hashOf(owner)
  const { enrollment, signIns } = planOf(words, hash % PLANS)
  if (turn.enrolls) return shuffled(enrollment[turn.n % enrollment.length] ?? words, seed)
  const { length } = signIns
  const size = Math.min(DRAWN_FROM.most, Math.max(DRAWN_FROM.least, Math.floor(length / SIGN_INS_APART)))
  const next = sequence(hash)
  const [start, stride] = [next() % length, strideOf(length, next())]
  const drawn: string[] = []
  for (let i = 0, presses = -1; i < length && (i < size || presses < SUGGESTED_KEY_PRESSES); i++) {
    const word = signIns[(start + stride * ((turn.n * size + i) % length)) % length] ?? ''
    drawn.push(word)
    presses += word.length + 1
  }
  return drawWords(drawn, seed)
}

/** A number without a common divisor with `length`: its multiples visit every place once. */
function strideOf(length: number, wish: number): number {
  const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b))
  let stride = 1 + (wish % length)
  while (divisor(stride, length) > 1) stride++
  return stride
}

const plans = new WeakMap<readonly string[], (Plan | undefined)[]>()
/** Cached by list, because it takes half a millisecond. */
function planOf(words: readonly string[], number: number): Plan {
  const made = plans.get(words) ?? []
  plans.set(words, made)
  const plan = made[number] ?? planned(words, pairWorth(`plan ${number}`))
  made[number] = plan
  return plan
}

function planned(words: readonly string[], worth: PairWorth): Plan {
  const enrollment = coveringWords(words, worth, ENROLLED_TOGETHER)
  const enrolled = new Set(enrollment.flat())
  const held = new Set([...enrolled].flatMap(pairsOf))
  const heldWorth = Array.from(worth, (one, pair) => (held.has(pair) ? one : 0))
  const others = words.filter((word) => !enrolled.has(word))
  const signIns = worthiestWords(others, heldWorth, SIGN_INS_APART * DRAWN_FROM.most)
  return { enrollment, signIns: pressesOf(signIns) < SUGGESTED_KEY_PRESSES ? words : signIns }
}

const pressesOf = (words: readonly string[]): number => words.reduce((sum, word) => sum + word.length + 1, -1)

/**
 * At most half of the words, in up to `n` patterns that together have the key pairs of most worth and frequency in the list. Each
 * word is the one that adds most worth per key press.
 */
export function coveringWords(words: readonly string[], worth: PairWorth, n: number): string[][] {
  const { pairs, ends } = pairsOfAll(words)
  const left = Array.from(worth, () => 0)
  for (const pair of pairs) left[pair] = (left[pair] ?? 0) + (worth[pair] ?? 0)
  const taken = new Set<number>()
  const patterns: string[][] = []
  const isOpen = () => patterns.length < n && (taken.size < words.length / 2 || patterns.length === 0)
  for (let pattern: string[] = []; isOpen() && taken.size < words.length; ) {
    const best = bestOf(ends, pairs, left, taken)
    taken.add(best)
    pattern.push(words[best] ?? '')
    for (let at = ends[best - 1] ?? 0; at < (ends[best] ?? 0); at++) {
      const pair = pairs[at] ?? 0
      left[pair] = AGAIN * (left[pair] ?? 0)
    }
    if (pressesOf(pattern) < SUGGESTED_KEY_PRESSES && taken.size < words.length) continue
    patterns.push(pattern)
    pattern = []
  }
  return patterns
}

/** The word that is not taken and has most worth left per key press. */
function bestOf(ends: Uint32Array, pairs: Uint16Array, left: readonly number[], taken: ReadonlySet<number>): number {
  let [best, most] = [0, Number.NEGATIVE_INFINITY]
  for (let i = 0, at = 0; i < ends.length; i++) {
    const [from, end] = [at, ends[i] ?? at]
    let sum = 0
    while (at < end) sum += left[pairs[at++] ?? 0] ?? 0
    if (sum / (end - from) <= most || taken.has(i)) continue
    ;[best, most] = [i, sum / (end - from)]
  }
  return best
}

function shuffled(words: readonly string[], seed: number): string[] {
  const next = sequence(seed)
  return words
    .map((word) => ({ word, at: next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ word }) => word)
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

/** FNV-1a (Fowler, Noll, Vo) distributes the owners; it is not a cryptographic hash. */
function hashOf(owner: string): number {
  let state = 0x811c9dc5
  for (let i = 0; i < owner.length; i++) state = Math.imul(state ^ owner.charCodeAt(i), 0x01000193)
  return state >>> 0
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
