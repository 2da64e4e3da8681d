import { createKernel, type Kernel } from '../scoring/kernel.js'
import { encodeSample } from '../scoring/sample.js'
import type { Sources } from './comparisons.js'
import { fitComponents } from './components.js'
import type { Subject, TypingSession } from './dataset.js'
import { meanOf } from './metrics.js'
import { blankModel, encodeModel, FEATURE_KINDS, type ModelParts, SUMMARY_SIZE } from './model-file.js'
import { fitPopulation, keysOf, type RawSession } from './population.js'
import { fitTwoCovariance, type VectorGroup } from './two-covariance.js'

/** With four folds each fold's two-covariance models still see three quarters of the people. */
export const FOLDS = 4
const PRESSES_MAX = 64
/** Weight of NISLAB and Monaco in the model of varying text: a higher one worsens P1 and improves P3 (model/notebook.md). */
const REPEATED_SHARE = 0.05
/** Shrinkage to the diagonal: `varying` for many people with fifteen patterns, `same` for 55 people with fifty in each of two ways. */
const RIDGE = { varying: 0.02, same: 0.1 }

/** The kernel's log times of the first presses of every session, by person. */
function readPeople(kernel: Kernel, people: readonly Subject[], which: 'raw' | 'z'): RawSession[][] {
  return people.map(({ sessions }) =>
    [...sessions.values()].map((session) => {
      const keys = keysOf(session, PRESSES_MAX)
      kernel.read(0, encodeSample(session.slice(0, PRESSES_MAX), 'visible'))
      const row = (kind: number) => kernel.row(which, 0, kind).slice(0, kind === 0 ? keys.length : keys.length - 1)
      return { keys, rows: Array.from({ length: FEATURE_KINDS }, (_, kind) => row(kind)) }
    }),
  )
}

/** The parts that are fitted before any tree: population, variances, scales, two-covariance models. */
export interface Foundation {
  readonly whole: ModelParts
  /** The parts with two-covariance models fitted without each fold. */
  readonly folds: readonly ModelParts[]
}

/**
 * Fits population, variances and scales on the varying text alone, and the two-covariance models on all sources: the first
 * mostly on varying text, the second on people who repeat theirs. Each way of typing (one hand, two) counts as a person.
 */
export function fitFoundation(wasm: Uint8Array, people: Sources, onProgress: (message: string) => void): Foundation {
  const raw = readPeople(createKernel(wasm, encodeModel(blankModel())), people.aalto, 'raw')
  const population = { ...blankModel(), ...fitPopulation(raw.flat()) }
  const normalising = createKernel(wasm, encodeModel(population))
  const components = fitComponents(readPeople(normalising, people.aalto, 'z'))
  const read = (session: TypingSession) => {
    normalising.read(0, encodeSample(session.slice(0, 50), 'visible'))
    return { vector: normalising.vector(0).slice(), summary: normalising.summary(0).slice() }
  }
  const patterns = people.aalto.map(({ sessions }) => [...sessions.values()].map(read))
  const summaryScales = scalesOf(patterns.map((own) => own.map(({ summary }) => summary)))
  const normalised = { ...population, components, summaryScales }
  const vectorsOf = (sessions: readonly TypingSession[]) => sessions.map((session) => read(session).vector)
  const varying = patterns.map((own) => own.map(({ vector }) => vector))
  const hands = people.nislab.map(({ sessions }) =>
    ['h1', 'h2'].map((hand) => vectorsOf([...sessions].flatMap(([name, of]) => (name.includes(hand) ? [of] : [])))),
  )
  const days = people.monacoFree.map(({ sessions }) =>
    vectorsOf(
      [...sessions.values()]
        .flatMap((of) => [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((i) => of.slice(50 * i, 50 * i + 50)))
        .filter((piece) => piece.length >= 15),
    ),
  )
  const without = (fold: number): ModelParts => {
    const kept = <T>(all: readonly T[]): T[] => all.filter((_, i) => i % FOLDS !== fold)
    const repeated: VectorGroup = { weight: REPEATED_SHARE, people: kept(hands).flat() }
    const groups = [{ weight: 1, people: kept(varying) }, repeated, { weight: REPEATED_SHARE, people: kept(days) }]
    const first = fitTwoCovariance(
      groups.filter((group) => group.people.length > 1),
      RIDGE.varying,
    )
    const second = repeated.people.length > 1 ? fitTwoCovariance([repeated], RIDGE.same) : first
    return { ...normalised, twoCovariances: [first, second] }
  }
  onProgress(`population of ${population.nContexts} contexts`)
  return { whole: without(-1), folds: Array.from({ length: FOLDS }, (_, fold) => without(fold)) }
}

/** Inverse within-person deviations, population means, inverse population deviations. */
function scalesOf(people: readonly (readonly Float32Array[])[]): Float32Array {
  const out = new Float32Array(3 * SUMMARY_SIZE)
  for (let i = 0; i < SUMMARY_SIZE; i++) {
    const all = people.flatMap((summaries) => summaries.map((summary) => summary[i] ?? 0))
    const within = people.map((summaries) => varianceOf(summaries.map((summary) => summary[i] ?? 0)))
    out[i] = 1 / (Math.sqrt(meanOf(within)) + 1e-6)
    out[SUMMARY_SIZE + i] = meanOf(all)
    out[2 * SUMMARY_SIZE + i] = 1 / (Math.sqrt(varianceOf(all)) + 1e-6)
  }
  return out
}

function varianceOf(values: readonly number[]): number {
  const mean = meanOf(values)
  return meanOf(values.map((value) => (value - mean) ** 2))
}
