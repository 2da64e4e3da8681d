import type { Subject, TypingSession } from '../../src/calibration/dataset.js'
import { normal, type Random, seededRandom } from '../../src/calibration/random.js'
import { forgeWithMemory, meansOf } from '../../src/calibration/remembered-noise.js'
import type { Kernel } from '../../src/scoring/kernel.js'
import { copiesKnown, knownOf } from './profile.js'
import { createIndex } from './replays.js'
import { passphrases } from './sincere.js'

/** Presses of a text of thirty words. */
const PRESSES = 150
/** Latest patterns that a new one is compared with, as in `src/flows/attempt/pattern-memory.ts`. */
const KNOWN_MAX = 48
const PAUSE_MS = 300
/** Standard deviation of a typing's tempo, in logarithms. */
const TEMPO = 0.08

/** A person's sessions, and the words that they type again and again. */
interface Typist {
  readonly sessions: readonly TypingSession[]
  readonly text: TypingSession
}

interface SameWordsCount {
  readonly typings: number
  /** Typings that count as a copy of one of the 48 before or as a replay of any earlier one. */
  readonly called: number
  /** Earlier typings with a mark that resembles a new one's. */
  readonly resembling: number
}

/** Sessions as one, with a pause between them. */
export const joined = (sessions: readonly TypingSession[]): TypingSession => {
  let at = 0
  return sessions.flatMap((session) => {
    const shift = at - (session[0]?.pressMs ?? 0)
    at = shift + (session.at(-1)?.pressMs ?? 0) + PAUSE_MS
    return session.map(({ key, pressMs, releaseMs }) => ({
      key,
      pressMs: pressMs + shift,
      releaseMs: releaseMs + shift,
    }))
  })
}

export const sentenceTypists = (people: readonly Subject[]): Typist[] =>
  people.map((person) => {
    const sessions = [...person.sessions.values()]
    return { sessions, text: joined(sessions).slice(0, PRESSES) }
  })

/** NISLAB's people type all their phrases with two hands, twice. */
export const phraseTypists = (people: readonly Subject[]): Typist[] =>
  people.map((person) => {
    const phrases = passphrases([person], 'h2')
    const each = phrases.flatMap(([first]) => (first === undefined ? [] : [first]))
    return { sessions: phrases.flat(), text: joined([...each, ...each]).slice(0, PRESSES) }
  })

/**
 * People who type the same words `typings` times. The open data have at most ten repetitions of a text, so the typings are drawn
 * from each person's own means and spreads by key pair, with residuals that depend on one another and a tempo of the day.
 */
export function countSameWords(kernel: Kernel, typists: readonly Typist[], typings: number): SameWordsCount {
  const counts = typists.map((typist, i) => countOf(kernel, typist, typings, seededRandom(i)))
  const sum = (of: 'called' | 'resembling') => counts.reduce((all, count) => all + count[of], 0)
  return { typings: typings * typists.length, called: sum('called'), resembling: sum('resembling') }
}

function countOf(kernel: Kernel, { sessions, text }: Typist, typings: number, random: Random) {
  const means = meansOf(sessions)
  const index = createIndex(kernel)
  let known: Uint8Array[] = []
  let [called, resembling] = [0, 0]
  for (let i = 0; i < typings; i++) {
    const tempo = Math.exp(TEMPO * normal(random))
    const typed = forgeWithMemory('S7joint', text, { victim: means, strangers: [] }, { gridMs: 1, random }).map(
      ({ key, pressMs, releaseMs }) => ({
        key,
        pressMs: tempo * pressMs,
        releaseMs: tempo * releaseMs,
      }),
    )
    const found = index.add(typed)
    if (found.isReplay || (known.length > 0 && copiesKnown(kernel, typed, known))) called++
    resembling += found.nResembling
    known = [...known, knownOf(typed)].slice(-KNOWN_MAX)
  }
  return { called, resembling }
}
