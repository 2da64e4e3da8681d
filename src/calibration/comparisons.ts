import type { Sitting } from '../domain/sitting.js'
import { createKernel, type Kernel } from '../scoring/kernel.js'
import { encodeSample } from '../scoring/sample.js'
import type { Examples } from './boosting.js'
import type { Subject, TypingSession } from './dataset.js'
import { type Random, seededRandom } from './random.js'
import { otherDays, type Round, sameText, varyingText } from './rounds.js'
import { collector } from './rows.js'
import { otherDay, otherWay, unchanged } from './ways-of-typing.js'

/** The people of each source for fitting a model. */
export interface Sources {
  readonly aalto: readonly Subject[]
  readonly nislab: readonly Subject[]
  readonly monacoFree: readonly Subject[]
}

/** Comparison examples with the metadata for calibration. */
export interface Comparisons extends Examples {
  readonly weights: Float32Array
  /** Fold of the row's people. A model fitted without a fold has seen none of its people. */
  readonly folds: Uint8Array
  /** 0 varying text, 1 same text, 2 other days. */
  readonly sources: Uint8Array
}

/** Weight of each source relative to the varying text, chosen among 0.3 to 1 and 0.15 to 0.4 (model/notebook.md). */
const SOURCE_WEIGHTS = [1, 0.5, 0.25]
/** Shares of the rounds of one sitting that simulate probes of another day, by the sitting to fit (model/notebook.md). */
const OTHER_DAYS: Record<Sitting, number> = { same: 0, later: 0.6 }
/** Share of these rounds in which everybody types in another way. */
const OTHER_WAYS: Record<Sitting, number> = { same: 0.05, later: 0.1 }
/** Passes over all people: a second one is worth as much as 600 more trees (model/notebook.md). */
const DRAWS: Record<Sitting, number> = { same: 3, later: 2 }

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
  let rows: ReturnType<typeof collector> | undefined
  models.forEach((model, fold) => {
    const kernel = createKernel(wasm, model)
    const within = (all: readonly Subject[]) => all.filter((_, i) => i % models.length === fold)
    const own = {
      aalto: within(people.aalto),
      nislab: within(people.nislab),
      monacoFree: within(people.monacoFree),
    }
    for (const [source, round] of drawn(own, sitting, random)) {
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
function* drawn(people: Sources, sitting: Sitting, random: Random): Generator<[source: number, round: Round]> {
  for (let draw = 0; draw < DRAWS[sitting]; draw++) {
    for (const round of varyingText(people.aalto, random)) yield [0, altered(round, sitting, random)]
    for (const round of sameText(people.nislab, random)) yield [1, altered(round, sitting, random)]
    for (const round of otherDays(people.monacoFree, random)) yield [2, round]
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

/** Row weights that give each source the total weight in SOURCE_WEIGHTS; the unit is a row of varying text. */
function weightsOf(sources: readonly number[]): Float32Array {
  const counts = SOURCE_WEIGHTS.map((_, source) => sources.filter((of) => of === source).length)
  const each = SOURCE_WEIGHTS.map((weight, source) => (weight * (counts[0] ?? 1)) / (counts[source] || 1))
  return Float32Array.from(sources, (source) => each[source] ?? 1)
}
