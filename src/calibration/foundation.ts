import { createKernel, type Kernel } from '../scoring/kernel.js'
import { encodeSample } from '../scoring/sample.js'
import { fitComponents } from './components.js'
import type { TypingSession } from './dataset.js'
import type { EmbeddingSource } from './embedding.js'
import { bySource, FITTABLE, LESSONS, type Sources } from './fitted-sources.js'
import { meanOf } from './metrics.js'
import {
  blankModel,
  type Embedding,
  encodeModel,
  FEATURE_KINDS,
  type ModelParts,
  SUMMARY_SIZE,
  VECTOR_SIZE,
} from './model-file.js'
import { fitPopulation, keysOf, type RawSession } from './population.js'
import { fitTwoCovariance, type VectorGroup } from './two-covariance.js'

const PRESSES_MAX = 64
/** Shrinkage to the diagonal: little for many people, more for the 55 people with fifty patterns in each of two ways. */
const RIDGES = [0.02, 0.1, 0.02]

/** A person's patterns in one way of typing. */
type Typist = readonly TypingSession[]

/** The kernel's log times of the first presses of every pattern, by person. */
function readPeople(kernel: Kernel, people: readonly Typist[], which: 'raw' | 'z'): RawSession[][] {
  return people.map((sessions) =>
    sessions.map((session) => {
      const keys = keysOf(session, PRESSES_MAX)
      kernel.read(0, encodeSample(session.slice(0, PRESSES_MAX), 'visible'))
      const row = (kind: number) => kernel.row(which, 0, kind).slice(0, kind === 0 ? keys.length : keys.length - 1)
      return { keys, rows: Array.from({ length: FEATURE_KINDS }, (_, kind) => row(kind)) }
    }),
  )
}

/** The parts that are fitted before any tree: population, variances, scales, two-covariance models and the embedding. */
export interface Foundation {
  readonly whole: ModelParts
  /** The parts with two-covariance models and an embedding fitted without each fold. */
  readonly folds: readonly ModelParts[]
}

/**
 * Fits population, variances and scales on the varying text alone, or on composed text without it, and the two-covariance
 * models on all sources. Populations of both texts together are worse for either (model/notebook.md).
 */
export function fitFoundation(
  wasm: Uint8Array,
  people: Sources,
  folds: number,
  onProgress: (message: string) => void,
): Foundation {
  const typists = bySource((source) => people[source].map(LESSONS[source].ways))
  const counted = typists[people.aalto.length > 0 ? 'aalto' : 'klicke'].flat()
  const raw = readPeople(createKernel(wasm, encodeModel(blankModel())), counted, 'raw')
  const population = { ...blankModel(), ...fitPopulation(raw.flat()) }
  const normalising = createKernel(wasm, encodeModel(population))
  const components = fitComponents(readPeople(normalising, counted, 'z'))
  const read = (session: TypingSession) => {
    normalising.read(0, encodeSample(session.slice(0, 50), 'visible'))
    return { vector: normalising.vector(0).slice(), summary: normalising.summary(0).slice() }
  }
  const summaryScales = scalesOf(counted.map((own) => own.map((session) => read(session).summary)))
  const normalised = { ...population, components, summaryScales }
  const vectors = bySource((source) =>
    typists[source].map((ways) => ways.map((own) => own.map((session) => read(session).vector))),
  )
  const without = (fold: number | null): ModelParts => {
    const fitted = RIDGES.map((ridge, model) => {
      const groups: VectorGroup[] = FITTABLE.map((source) => ({
        weight: LESSONS[source].vectors[model] ?? 0,
        people: vectors[source].filter((_, i) => fold === null || i % folds !== fold).flat(),
      })).filter(({ weight, people }) => weight > 0 && people.length > 1)
      return groups.length > 0 ? fitTwoCovariance(groups, ridge) : null
    })
    const some = fitted.find((model) => model !== null)
    if (some === undefined || some === null) throw new Error('no people to fit on')
    return { ...normalised, twoCovariances: fitted.map((model) => model ?? some) }
  }
  onProgress(`population of ${population.nContexts} contexts`)
  return { whole: without(null), folds: Array.from({ length: folds }, (_, fold) => without(fold)) }
}

/** Lengths that patterns are cut to for the embedding, presses: those of P1 and P2. */
const CUTS = [50, 25]

/** The patterns of the sources that teach the embedding, by a kernel that holds the population. */
export function embeddingSources(kernel: Kernel, people: Sources): EmbeddingSource[] {
  return FITTABLE.filter((source) => LESSONS[source].embedding > 0 && people[source].length > 0).map((source) => {
    const sessions = people[source].map((person) => LESSONS[source].ways(person).flat())
    const starts = new Int32Array(sessions.length + 1)
    sessions.forEach(({ length }, i) => {
      starts[i + 1] = (starts[i] ?? 0) + length
    })
    const cuts = CUTS.map((presses) => {
      const rows = new Float32Array(new SharedArrayBuffer(4 * VECTOR_SIZE * (starts.at(-1) ?? 0)))
      sessions.flat().forEach((session, i) => {
        kernel.read(0, encodeSample(session.slice(0, presses), 'visible'))
        rows.set(kernel.vector(0), i * VECTOR_SIZE)
      })
      return rows
    })
    return { weight: LESSONS[source].embedding, cuts, starts, people: Int32Array.from(sessions.keys()) }
  })
}

/** A source of the embedding without the people of one of the folds; the whole source if the fold is null. */
export const withoutFold = (source: EmbeddingSource, fold: number | null, folds: number): EmbeddingSource => ({
  ...source,
  people: source.people.filter((person) => person % folds !== fold),
})

/** The foundation with a network without each fold, and then one of all people. */
export const withEmbeddings = ({ whole, folds }: Foundation, networks: readonly Embedding[]): Foundation => ({
  whole: { ...whole, embedding: networks[folds.length] ?? null },
  folds: folds.map((parts, fold) => ({ ...parts, embedding: networks[fold] ?? null })),
})

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
