import { readFileSync, writeFileSync } from 'node:fs'
import type { Sitting } from '../domain/sitting.js'
import { wasmFile } from '../scoring/artifacts.js'
import { createKernel, type Kernel } from '../scoring/kernel.js'
import { type Boosted, scoresOf } from './boosting.js'
import type { Comparisons } from './comparisons.js'
import { type Confidence, errorsAt, fitConfidence } from './confidence.js'
import type { FittableSet } from './dataset.js'
import { bySource, FITTABLE, loadSources, type People, type Sources } from './fitted-sources.js'
import { embeddingSources, FOLDS, type Foundation, fitFoundation, withEmbeddings, withoutFold } from './foundation.js'
import { bootstrapIntervals, type Figures, figuresOf, type Intervals, type PersonScores } from './metrics.js'
import {
  CONDITION_COUNT,
  encodeModel,
  type Fusion,
  type ModelParts,
  withoutSynthesis,
  withSynthesis,
} from './model-file.js'
import { PROTOCOLS, type ProtocolName, runProtocol } from './protocols.js'
import { forget, runTasks, type Task, type Works } from './tasks.js'

type OnProgress = (message: string) => void

interface CalibrateOptions {
  /** Folder of the open data sets. */
  readonly data: string
  /** Model file to write; an interrupted run keeps its finished parts in files next to it. */
  readonly out: string
  readonly seed: number
  /** A source that is reported and not fitted, which shows how the model serves other keyboards and people. */
  readonly without?: FittableSet | undefined
  /** The first people of each source that are fitted on; all by default. */
  readonly most?: number | undefined
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
  learningRate: 0.05,
  l2: 5,
  rowsPerLeafMin: 40,
  rowShare: 0.15,
  featureShare: 0.15,
}
const TREES: Record<Sitting, number> = { same: 1200, later: 900 }
const EMBEDDING = { steps: 8000, hidden: 256 }
/** The promised 1 %, less the uncertainty of the out-of-fold figure. */
const FALSE_MATCHES = 0.0085
const SITTINGS = ['same', 'later'] as const

/** Seconds of each part on two cores (model/notebook.md), for the time left. */
const SECONDS = {
  treeRow: 3.5e-7,
  embeddingStep: 0.028,
  comparisons: 100,
  liveness: 300,
  loneLiveness: 60,
  synthesis: 150,
}

/**
 * Fits a model on all sources that may be fitted, and writes it. The fusion of each sitting is fitted once on all people and once
 * without each of four folds, which give the calibration and the out-of-fold figures. The same data, seed and build give the same
 * bytes. A model `without` a source is fitted without one fold, which gives its calibration, and detects no bots. Throws if a
 * file of a source of varying or composed text is missing.
 */
export async function calibrate(options: CalibrateOptions): Promise<Calibrated> {
  const { data, out, seed, without = null, most = Number.POSITIVE_INFINITY, onProgress = () => {} } = options
  const wasm = new Uint8Array(readFileSync(wasmFile()))
  const whom: People = { data, without, most }
  const people = loadSources(whom)
  onProgress(`fitting on ${FITTABLE.map((source) => `${people[source].length} of ${source}`).join(', ')}`)
  const bare = fitFoundation(wasm, people, onProgress)
  const embeddings = embeddingTasks(wasm, bare, people, seed)
  const foundation = withEmbeddings(bare, await runTasks(embeddings, { kept: out, onProgress }))
  const rows = await runTasks(comparisonTasks(foundation, whom, seed), { kept: null, onProgress })
  const fitted = SITTINGS.flatMap((sitting, i) => fusionTasks(rows[i] as Comparisons, sitting, { seed, without }))
  const signs = without === null ? livenessTasks(foundation.whole, whom, seed) : []
  const results = await runTasks<keyof Works>([...fitted, ...signs], { kept: out, onProgress })
  const perSitting = fitted.length / SITTINGS.length
  const fittedOf = (i: number): Fitted => {
    const fits = results.slice(i * perSitting, (i + 1) * perSitting) as Boosted[]
    return { fits, confidence: fitConfidence(outOfFoldRows(rows[i] as Comparisons, fits), FALSE_MATCHES) }
  }
  const [same, later] = [fittedOf(0), fittedOf(1)]
  const shipped = ({ fits, confidence }: Fitted) => fusionOf(fits.at(-1), confidence)
  const parts: ModelParts = { ...foundation.whole, fusions: [shipped(same), shipped(later)] }
  const bytes = without === null ? withSigns(parts, results.slice(fitted.length)) : encodeModel(parts)
  writeFileSync(out, bytes)
  forget([...embeddings, ...fitted, ...signs], out)
  return {
    bytes: bytes.length,
    outOfFold: without === null ? reportOutOfFold(wasm, foundation, [same, later], people) : {},
    leftOut:
      without === null
        ? {}
        : report(
            [{ kernel: createKernel(wasm, bytes), people: loadSources({ data, without: null, most }) }],
            [without],
          ),
    priors: { same: same.confidence.prior, later: later.confidence.prior },
  }
}

interface SynthesisOptions {
  readonly data: string
  /** Model file whose other parts are kept bit for bit. */
  readonly model: string
  readonly out: string
  readonly seed: number
  readonly onProgress?: OnProgress
}

/** Writes a model with the synthesis trees fitted anew. Returns its bytes. Throws if a file of a source is missing. */
export async function calibrateSynthesis(options: SynthesisOptions): Promise<number> {
  const { data, model, out, seed, onProgress = () => {} } = options
  const judging = withoutSynthesis(new Uint8Array(readFileSync(model)))
  const task = synthesisTask(judging, { data, without: null, most: Number.POSITIVE_INFINITY }, seed)
  const [synthesis] = await runTasks([task], { kept: out, onProgress })
  if (synthesis === undefined) throw new Error('no synthesis trees') // one task has one result
  const bytes = withSynthesis(judging, synthesis)
  writeFileSync(out, bytes)
  forget([task], out)
  return bytes.length
}

/** The trees of a sitting, fitted without each fold and then on all rows, and the curve to confidence. */
interface Fitted {
  readonly fits: readonly Boosted[]
  readonly confidence: Confidence
}

/** A network without each fold, and then one of all people. */
function embeddingTasks(wasm: Uint8Array, { whole }: Foundation, people: Sources, seed: number): Task<'embedding'>[] {
  const sources = embeddingSources(createKernel(wasm, encodeModel(whole)), people)
  return [...foldNumbers, null].map((fold) => ({
    name: fold === null ? 'embedding' : `embedding without fold ${fold}`,
    work: 'embedding',
    input: { sources: sources.map((source) => withoutFold(source, fold)), options: { ...EMBEDDING, seed } },
    seconds: SECONDS.embeddingStep * EMBEDDING.steps,
  }))
}

const foldNumbers = Array.from({ length: FOLDS }, (_, fold) => fold)

const comparisonTasks = ({ folds }: Foundation, people: People, seed: number): Task<'comparisons'>[] =>
  SITTINGS.map((sitting) => ({
    name: `comparisons of the ${sitting} sitting`,
    work: 'comparisons',
    input: { people, models: folds.map(encodeModel), sitting, seed },
    seconds: SECONDS.comparisons,
  }))

/** A fit without each fold, or without the first one alone if a source is left out, and then one of all rows. */
function fusionTasks(
  { data, folds }: Comparisons,
  sitting: Sitting,
  { seed, without }: { readonly seed: number; readonly without: FittableSet | null },
): Task<'trees'>[] {
  const which = without === null ? [...foldNumbers, null] : [0]
  return which.map((fold) => {
    const weights = new Float32Array(new SharedArrayBuffer(4 * data.labels.length))
    weights.set(data.weights.map((weight, row) => (folds[row] === fold ? 0 : weight)))
    const trees = TREES[sitting]
    return {
      name: `trees of the ${sitting} sitting${fold === null ? '' : ` without fold ${fold}`}`,
      work: 'trees',
      input: { data: { ...data, weights }, options: { ...FUSION, trees, seed: seed + (fold ?? FOLDS) } },
      seconds: SECONDS.treeRow * trees * data.labels.length,
    }
  })
}

const livenessTasks = (parts: ModelParts, people: People, seed: number): Task<keyof Works>[] => [
  { name: 'bot signs with references', work: 'liveness', input: { people, parts, seed }, seconds: SECONDS.liveness },
  {
    name: 'bot signs of patterns alone',
    work: 'loneLiveness',
    input: { people, parts, seed },
    seconds: SECONDS.loneLiveness,
  },
  synthesisTask(encodeModel(parts), people, seed),
]

const synthesisTask = (model: Uint8Array, people: People, seed: number): Task<'synthesis'> => ({
  name: 'signs of synthesis',
  work: 'synthesis',
  input: { people, model, seed },
  seconds: SECONDS.synthesis,
})

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
  const withoutFolds = fits.length === 1 ? fits : fits.slice(0, FOLDS)
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
        people: bySource((source) => people[source].filter((_, i) => i % FOLDS === fold)),
      }
    }),
    FITTABLE,
  )

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
