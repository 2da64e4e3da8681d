import { createKernel, type Kernel } from '../scoring/kernel.js'
import { encodeSample } from '../scoring/sample.js'
import type { Examples } from './boosting.js'
import type { Person, Session } from './dataset.js'
import { type Random, seededRandom, shuffled } from './random.js'
import { collector } from './rows.js'

/** The people of each source for fitting a model. */
export interface Sources {
  readonly aalto: readonly Person[]
  readonly nislab: readonly Person[]
  readonly monacoFree: readonly Person[]
}

/** Comparison examples with the metadata for calibration. */
export interface Comparisons extends Examples {
  readonly weights: Float32Array
  /** Fold of the row's people: a model fitted without it has seen none of them. */
  readonly folds: Uint8Array
  /** 0 varying text, 1 same text, 2 other days. */
  readonly sources: Uint8Array
}

/** One enrolment: references, probes of the same person, probes of others. */
interface Round {
  readonly references: readonly Session[]
  readonly genuine: readonly Session[]
  readonly impostors: readonly Session[]
  readonly masked?: boolean
}

/** Weight of each source relative to the varying text, chosen among 0.3 to 1 and 0.15 to 0.4 (docs/accuracy.md). */
const SOURCE_WEIGHTS = [1, 0.5, 0.25]
const IMPOSTORS = [20, 15, 16]
/** Passes over all people: a second one is worth as much as 600 more trees (docs/accuracy.md). */
const DRAWS = 2

const whole = (random: Random, from: number, to: number): number => from + Math.floor(random() * (to - from + 1))
const pick = <T>(items: readonly T[], random: Random): T => items[Math.floor(random() * items.length)] as T // below the length
const sample = (session: Session, masked: boolean): Uint8Array =>
  masked
    ? encodeSample(
        session.map((press) => ({ ...press, key: 0 })),
        'sensitive',
      )
    : encodeSample(session, 'visible')

/**
 * Genuine and impostor comparisons of every source, computed by the kernel, for the fusion. `models` are alternate model
 * files, one a fold (person i is in fold i modulo their number), each fitted without its fold, so that the fusion learns
 * their results on strangers. Impostors come from the person's own fold. The same seed gives the same rows.
 */
export function comparisonExamples(
  wasm: Uint8Array,
  models: readonly Uint8Array[],
  people: Sources,
  seed: number,
): Comparisons {
  const random = seededRandom(seed)
  const folds: number[] = []
  const sources: number[] = []
  let rows: ReturnType<typeof collector> | undefined
  models.forEach((model, fold) => {
    const kernel = createKernel(wasm, model)
    const within = (all: readonly Person[]) => all.filter((_, i) => i % models.length === fold)
    const own = {
      aalto: within(people.aalto),
      nislab: within(people.nislab),
      monacoFree: within(people.monacoFree),
    }
    for (const [source, round] of drawn(own, random)) {
      for (const [label, row] of compared(kernel, round)) {
        rows ??= collector(row.length)
        rows.add(row, label)
        folds.push(fold)
        sources.push(source)
      }
    }
  })
  if (rows === undefined) throw new Error('no people to fit on')
  return {
    ...rows.done(),
    weights: weightsOf(sources),
    folds: Uint8Array.from(folds),
    sources: Uint8Array.from(sources),
  }
}

/** Every round of every source (0 varying text, 1 same text, 2 other days), DRAWS times. */
function* drawn(people: Sources, random: Random): Generator<[source: number, round: Round]> {
  for (let draw = 0; draw < DRAWS; draw++) {
    for (const round of varyingText(people.aalto, random)) yield [0, round]
    for (const round of sameText(people.nislab, random)) yield [1, round]
    for (const round of otherDays(people.monacoFree, random)) yield [2, round]
  }
}

function* compared(kernel: Kernel, round: Round): Generator<[label: 0 | 1, row: Float32Array]> {
  const { references, genuine, impostors, masked = false } = round
  if (references.length === 0) return
  for (const [i, session] of references.entries()) kernel.read(i + 1, sample(session, masked))
  kernel.enroll(references.length)
  for (const [label, sessions] of [[1, genuine] as const, [0, impostors] as const]) {
    for (const session of sessions) {
      kernel.read(0, sample(session, masked))
      yield [label, kernel.compare(references.length)]
    }
  }
}

/** Row weights that give each source the total weight in SOURCE_WEIGHTS; the unit is a row of varying text. */
function weightsOf(sources: readonly number[]): Float32Array {
  const counts = SOURCE_WEIGHTS.map((_, source) => sources.filter((of) => of === source).length)
  const each = SOURCE_WEIGHTS.map((weight, source) => (weight * (counts[0] ?? 1)) / (counts[source] || 1))
  return Float32Array.from(sources, (source) => each[source] ?? 1)
}

/** Five random choices of references for each person: two as in P1, one as in P2, one of any length and number, one masked. */
function* varyingText(people: readonly Person[], random: Random): Generator<Round> {
  const any = () => [whole(random, 3, 10), whole(random, 15, 64)] as const
  const rounds = [() => [5, 50] as const, () => [5, 50] as const, () => [5, 25] as const, any, any]
  for (const [i, choose] of rounds.entries()) {
    for (const person of people) {
      const [references, presses] = choose()
      const own = shuffled([...person.sessions.values()], random).map((session) => session.slice(0, presses))
      yield {
        references: own.slice(0, references),
        genuine: own.slice(references),
        impostors: foreign(people, person, IMPOSTORS[0] ?? 0, random, (other) =>
          pick([...other.sessions.values()], random).slice(0, presses),
        ),
        masked: i === 4,
      }
    }
  }
}

/** One session each of randomly drawn other people; fewer if some have none. */
function foreign(
  people: readonly Person[],
  person: Person,
  count: number,
  random: Random,
  of: (other: Person) => Session | undefined,
): Session[] {
  const others = people.filter((other) => other !== person)
  return Array.from({ length: count }, () => of(pick(others, random))).filter((session) => session !== undefined)
}

const PHRASES = [1, 2, 3, 4, 5]
const REPETITIONS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]

/** Every passphrase and hand class, in order and shuffled, a third of them with other numbers of references; then mixed phrases. */
function* sameText(people: readonly Person[], random: Random): Generator<Round> {
  for (const person of people) {
    for (const hands of ['h1', 'h2']) {
      const typed = (who: Person, phrase: number, repetition: number) =>
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
            impostors: foreign(people, person, IMPOSTORS[1] ?? 0, random, (other) =>
              typed(other, phrase, whole(random, 1, 10)),
            ),
            masked: round === 2 && random() < 0.3,
          }
        }
      }
      for (let round = 0; round < 3; round++) {
        const phrases = shuffled(PHRASES, random)
        const draw = (who: Person, at: number) => typed(who, phrases[at] ?? 1, whole(random, 1, 10))
        const references = [0, 1, 2, 3, 0].map((at) => draw(person, at)).filter((found) => found !== undefined)
        const probes = [4, 4, 4, 1, 1].map((at) => draw(person, at)).filter((found) => found !== undefined)
        yield {
          references,
          genuine: probes.filter((probe) => !references.includes(probe)),
          impostors: foreign(people, person, IMPOSTORS[1] ?? 0, random, (other) => draw(other, random() < 0.6 ? 4 : 1)),
        }
      }
    }
  }
}

/** Each session enrolled in pieces of 50 presses, with pieces of the person's other sessions as probes. */
function* otherDays(people: readonly Person[], random: Random): Generator<Round> {
  const pieces = (session: Session): Session[] =>
    Array.from({ length: Math.floor(session.length / 50) }, (_, i) => session.slice(50 * i, 50 * i + 50))
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
        const cut = (list: readonly Session[]) => list.map((session) => session.slice(0, presses))
        yield {
          references: cut(own.slice(0, count)),
          genuine: cut(genuine),
          impostors: cut(
            foreign(people, person, IMPOSTORS[2] ?? 0, random, (other) =>
              pick(pieces(pick([...other.sessions.values()], random)), random),
            ),
          ),
        }
      }
    }
  }
}
