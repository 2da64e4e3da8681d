import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Sitting } from '../domain/sitting.js'
import { wasmFile } from '../scoring/artifacts.js'
import { createKernel, type Kernel } from '../scoring/kernel.js'
import { type Binned, type Boosted, binned, scoresOf } from './boosting.js'
import { type Comparisons, comparisonExamples, type Sources } from './comparisons.js'
import { type Confidence, errorsAt, fitConfidence } from './confidence.js'
import { DATA_SETS, type FittableSet, isUntouchedWriter, loadPeople, type Subject, splitPeople } from './dataset.js'
import { FOLDS, type Foundation, fitFoundation } from './foundation.js'
import { fitLiveness } from './liveness.js'
import { bootstrapIntervals, type Figures, figuresOf, type Intervals, type PersonScores } from './metrics.js'
import { CONDITIONS, encodeModel, type Fusion, type ModelParts, withoutSynthesis, withSynthesis } from './model-file.js'
import { type FitTask, fitInParallel } from './parallel.js'
import { PROTOCOLS, runProtocol } from './protocols.js'
import { fitSynthesis } from './synthesis.js'

type OnProgress = (message: string) => void

interface CalibrateOptions {
  /** Folder of the open data sets. */
  readonly data: string
  /** Model file to write; an interrupted run keeps its finished fits in files next to it. */
  readonly out: string
  readonly seed: number
  /** A source that is reported and not fitted, which shows how the model serves other keyboards and people. */
  readonly without?: LeftOut | undefined
  readonly onProgress?: OnProgress
}

/** The sources that may be left out of a fit. */
export const LEFT_OUT = ['nislab', 'monacoFree'] as const
type LeftOut = (typeof LEFT_OUT)[number]

/** Results of a protocol with models that were fitted without the people it reports. */
interface OutOfFold {
  readonly figures: Figures
  readonly intervals: Intervals
  /** False matches and false non-matches at a confidence of 0.5. */
  readonly atHalf: { readonly fmr: number; readonly fnmr: number }
}

interface Calibrated {
  readonly bytes: number
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
const TREES: Record<Sitting, number> = { same: 1000, later: 800 }
/** The promised 1 %, less the uncertainty of the out-of-fold figure. */
const FALSE_MATCHES = 0.0085

/**
 * Fits a model on the first 1,000 people of the varying text and on all people of the other sources, and writes it. The
 * fusion of each sitting is fitted once on all and once without each of four folds of people, which give the calibration and
 * the out-of-fold figures. The same data, seed and build give the same bytes. Throws if the varying text is missing; the other
 * sources are optional. A model `without` a source detects no bots.
 */
export async function calibrate(options: CalibrateOptions): Promise<Calibrated> {
  const { data, out, seed, without, onProgress = () => {} } = options
  const wasm = new Uint8Array(readFileSync(wasmFile()))
  const all: Sources = {
    aalto: splitPeople(loadToFit(data, 'aalto')).fitting,
    nislab: loadIfThere(data, 'nislab'),
    monacoFree: loadIfThere(data, 'monacoFree'),
  }
  const people = without === undefined ? all : { ...all, [without]: [] }
  onProgress(`fitting on ${people.aalto.length}, ${people.nislab.length} and ${people.monacoFree.length} people`)
  const foundation = fitFoundation(wasm, people, onProgress)
  const fit = (sitting: Sitting) => fitFusion(foundation, people, sitting, { wasm, seed, out, onProgress })
  const [same, later] = [await fit('same'), await fit('later')]
  const { model, signs } =
    without === undefined
      ? withLiveness(wasm, foundation.whole, people, { seed, onProgress })
      : { model: foundation.whole, signs: NO_LIVENESS }
  const livenessCurve = Float32Array.of(signs.base, 1, signs.intercept, signs.allowance, signs.lone)
  const judging = encodeModel({ ...model, livenessCurve, fusions: [fusionOf(same, FOLDS), fusionOf(later, FOLDS)] })
  const bytes =
    without === undefined
      ? withSynthesis(judging, fitSynthesis(wasm, judging, synthesisPeople(data, people.aalto), { seed, onProgress }))
      : judging
  writeFileSync(out, bytes)
  const leftOut = without === undefined ? NOBODY : { ...NOBODY, [without]: all[without] }
  return {
    bytes: bytes.length,
    outOfFold: reportOutOfFold(wasm, foundation, [same, later], people),
    leftOut: report([{ kernel: createKernel(wasm, bytes), people: leftOut }]),
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

/** Writes a model with the synthesis trees fitted anew. Returns its bytes. Throws if the varying text is missing. */
export function calibrateSynthesis({ data, model, out, seed, onProgress = () => {} }: SynthesisOptions): number {
  const wasm = new Uint8Array(readFileSync(wasmFile()))
  const judging = withoutSynthesis(new Uint8Array(readFileSync(model)))
  const people = synthesisPeople(data, splitPeople(loadToFit(data, 'aalto')).fitting)
  onProgress(`fitting on ${people.length} people`)
  const bytes = withSynthesis(judging, fitSynthesis(wasm, judging, people, { seed, onProgress }))
  writeFileSync(out, bytes)
  return bytes.length
}

/** Numbers of KLiCKe's writers that are read; half of them are untouched. */
const WRITERS_MAX = 1600

/** People of the varying text, and writers of their own texts. */
const synthesisPeople = (data: string, aalto: readonly Subject[]): Subject[] => [
  ...aalto,
  ...(existsSync(join(data, DATA_SETS.klicke.file))
    ? loadToFit(data, 'klicke', (id) => id < WRITERS_MAX && !isUntouchedWriter(id))
    : []),
]

/** The trees of a sitting, fitted without each fold and then on all rows, and the curve to confidence. */
interface Fitted {
  readonly fits: readonly Boosted[]
  readonly confidence: Confidence
}

async function fitFusion(
  foundation: Foundation,
  people: Sources,
  sitting: Sitting,
  {
    wasm,
    seed,
    out,
    onProgress,
  }: Pick<CalibrateOptions, 'seed' | 'out'> & { readonly wasm: Uint8Array; readonly onProgress: OnProgress },
): Promise<Fitted> {
  const examples = comparisonExamples({ wasm, models: foundation.folds.map(encodeModel) }, people, sitting, seed)
  onProgress(`fusion of the ${sitting} sitting: ${examples.labels.length} examples of ${examples.width} features`)
  const columns = binned(examples, seed)
  const fits = await fitInParallel(fusionTasks(examples, columns, sitting, seed), FIT_WORKER, out, onProgress)
  return { fits, confidence: fitConfidence(outOfFoldRows(examples, columns, fits), FALSE_MATCHES) }
}

const NOBODY: Sources = { aalto: [], nislab: [], monacoFree: [] }

function withLiveness(
  wasm: Uint8Array,
  parts: ModelParts,
  { aalto }: Sources,
  options: { readonly seed: number; readonly onProgress: OnProgress },
): { readonly model: ModelParts; readonly signs: LivenessCurve } {
  const { among, lone } = fitLiveness(wasm, parts, aalto, options)
  return {
    model: { ...parts, liveness: among.trees, loneLiveness: lone.trees },
    signs: { ...among, lone: lone.base + lone.intercept },
  }
}

const FIT_WORKER = new URL('./fit-worker.js', import.meta.url)

/** People of a source that a model may be fitted on. No other function of a fit reads people. */
const loadToFit = (data: string, dataSet: FittableSet, wanted?: (person: number) => boolean): Subject[] =>
  loadPeople(data, dataSet, wanted)

const loadIfThere = (data: string, dataSet: FittableSet): Subject[] =>
  existsSync(join(data, DATA_SETS[dataSet].file)) ? loadToFit(data, dataSet) : []

/** One fit without each fold, and one on all rows. */
function fusionTasks(examples: Comparisons, columns: Binned, sitting: Sitting, seed: number): FitTask[] {
  return Array.from({ length: FOLDS + 1 }, (_, fold) => {
    const weights = new Float32Array(new SharedArrayBuffer(4 * examples.labels.length))
    weights.set(examples.weights.map((weight, row) => (examples.folds[row] === fold ? 0 : weight)))
    const name =
      fold < FOLDS ? `fusion of the ${sitting} sitting without fold ${fold}` : `fusion of the ${sitting} sitting`
    return { name, data: { ...columns, weights }, options: { ...FUSION, trees: TREES[sitting], seed: seed + fold } }
  })
}

/** Scores every row by the fit without the row's fold. */
function outOfFoldRows(examples: Comparisons, columns: Binned, fits: readonly Boosted[]) {
  const scores = new Float64Array(examples.labels.length)
  fits.slice(0, FOLDS).forEach((fit, fold) => {
    const own = scoresOf(fit, columns, (row) => examples.folds[row] === fold)
    own.forEach((score, row) => {
      if (examples.folds[row] === fold) scores[row] = score
    })
  })
  const conditions = (row: number) =>
    Array.from(examples.rows.subarray(row * examples.width, row * examples.width + CONDITIONS))
  return { scores, labels: examples.labels, weights: examples.weights, conditions }
}

/** Liveness of a model that detects no bots. */
const NO_LIVENESS: LivenessCurve = { base: 0, intercept: 0, allowance: 0, lone: 0 }

/** Constants that the kernel adds to the sums of the liveness trees (`assembly/model.ts`). */
interface LivenessCurve {
  readonly base: number
  readonly intercept: number
  readonly allowance: number
  readonly lone: number
}

/** The trees of one fit, with the sitting's curve. */
function fusionOf({ fits, confidence: { slope, intercept, conditions } }: Fitted, fit: number): Fusion {
  const { base = 0, trees = [] } = fits[fit] ?? {}
  return { trees, curve: Float32Array.of(base, slope, intercept, ...conditions) }
}

/** Reports the people of each fold by the model that was fitted without them. */
function reportOutOfFold(
  wasm: Uint8Array,
  foundation: Foundation,
  [same, later]: readonly [Fitted, Fitted],
  people: Sources,
): Record<string, OutOfFold> {
  return report(
    foundation.folds.map((parts, fold) => {
      const within = (all: readonly Subject[]) => all.filter((_, i) => i % FOLDS === fold)
      return {
        kernel: createKernel(wasm, encodeModel({ ...parts, fusions: [fusionOf(same, fold), fusionOf(later, fold)] })),
        people: {
          aalto: within(people.aalto),
          nislab: within(people.nislab),
          monacoFree: within(people.monacoFree),
        },
      }
    }),
  )
}

/** The protocols of the sources that a model is fitted on. */
const OUT_OF_FOLD = ['P1', 'P2', 'P3', 'P3_one_hand', 'P4'] as const

/** Runs these protocols within each group of people, on a model fitted without the group, and pools the results. */
function report(groups: readonly { readonly kernel: Kernel; readonly people: Sources }[]): Record<string, OutOfFold> {
  const pooled: Record<string, { fused: PersonScores[]; confidence: PersonScores[] }> = {}
  for (const { kernel, people } of groups) {
    for (const name of OUT_OF_FOLD) {
      const { source, sitting, of } = PROTOCOLS[name]
      const scores = runProtocol(kernel, of(people[source]), sitting)
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
