import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Sitting } from '../domain/sitting.js'
import {
  DATA_SETS,
  type FittableSet,
  inPieces,
  isUntouchedWriter,
  loadPeople,
  type Subject,
  splitPeople,
  type TypingSession,
} from './dataset.js'
import type { Random } from './random.js'
import { composedText, otherDays, type Round, sameText, varyingText } from './rounds.js'

/** The people of each source for fitting a model; none of a source that is absent or left out. */
export type Sources = Readonly<Record<FittableSet, readonly Subject[]>>

/** The sources that a model may be fitted on, in the order of a fit. */
export const FITTABLE = (Object.keys(DATA_SETS) as (keyof typeof DATA_SETS)[]).filter(
  (name): name is FittableSet => DATA_SETS[name].mayFit,
)

/** The result of `of` for each source. */
export const bySource = <T>(of: (source: FittableSet) => T): Record<FittableSet, T> =>
  // Sound: FITTABLE has every fittable set.
  Object.fromEntries(FITTABLE.map((source) => [source, of(source)])) as Record<FittableSet, T>

/** Which people a model is fitted on. */
export interface Selection {
  /** Folder of the open data sets. */
  readonly data: string
  /** A source that is left out. */
  readonly without: FittableSet | null
  /** Most people of a source, the first ones. */
  readonly peopleMax: number
}

/**
 * Loads the people of a selection; nobody of a source whose file is missing. Throws an error with the remedy without varying and
 * composed text. No other function of a fit reads people.
 */
export function loadSources({ data, without, peopleMax }: Selection): Sources {
  const people = bySource((source) => (source === without ? [] : load(data, source).slice(0, peopleMax)))
  if (people.aalto.length + people.klicke.length === 0) loadPeople(data, without === 'aalto' ? 'klicke' : 'aalto')
  return people
}

function load(data: string, source: FittableSet): readonly Subject[] {
  if (!existsSync(join(data, DATA_SETS[source].file))) return []
  if (source === 'aalto') return splitPeople(loadPeople(data, source)).fitting
  if (source === 'klicke') return loadPeople(data, source, (id) => !isUntouchedWriter(id))
  return loadPeople(data, source)
}

/** Presses of a piece of an essay: as many as the longest patterns of a round have. */
const PIECE = 64
const [DAY_PIECE, PIECES_MAX] = [50, 40]
/** A writer whose sessions are the pieces of the essay, in order. */
const byPieces = ({ id, sessions }: Subject): Subject => ({
  id,
  sessions: new Map(
    [...sessions.values()]
      .flatMap((text) => inPieces(text, PIECE))
      .slice(0, PIECES_MAX)
      .map((piece, i) => [String(i), piece]),
  ),
})

/** The part of a source in a fit. The weights were chosen in steps of a factor of two (model/notebook.md). */
interface Lesson {
  /** Weight of its comparisons in the fusion of both sittings, relative to the composed text. */
  readonly weight: number
  /** Passes over all people: for few people a second one is worth as much as 600 more trees (model/notebook.md). */
  readonly draws: Record<Sitting, number>
  /** Weights in the two-covariance models of varying, repeated and composed text. */
  readonly vectors: readonly [varying: number, repeated: number, composed: number]
  /** Share of the embedding's steps that draw its people; 0 for too few people. */
  readonly embedding: number
  /** Patterns of each way of typing of a person; each way counts as a person. */
  readonly ways: (person: Subject) => TypingSession[][]
  /** Comparisons for the fusion of a sitting. */
  readonly rounds: (people: readonly Subject[], sitting: Sitting, random: Random) => Generator<Round>
  /** Whether other days and ways of typing are simulated in some of its rounds: only for text that was typed in one go (model/notebook.md). */
  readonly isAltered: boolean
}

const oneWay = ({ sessions }: Subject): TypingSession[][] => [[...sessions.values()]]

/** The lesson of each source. */
export const LESSONS: Record<FittableSet, Lesson> = {
  aalto: {
    weight: 2,
    draws: { same: 3, later: 2 },
    vectors: [1, 0, 0.5],
    embedding: 0.4,
    ways: oneWay,
    rounds: (people, _, random) => varyingText(people, random),
    isAltered: true,
  },
  nislab: {
    weight: 0.5,
    draws: { same: 3, later: 2 },
    vectors: [0.05, 1, 0],
    embedding: 0,
    ways: ({ sessions }) =>
      ['h1', 'h2'].map((hand) => [...sessions].flatMap(([name, of]) => (name.includes(hand) ? [of] : []))),
    rounds: (people, _, random) => sameText(people, random),
    isAltered: true,
  },
  monacoFree: {
    weight: 0.25,
    draws: { same: 3, later: 2 },
    vectors: [0.05, 0, 0.1],
    embedding: 0,
    ways: ({ sessions }) => [[...sessions.values()].flatMap((day) => inPieces(day, DAY_PIECE))],
    rounds: (people, _, random) => otherDays(people, random),
    isAltered: false,
  },
  klicke: {
    weight: 1,
    draws: { same: 2, later: 1 },
    vectors: [0, 0, 1],
    embedding: 0.6,
    ways: oneWay,
    rounds: composedText,
    isAltered: false,
  },
  l2: {
    weight: 0.25,
    draws: { same: 3, later: 2 },
    vectors: [0, 0, 0.1],
    embedding: 0,
    ways: (person) => oneWay(byPieces(person)),
    rounds: (people, sitting, random) => composedText(people.map(byPieces), sitting, random),
    isAltered: false,
  },
}
