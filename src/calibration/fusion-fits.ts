/** The fits of the fusion, of all people and without each fold of people, and the curves to confidence. */
import type { Sitting } from '../domain/sitting.js'
import { type Boosted, scoresOf } from './boosting.js'
import type { Comparisons, ScoredRows } from './comparisons.js'
import type { Confidence } from './confidence.js'
import type { Selection, Sources } from './fitted-sources.js'
import type { Foundation } from './foundation.js'
import { CONDITION_COUNT, encodeModel, type Fusion, type ModelParts } from './model-file.js'
import { type createProgress, runTasks, type Task, type Works } from './tasks.js'

/** Seconds of each part on a core of a shared AMD EPYC, for the time left. */
export const SECONDS = {
  treeRow: 3.5e-7,
  embeddingStep: 0.026,
  comparisons: 200,
  confidence: 80,
  liveness: 300,
  loneLiveness: 60,
  synthesis: 150,
}

/** Input of every part of a fit. */
export interface Fit {
  readonly wasm: Uint8Array
  readonly selection: Selection
  readonly people: Sources
  readonly seed: number
  readonly keeping: { readonly kept: string; readonly progress: ReturnType<typeof createProgress> }
}

/** The trees, or the curve to confidence, of the same sitting and of a later one. */
type PerSitting<T> = readonly [same: T, later: T]

const FUSION = {
  leaves: 16,
  learningRate: 0.08,
  l2: 5,
  rowsPerLeafMin: 40,
  rowShare: 0.15,
  featureShare: 0.15,
}
export const TREES: Record<Sitting, number> = { same: 1000, later: 800 }
/** The promised 1 %, less the uncertainty of the out-of-fold figure. */
const FALSE_MATCHES = 0.0085
export const SITTINGS = ['same', 'later'] as const
/** Folds of people. With four, the models of a fold still see three quarters of the people. Two are enough for a model that is not shipped. */
export const FOLDS = { all: 4, without: 2 }

/** The fusion of each sitting with its curve, and the fusions without each fold. */
export interface Fusions {
  /** On all people; without the first fold if a source is left out. */
  readonly whole: PerSitting<Boosted>
  readonly folds: PerSitting<readonly Boosted[]>
  readonly lines: PerSitting<Confidence>
  /** Results of the further tasks. */
  readonly signs: readonly Works[keyof Works]['result'][]
  readonly files: readonly string[]
}

/** The further tasks run at the same time as the trees, so that no core waits. If a source is left out, fits only the fusion without the first fold. */
export async function fitFusions(
  fit: Fit,
  { folds }: Foundation,
  further: readonly Task<keyof Works>[],
): Promise<Fusions> {
  const comparisons = await compareAll(fit, folds)
  const which = fit.selection.without === null ? [...folds.keys(), null] : [0]
  const tasks = SITTINGS.flatMap((sitting, i) =>
    which.map((fold) => treesTask(fit, comparisons[i as 0 | 1], sitting, fold)),
  )
  const { results, files } = await runTasks<keyof Works>([...tasks, ...further], fit.keeping)
  // Sound: the results are in the order of the tasks.
  const trees = results.slice(0, tasks.length) as readonly Boosted[]
  const of = (i: number) => trees.slice(which.length * i, which.length * (i + 1))
  const ofFolds = (i: number) => of(i).slice(0, which.filter((fold) => fold !== null).length)
  const withoutFolds: Fusions['folds'] = [ofFolds(0), ofFolds(1)]
  const lines = await fitLines(fit, [
    outOfFoldRows(comparisons[0], withoutFolds[0]),
    outOfFoldRows(comparisons[1], withoutFolds[1]),
  ])
  const whole: PerSitting<Boosted> = [of(0).at(-1) as Boosted, of(1).at(-1) as Boosted]
  return { whole, folds: withoutFolds, lines, signs: results.slice(tasks.length), files }
}

/** The curve to confidence of each sitting. */
async function fitLines({ keeping }: Fit, rows: PerSitting<ScoredRows>): Promise<PerSitting<Confidence>> {
  const tasks = SITTINGS.map(
    (sitting, i): Task<'confidence'> => ({
      name: `curve of the ${sitting} sitting`,
      work: 'confidence',
      input: { rows: rows[i as 0 | 1], share: FALSE_MATCHES },
      seconds: SECONDS.confidence,
    }),
  )
  const { results } = await runTasks(tasks, { ...keeping, kept: null })
  return results as readonly Confidence[] as PerSitting<Confidence>
}

/** Comparisons of all people, by models without each fold. */
async function compareAll(
  { selection, seed, keeping }: Fit,
  folds: readonly ModelParts[],
): Promise<PerSitting<Comparisons>> {
  const tasks = SITTINGS.map(
    (sitting): Task<'comparisons'> => ({
      name: `comparisons of the ${sitting} sitting`,
      work: 'comparisons',
      input: { selection, models: folds.map(encodeModel), sitting, seed },
      seconds: SECONDS.comparisons,
    }),
  )
  const { results } = await runTasks(tasks, { ...keeping, kept: null })
  return results as readonly Comparisons[] as PerSitting<Comparisons>
}

/** The trees without a fold, or of all rows. */
function treesTask({ seed }: Fit, { data, folds }: Comparisons, sitting: Sitting, fold: number | null): Task<'trees'> {
  const weights = new Float32Array(new SharedArrayBuffer(4 * data.labels.length))
  weights.set(data.weights.map((weight, row) => (folds[row] === fold ? 0 : weight)))
  const trees = TREES[sitting]
  return {
    name: `trees of the ${sitting} sitting${fold === null ? '' : ` without fold ${fold}`}`,
    work: 'trees',
    input: { data: { ...data, weights }, options: { ...FUSION, trees, seed: seed + (fold ?? FOLDS.all) } },
    seconds: SECONDS.treeRow * trees * data.labels.length,
  }
}

/** Scores every row by the fit without its fold; rows of folds without such a fit are left out. */
function outOfFoldRows(
  { data, folds, sources, conditions }: Comparisons,
  withoutFolds: readonly Boosted[],
): ScoredRows {
  const all = new Float64Array(data.labels.length)
  withoutFolds.forEach((fit, fold) => {
    const own = Uint32Array.from(folds.keys()).filter((row) => folds[row] === fold)
    const scores = scoresOf(fit, data, own)
    for (const row of own) all[row] = scores[row] ?? 0
  })
  // The rows are in the order of the folds.
  const length = folds.filter((fold) => fold < withoutFolds.length).length
  return {
    scores: all.slice(0, length),
    labels: data.labels.slice(0, length),
    sources: sources.slice(0, length),
    conditions: conditions.slice(0, length * CONDITION_COUNT),
  }
}

/** Trees with the curves of both sittings. */
export const fusionsOf = (trees: PerSitting<Boosted>, lines: PerSitting<Confidence>): [Fusion, Fusion] => [
  fusionOf(trees[0], lines[0]),
  fusionOf(trees[1], lines[1]),
]

const fusionOf = ({ base, trees }: Boosted, { slope, intercept, conditions }: Confidence): Fusion => ({
  trees,
  curve: Float32Array.of(base, slope, intercept, ...conditions),
})
