import type { Sitting } from '../domain/sitting.js'
import { createKernel, type Kernel } from '../scoring/kernel.js'
import { encodeSample } from '../scoring/sample.js'
import { type Binned, binned } from './boosting.js'
import type { FittableSet, TypingSession } from './dataset.js'
import { bySource, FITTABLE, LESSONS, type Sources } from './fitted-sources.js'
import { conditionsOf } from './model-file.js'
import { type Random, seededRandom } from './random.js'
import type { Round } from './rounds.js'
import { collector } from './rows.js'
import { otherDay, otherWay, unchanged } from './ways-of-typing.js'

/** Comparisons in bins, with the metadata for calibration. */
export interface Comparisons {
  readonly data: Binned
  /** Fold of the row's people. A model fitted without a fold has seen none of its people. */
  readonly folds: Uint8Array
  /** Index in FITTABLE of the row's source. */
  readonly sources: Uint8Array
  /** The numbers that shift an impostor's score, CONDITION_COUNT a row (`conditionsOf`). */
  readonly conditions: Float32Array
}

/** Shares of the rounds of one sitting that simulate probes of another day, by the sitting to fit (model/notebook.md). */
const OTHER_DAYS: Record<Sitting, number> = { same: 0, later: 0.6 }
/** Share of these rounds in which everybody types in another way. */
const OTHER_WAYS: Record<Sitting, number> = { same: 0.05, later: 0.1 }

const sample = (session: TypingSession, masked: boolean): Uint8Array =>
  masked
    ? encodeSample(
        session.map((press) => ({ ...press, key: 0 })),
        'sensitive',
      )
    : encodeSample(session, 'visible')

/**
 * Genuine and impostor comparisons of every source, computed by the kernel, for the fusion. `models` has a model file for each
 * fold, fitted without the fold, so that the fusion learns results on people that a model has not seen. Person i is in fold i
 * modulo the number of models. Impostors come from the person's own fold. The same seed gives the same rows.
 */
export function comparisonExamples(
  { wasm, models }: { readonly wasm: Uint8Array; readonly models: readonly Uint8Array[] },
  people: Sources,
  sitting: Sitting,
  seed: number,
): Comparisons {
  const random = seededRandom(seed)
  const folds: number[] = []
  const sources: number[] = []
  const conditions: number[] = []
  let rows: ReturnType<typeof collector> | undefined
  models.forEach((model, fold) => {
    const kernel = createKernel(wasm, model)
    const own = bySource((source) => people[source].filter((_, i) => i % models.length === fold))
    for (const [source, round] of drawn(own, sitting, random)) {
      for (const [label, row] of compared(kernel, round)) {
        rows ??= collector(row.length)
        rows.add(row, label)
        conditions.push(...conditionsOf(row))
        folds.push(fold)
        sources.push(FITTABLE.indexOf(source))
      }
    }
  })
  if (rows === undefined) throw new Error('no people to fit on')
  return {
    data: binned({ ...rows.done(), weights: weightsOf(sources) }, seed),
    folds: Uint8Array.from(folds),
    sources: Uint8Array.from(sources),
    conditions: Float32Array.from(conditions),
  }
}

/** Every round of every source, as often as its lesson says. */
function* drawn(people: Sources, sitting: Sitting, random: Random): Generator<[source: FittableSet, round: Round]> {
  for (const source of FITTABLE) {
    const { rounds, draws, isAltered } = LESSONS[source]
    for (let draw = 0; draw < draws[sitting]; draw++) {
      for (const round of rounds(people[source], sitting, random))
        yield [source, isAltered ? altered(round, sitting, random) : round]
    }
  }
}

/** Simulates, for some rounds of one sitting, that every probe is from another day, or that everybody types in another way. */
function altered(round: Round, sitting: Sitting, random: Random): Round {
  const way = random() < OTHER_WAYS[sitting] ? otherWay(random) : unchanged
  const later = random() < OTHER_DAYS[sitting]
  const probe = (session: TypingSession): TypingSession => way((later ? otherDay(random) : unchanged)(session))
  return {
    ...round,
    references: round.references.map(way),
    genuine: round.genuine.map(probe),
    impostors: round.impostors.map(probe),
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

/** Comparisons with a score each, for the calibration. */
export interface ScoredRows {
  readonly scores: Float64Array
  readonly labels: Uint8Array
  readonly sources: Uint8Array
  readonly conditions: Float32Array
}

/** Row weights that give each source the total weight of its lesson; the unit is a row of the first source. */
export function weightsOf(sources: ArrayLike<number>): Float32Array {
  const counts = FITTABLE.map(() => 0)
  for (let row = 0; row < sources.length; row++) counts[sources[row] ?? 0] = (counts[sources[row] ?? 0] ?? 0) + 1
  const unit = counts.find((count) => count > 0) ?? 1
  const each = FITTABLE.map((source, i) => (LESSONS[source].weight * unit) / (counts[i] || 1))
  return Float32Array.from(sources, (source) => each[source] ?? 1)
}
