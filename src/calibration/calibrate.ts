import { readFileSync, rmSync } from 'node:fs'
import type { Sitting } from '../domain/sitting.js'
import { wasmFile } from '../scoring/artifacts.js'
import { createKernel, type Kernel } from '../scoring/kernel.js'
import { type Boosted, scoresOf } from './boosting.js'
import type { Comparisons } from './comparisons.js'
import { type Confidence, errorsAt, fitConfidence } from './confidence.js'
import { type FittableSet, reportedPeople } from './dataset.js'
import { bySource, FITTABLE, LESSONS, loadSources, type Selection, type Sources } from './fitted-sources.js'
import { embeddingSources, type Foundation, fitFoundation, withEmbeddings, withoutFold } from './foundation.js'
import { bootstrapIntervals, type Figures, figuresOf, type Intervals, type PersonScores } from './metrics.js'
import { CONDITION_COUNT, encodeModel, type Fusion, type ModelParts, withSynthesis } from './model-file.js'
import { PROTOCOLS, type ProtocolName, runProtocol } from './protocols.js'
import { createProgress, runTasks, type Task, type Works, writeWhole } from './tasks.js'

type OnProgress = (message: string) => void

interface CalibrateOptions {
  /** Folder of the open data sets. */
  readonly data: string
  /** Model file to write; an interrupted run keeps its finished parts in files next to it. */
  readonly out: string
  readonly seed: number
  /** A source that is reported and not fitted, which shows how the model serves other keyboards and people. */
  readonly without?: FittableSet | undefined
  /** Most people of a source that are fitted on, the first ones; all by default. */
  readonly peopleMax?: number | undefined
  readonly onProgress?: OnProgress
}

/** Results of a protocol with models that were fitted without the people it reports. */
interface OutOfFold {
  readonly figures: Figures
  readonly intervals: Intervals
  /** False matches and false non-matches at a confidence of 0.5. */
  readonly atHalf: { readonly fmr: number; readonly fnmr: number }
}

interface Calibrated {
  readonly bytes: number
  /** Results of the protocols on fitted sources, by models without the people of each fold; none for a model without a source. */
  readonly outOfFold: Readonly<Record<string, OutOfFold>>
  /** Results of the protocols on the source that was left out. */
  readonly leftOut: Readonly<Record<string, OutOfFold>>
  /** Share of genuine attempts at which the confidence is a calibrated probability. */
  readonly priors: Readonly<Record<Sitting, number>>
}

const FUSION = {
  leaves: 16,
  learningRate: 0.08,
  l2: 5,
  rowsPerLeafMin: 40,
  rowShare: 0.15,
  featureShare: 0.15,
}
const TREES: Record<Sitting, number> = { same: 1000, later: 800 }
const EMBEDDING = { steps: 8000, hidden: 256 }
/** The promised 1 %, less the uncertainty of the out-of-fold figure. */
const FALSE_MATCHES = 0.0085
const SITTINGS = ['same', 'later'] as const
/** Folds of people. With four, the models of a fold still see three quarters of the people. Two are enough for a model that is not shipped. */
const FOLDS = { all: 4, without: 2 }

/** Seconds of each part on a core of a shared AMD EPYC, for the time left. */
const SECONDS = {
  treeRow: 3.5e-7,
  embeddingStep: 0.026,
  comparisons: 200,
  liveness: 300,
  loneLiveness: 60,
  synthesis: 150,
}
/** Comparisons of one person in one draw: five rounds of about 30. */
const COMPARISONS = 150

/**
 * Fits a model on all sources that may be fitted, and writes it. The fusion of each sitting is fitted once on all people and once
 * without each of four folds, which give the calibration and the out-of-fold figures. The same data, seed and build give the same
 * bytes. A model `without` a source is fitted without one of two folds, which gives its calibration, and detects no bots. Throws if
 * the files of varying and of composed text are missing.
 */
export async function calibrate(options: CalibrateOptions): Promise<Calibrated> {
  const { data, out, seed, without = null, peopleMax = Number.POSITIVE_INFINITY, onProgress = () => {} } = options
  const wasm = new Uint8Array(readFileSync(wasmFile()))
  const selection: Selection = { data, without, peopleMax }
  const people = loadSources(selection)
  onProgress(`fitting on ${FITTABLE.map((source) => `${people[source].length} of ${source}`).join(', ')}`)
  const folds = without === null ? FOLDS.all : FOLDS.without
  const bare = fitFoundation(wasm, people, folds, onProgress)
  const keeping = { kept: out, progress: createProgress(expectedSeconds(people, without), onProgress) }
  const embedding = await runTasks(embeddingTasks(wasm, bare, people, seed), keeping)
  const foundation = withEmbeddings(bare, embedding.results)
  const { results: rows } = await runTasks(comparisonTasks(foundation, selection, seed), { ...keeping, kept: null })
  const fitted = SITTINGS.flatMap((sitting, i) => fusionTasks(rows[i] as Comparisons, sitting, { seed, without }))
  const signs = without === null ? livenessTasks(foundation.whole, selection, seed) : []
  const { results, files } = await runTasks<keyof Works>([...fitted, ...signs], keeping)
  onProgress('calibration')
  const perSitting = fitted.length / SITTINGS.length
  const fittedOf = (i: number): Fitted => {
    const fits = results.slice(i * perSitting, (i + 1) * perSitting) as Boosted[]
    return { fits, confidence: fitConfidence(outOfFoldRows(rows[i] as Comparisons, fits), FALSE_MATCHES) }
  }
  const [same, later] = [fittedOf(0), fittedOf(1)]
  const shipped = ({ fits, confidence }: Fitted) => fusionOf(fits.at(-1), confidence)
  const parts: ModelParts = { ...foundation.whole, fusions: [shipped(same), shipped(later)] }
  const bytes = without === null ? withSigns(parts, results.slice(fitted.length)) : encodeModel(parts)
  writeWhole(out, bytes)
  for (const file of [...embedding.files, ...files]) rmSync(file)
  onProgress('report')
  return {
    bytes: bytes.length,
    outOfFold: without === null ? reportOutOfFold(wasm, foundation, [same, later], people) : {},
    leftOut: without === null ? {} : reportLeftOut(createKernel(wasm, bytes), data, without),
    priors: { same: same.confidence.prior, later: later.confidence.prior },
  }
}

/** Expected seconds of all tasks. */
function expectedSeconds(people: Sources, without: FittableSet | null): number {
  const { comparisons, embeddingStep, liveness, loneLiveness, synthesis, treeRow } = SECONDS
  const trees = SITTINGS.map((sitting) => {
    const persons = FITTABLE.map((source) => people[source].length * LESSONS[source].draws[sitting])
    const rows = COMPARISONS * persons.reduce((sum, n) => sum + n, 0)
    return treeRow * TREES[sitting] * rows * (without === null ? FOLDS.all + 1 : 1)
  })
  const networks = (without === null ? FOLDS.all : FOLDS.without) + 1
  const signs = without === null ? liveness + loneLiveness + synthesis : 0
  const perSitting = trees.reduce((sum, seconds) => sum + seconds + comparisons, 0)
  return networks * embeddingStep * EMBEDDING.steps + perSitting + signs
}

/** The trees of a sitting, fitted without each fold and then on all rows, and the curve to confidence. */
interface Fitted {
  readonly fits: readonly Boosted[]
  readonly confidence: Confidence
}

/** A network without each fold, and then one of all people. */
function embeddingTasks(
  wasm: Uint8Array,
  { whole, folds }: Foundation,
  people: Sources,
  seed: number,
): Task<'embedding'>[] {
  const sources = embeddingSources(createKernel(wasm, encodeModel(whole)), people)
  return [...folds.keys(), null].map((fold) => ({
    name: fold === null ? 'embedding' : `embedding without fold ${fold}`,
    work: 'embedding',
    input: {
      sources: sources.map((source) => withoutFold(source, fold, folds.length)),
      options: { ...EMBEDDING, seed },
    },
    seconds: SECONDS.embeddingStep * EMBEDDING.steps,
  }))
}

const comparisonTasks = ({ folds }: Foundation, selection: Selection, seed: number): Task<'comparisons'>[] =>
  SITTINGS.map((sitting) => ({
    name: `comparisons of the ${sitting} sitting`,
    work: 'comparisons',
    input: { selection, models: folds.map(encodeModel), sitting, seed },
    seconds: SECONDS.comparisons,
  }))

/** A fit without each fold and then one of all rows; if a source is left out, only the fit without the first fold. */
function fusionTasks(
  { data, folds }: Comparisons,
  sitting: Sitting,
  { seed, without }: { readonly seed: number; readonly without: FittableSet | null },
): Task<'trees'>[] {
  const which = without === null ? [...Array(FOLDS.all).keys(), null] : [0]
  return which.map((fold) => {
    const weights = new Float32Array(new SharedArrayBuffer(4 * data.labels.length))
    weights.set(data.weights.map((weight, row) => (folds[row] === fold ? 0 : weight)))
    const trees = TREES[sitting]
    return {
      name: `trees of the ${sitting} sitting${fold === null ? '' : ` without fold ${fold}`}`,
      work: 'trees',
      input: { data: { ...data, weights }, options: { ...FUSION, trees, seed: seed + (fold ?? FOLDS.all) } },
      seconds: SECONDS.treeRow * trees * data.labels.length,
    }
  })
}

const livenessTasks = (parts: ModelParts, selection: Selection, seed: number): Task<keyof Works>[] => [
  { name: 'bot signs with references', work: 'liveness', input: { selection, parts, seed }, seconds: SECONDS.liveness },
  {
    name: 'bot signs of patterns alone',
    work: 'loneLiveness',
    input: { selection, parts, seed },
    seconds: SECONDS.loneLiveness,
  },
  { name: 'signs of synthesis', work: 'synthesis', input: { selection, parts, seed }, seconds: SECONDS.synthesis },
]

/** The model with the results of `livenessTasks`. */
function withSigns(parts: ModelParts, results: readonly Works[keyof Works]['result'][]): Uint8Array {
  // Sound: the results are in the order of the tasks.
  const [among, lone, synthesis] = results as [
    Works['liveness']['result'],
    Works['loneLiveness']['result'],
    Works['synthesis']['result'],
  ]
  const model = encodeModel({
    ...parts,
    liveness: among.trees,
    loneLiveness: lone.trees,
    livenessCurve: Float32Array.of(among.base, 1, among.intercept, among.allowance, lone.base + lone.intercept),
  })
  return withSynthesis(model, synthesis)
}

/** Scores every row of a fold by the fit without the fold. Rows of folds without such a fit are left out. */
function outOfFoldRows({ data, folds, sources, conditions }: Comparisons, fits: readonly Boosted[]) {
  const all = new Float64Array(data.labels.length).fill(Number.NaN)
  const withoutFolds = fits.length === 1 ? fits : fits.slice(0, FOLDS.all)
  withoutFolds.forEach((fit, fold) => {
    scoresOf(fit, data, (row) => folds[row] === fold).forEach((score, row) => {
      if (folds[row] === fold) all[row] = score
    })
  })
  const rows = Array.from(all.keys()).filter((row) => !Number.isNaN(all[row]))
  return {
    scores: Float64Array.from(rows, (row) => all[row] ?? 0),
    labels: Uint8Array.from(rows, (row) => data.labels[row] ?? 0),
    weights: Float32Array.from(rows, (row) => data.weights[row] ?? 0),
    sources: Uint8Array.from(rows, (row) => sources[row] ?? 0),
    conditions: (i: number) =>
      Array.from(conditions.subarray((rows[i] ?? 0) * CONDITION_COUNT, ((rows[i] ?? 0) + 1) * CONDITION_COUNT)),
  }
}

/** Trees with the sitting's curve. */
function fusionOf(fit: Boosted | undefined, { slope, intercept, conditions }: Confidence): Fusion {
  const { base = 0, trees = [] } = fit ?? {}
  return { trees, curve: Float32Array.of(base, slope, intercept, ...conditions) }
}

/** Reports the people of each fold by the model that was fitted without them. */
const reportOutOfFold = (
  wasm: Uint8Array,
  foundation: Foundation,
  [same, later]: readonly [Fitted, Fitted],
  people: Sources,
): Record<string, OutOfFold> =>
  report(
    foundation.folds.map((parts, fold) => {
      const of = ({ fits, confidence }: Fitted) => fusionOf(fits[fold], confidence)
      return {
        kernel: createKernel(wasm, encodeModel({ ...parts, fusions: [of(same), of(later)] })),
        people: bySource((source) => people[source].filter((_, i) => i % FOLDS.all === fold)),
      }
    }),
    FITTABLE,
  )

/** Reports the left-out source by a model that was fitted without it. */
const reportLeftOut = (kernel: Kernel, data: string, without: FittableSet): Record<string, OutOfFold> => {
  const people = bySource((source) => (source === without ? reportedPeople(data, source) : []))
  return report([{ kernel, people }], [without])
}

/** Runs the protocols of these sources within each group of people, on a model fitted without the group, and pools the results. */
function report(
  groups: readonly { readonly kernel: Kernel; readonly people: Sources }[],
  sources: readonly FittableSet[],
): Record<string, OutOfFold> {
  const pooled: Record<string, { fused: PersonScores[]; confidence: PersonScores[] }> = {}
  for (const { kernel, people } of groups) {
    for (const name of Object.keys(PROTOCOLS) as ProtocolName[]) {
      const { source, sitting, of } = PROTOCOLS[name]
      // A set that may not be fitted is in no list of sources.
      const fittable = sources.find((one) => one === source)
      if (fittable === undefined) continue
      const scores = runProtocol(kernel, of(people[fittable]), sitting)
      const all = pooled[name] ?? { fused: [], confidence: [] }
      pooled[name] = all
      all.fused.push(...scores.fused)
      all.confidence.push(...scores.confidence)
    }
  }
  return Object.fromEntries(
    Object.entries(pooled)
      .filter(([, scores]) => scores.fused.length > 1)
      .map(([name, scores]) => [
        name,
        {
          figures: figuresOf(scores.fused),
          intervals: bootstrapIntervals(scores.fused, 200, 1),
          atHalf: errorsAt(0.5, scores.confidence),
        },
      ]),
  )
}
