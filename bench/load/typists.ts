import { loadPeople } from '../../src/calibration/dataset.js'
import { seededRandom, shuffled } from '../../src/calibration/random.js'
import { suggestWords } from '../../src/domain/typing-words.js'
import { person, type TypedKey } from '../../src/typist/made-up-person.js'
import { glued, takeWords, type WordPiece, wordPieces } from '../accuracy/word-pieces.js'

/** A person that types. `n` counts the person's patterns in the run: no two patterns are the same typing. */
export interface Typist {
  enrolls(words: readonly string[], n: number): readonly TypedKey[]
  signsIn(words: readonly string[], n: number): readonly TypedKey[]
}

/** People by number; a data set starts again from its first person when used up. */
export interface Crowd {
  typist(index: number): Typist
}

const PRESSES_MIN = 40

/** The suggested words, a to z only; with further words if they are too few for a pattern. */
function textOf(words: readonly string[], n: number): string {
  const plain = words.map((word) => word.toLowerCase().replace(/[^a-z]/g, '')).filter((word) => word !== '')
  const text = plain.join(' ')
  return text.length >= PRESSES_MIN ? text : `${text} ${suggestWords('en', n).join(' ')}`.trim()
}

/** Synthetic people: the same seed and run give the same typing. `run` prevents replays of another run's typing. */
export const madeUpCrowd = (seed: number, run: number): Crowd => ({
  typist(index) {
    const who = person((seed % 40) * 100_000 + index)
    const types: Typist['enrolls'] = (words, n) => who.keys(textOf(words, n), run + n)
    return { enrolls: types, signsIn: types }
  },
})

/** A person's sessions for references, and those for sign-ins. */
const ENROLLED_FROM = [0, 10] as const
const SIGNS_IN_FROM = [10, 15] as const

/**
 * People of the open data set in a folder. The service refuses a replay, so a recorded session can be sent only once.
 * Therefore each pattern combines whole words that the person typed, with their timings, in a new random order: references
 * from the first ten sessions, sign-ins from the last five. Suggested words are ignored, because no recording has them.
 */
export function dataCrowd(folder: string, seed: number, run: number): Crowd {
  const people = loadPeople(folder, 'aalto')
    .map((who) => ({ enroll: wordPieces(who, ...ENROLLED_FROM), signIn: wordPieces(who, ...SIGNS_IN_FROM) }))
    .filter(({ enroll, signIn }) => presses(enroll) > 6 * PRESSES_MIN && presses(signIn) > 3 * PRESSES_MIN)
  const order = shuffled(people, seededRandom(seed))
  return {
    typist(index) {
      const who = order[index % order.length]
      if (who === undefined) throw new Error(`the data set in ${folder} has no person with enough words`)
      const drawn = (pieces: readonly WordPiece[], n: number) =>
        typedKeys(takeWords(shuffled(pieces, seededRandom(run * 31 + index * 100_003 + n)), PRESSES_MIN))
      return { enrolls: (_, n) => drawn(who.enroll, n), signsIn: (_, n) => drawn(who.signIn, n) }
    },
  }
}

const presses = (pieces: readonly WordPiece[]) => pieces.reduce((sum, piece) => sum + piece.presses.length, 0)

const SPACE = 37
const typedKeys = (pieces: readonly WordPiece[]): TypedKey[] => {
  const session = glued(pieces)
  const first = session[0]?.pressMs ?? 0
  return session.map(({ key, pressMs, releaseMs }) => [
    key === SPACE ? ' ' : String.fromCharCode(96 + key),
    pressMs - first,
    releaseMs - first,
  ])
}
