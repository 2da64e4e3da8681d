import type { Sitting } from '../domain/sitting.js'
import { inPieces, type Subject, type TypingSession } from './dataset.js'
import { type Random, shuffled } from './random.js'

/** One enrolment: references, probes of the same person, probes of others. */
export interface Round {
  readonly references: readonly TypingSession[]
  readonly genuine: readonly TypingSession[]
  readonly impostors: readonly TypingSession[]
  readonly masked?: boolean
}

/** Impostors in a round: of varying text, of composed text, of same text, of other days. */
const IMPOSTORS = { varying: 20, composed: 20, same: 15, days: 16 }

const whole = (random: Random, from: number, to: number): number => from + Math.floor(random() * (to - from + 1))
const pick = <T>(items: readonly T[], random: Random): T => items[Math.floor(random() * items.length)] as T // below the length

/** Number of references and of presses of five rounds: two as in P1, one as in P2, one of any length and number, one masked. */
function choices(random: Random): (() => readonly [references: number, presses: number])[] {
  const any = () => [whole(random, 3, 10), whole(random, 15, 64)] as const
  return [() => [5, 50] as const, () => [5, 50] as const, () => [5, 25] as const, any, any]
}
/** Index in `choices` of the round without keys. */
const MASKED = 4

/** Five random choices of references for each person. */
export function* varyingText(people: readonly Subject[], random: Random): Generator<Round> {
  for (const [i, choose] of choices(random).entries()) {
    for (const person of people) {
      const [references, presses] = choose()
      const own = shuffled([...person.sessions.values()], random).map((session) => session.slice(0, presses))
      yield {
        references: own.slice(0, references),
        genuine: own.slice(references),
        impostors: foreign(people, person, { count: IMPOSTORS.varying, random }, (other) =>
          pick([...other.sessions.values()], random).slice(0, presses),
        ),
        masked: i === MASKED,
      }
    }
  }
}

/** Most probes of the person in a round of composed text: as many as a round of varying text has. */
const GENUINE_MAX = 10

/**
 * Rounds over the pieces of one essay, in its order. In the same sitting the references are neighbouring pieces in half of the
 * rounds, and any pieces in the others; the probes are any other pieces. For a later sitting the references are of the first
 * half of the essay and the probes of its last quarter.
 */
export function* composedText(people: readonly Subject[], sitting: Sitting, random: Random): Generator<Round> {
  for (const [i, choose] of choices(random).entries()) {
    for (const person of people) {
      const [references, presses] = choose()
      const pieces = [...person.sessions.values()].map((piece) => piece.slice(0, presses))
      const half = pieces.slice(0, sitting === 'later' ? Math.floor(pieces.length / 2) : pieces.length)
      const from = whole(random, 0, Math.max(0, half.length - references))
      const own = random() < 0.5 ? half.slice(from, from + references) : shuffled(half, random).slice(0, references)
      const late = sitting === 'later' ? pieces.slice(Math.floor((3 * pieces.length) / 4)) : pieces
      const rest = late.filter((piece) => !own.includes(piece))
      yield {
        references: own,
        genuine: shuffled(rest, random).slice(0, GENUINE_MAX),
        impostors: foreign(people, person, { count: IMPOSTORS.composed, random }, (other) =>
          pick([...other.sessions.values()], random).slice(0, presses),
        ),
        masked: i === MASKED,
      }
    }
  }
}

/** One session each of randomly drawn other people; fewer if some have none. */
function foreign(
  people: readonly Subject[],
  person: Subject,
  { count, random }: { readonly count: number; readonly random: Random },
  of: (other: Subject) => TypingSession | undefined,
): TypingSession[] {
  const others = people.filter((other) => other !== person)
  return Array.from({ length: count }, () => of(pick(others, random))).filter((session) => session !== undefined)
}

const PHRASES = [1, 2, 3, 4, 5]
const REPETITIONS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]

/** Every passphrase and hand class, in order and shuffled, a third of them with another number of references; then mixed phrases. */
export function* sameText(people: readonly Subject[], random: Random): Generator<Round> {
  for (const person of people) {
    for (const hands of ['h1', 'h2']) {
      const typed = (who: Subject, phrase: number, repetition: number) =>
        who.sessions.get(`P${phrase}-${hands}-${repetition}`)
      for (const phrase of PHRASES) {
        for (let round = 0; round < 3; round++) {
          const order = round === 0 ? REPETITIONS : shuffled(REPETITIONS, random)
          const own = order
            .map((repetition) => typed(person, phrase, repetition))
            .filter((found) => found !== undefined)
          const references = round < 2 ? 5 : whole(random, 3, 8)
          yield {
            references: own.slice(0, references),
            genuine: own.slice(references),
            impostors: foreign(people, person, { count: IMPOSTORS.same, random }, (other) =>
              typed(other, phrase, whole(random, 1, 10)),
            ),
            masked: round === 2 && random() < 0.3,
          }
        }
      }
      for (let round = 0; round < 3; round++) {
        const phrases = shuffled(PHRASES, random)
        const draw = (who: Subject, at: number) => typed(who, phrases[at] ?? 1, whole(random, 1, 10))
        const references = [0, 1, 2, 3, 0].map((at) => draw(person, at)).filter((found) => found !== undefined)
        const probes = [4, 4, 4, 1, 1].map((at) => draw(person, at)).filter((found) => found !== undefined)
        yield {
          references,
          genuine: probes.filter((probe) => !references.includes(probe)),
          impostors: foreign(people, person, { count: IMPOSTORS.same, random }, (other) =>
            draw(other, random() < 0.6 ? 4 : 1),
          ),
        }
      }
    }
  }
}

/** Enrolls each session in pieces of 50 presses, with pieces of the person's other sessions as probes. */
export function* otherDays(people: readonly Subject[], random: Random): Generator<Round> {
  const pieces = (session: TypingSession): TypingSession[] => inPieces(session, 50)
  for (const person of people) {
    const sessions = [...person.sessions.values()].map(pieces)
    for (const enrolled of sessions) {
      for (let round = 0; round < 3; round++) {
        const presses = round < 2 ? 50 : whole(random, 20, 50)
        const count = round < 2 ? 5 : whole(random, 3, 8)
        const own = round === 0 ? enrolled : shuffled(enrolled, random)
        const others = sessions.filter((session) => session !== enrolled && session.length > 0)
        const later = others.length === 0 ? [] : Array.from({ length: 8 }, () => pick(pick(others, random), random))
        const genuine = round < 2 ? later : [...later, ...own.slice(count, count + 2)]
        const cut = (list: readonly TypingSession[]) => list.map((session) => session.slice(0, presses))
        yield {
          references: cut(own.slice(0, count)),
          genuine: cut(genuine),
          impostors: cut(
            foreign(people, person, { count: IMPOSTORS.days, random }, (other) =>
              pick(pieces(pick([...other.sessions.values()], random)), random),
            ),
          ),
        }
      }
    }
  }
}
