import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { wasmFile } from '../scoring/artifacts.js'
import { createKernel, type Kernel } from '../scoring/kernel.js'
import { encodeSample } from '../scoring/sample.js'
import { type Binned, type Boosted, type BoostingOptions, binned, fitBoosting, scoresOf } from './boosting.js'
import { type Comparisons, comparisonExamples, type Sources } from './comparisons.js'
import { atHalf, type Confidence, fitConfidence } from './confidence.js'
import { DATA_SETS, type DataSet, loadPeople, type Person, splitPeople } from './dataset.js'
import { livenessExamples } from './examples.js'
import { FOLDS, type Foundation, fitFoundation } from './foundation.js'
import {
  bootstrapIntervals,
  type Figures,
  figuresOf,
  type Intervals,
  type PersonScores,
  thresholdAt,
} from './metrics.js'
import { encodeModel, type ModelParts } from './model-file.js'
import { type FitTask, fitInParallel } from './parallel.js'
import { type Participant, type ProtocolScores, protocolsOf, runProtocol } from './protocols.js'
import { seededRandom } from './random.js'
import { disturbed } from './species.js'

type Progress = (message: string) => void

export interface CalibrateOptions {
  /** Folder of the open data sets. */
  readonly data: string
  /** Model file to write; what a broken-off run has finished is kept beside it. */
  readonly out: string
  readonly seed: number
  readonly onProgress?: Progress
}

/** A protocol by models that never saw the people it reports. */
export interface OutOfFold {
  readonly figures: Figures
  readonly intervals: Intervals
  /** False matches and false non-matches at a confidence of 0.5. */
  readonly atHalf: { readonly fmr: number; readonly fnmr: number }
}

export interface Calibrated {
  readonly bytes: number
  readonly outOfFold: Readonly<Record<string, OutOfFold>>
  /** Share of genuine attempts at which the confidence is a probability. */
  readonly prior: number
}

const FUSION = {
  trees: 800,
  leaves: 16,
  learningRate: 0.05,
  l2: 5,
  rowsPerLeafMin: 40,
  rowShare: 0.15,
  featureShare: 0.15,
}
const LIVENESS = {
  trees: 200,
  leaves: 10,
  learningRate: 0.08,
  l2: 2,
  rowsPerLeafMin: 40,
  rowShare: 0.7,
  featureShare: 0.5,
}
/** Fitting people that choose the bot verdict's threshold and no tree of the trial. */
const HELD_OUT = 200
/** A little under the promised 1 %, as much as the out-of-fold figure is uncertain. */
const FALSE_MATCHES = 0.0085
/** Share of held-out sincere patterns above the liveness threshold before the margin. */
const FALSE_BOTS = 0.001
/**
 * Logits on top of it: other keyboards and other ways to type look less human than the fitting data's. Chosen so that of
 * NISLAB's passphrases, typed with one hand or two and fitted on nowhere, under 0.5 % are called a bot.
 */
const LIVENESS_MARGIN = 2.4

/**
 * Fits a model on the first 1,000 people of the varying text and on everybody of the other sources, and writes it. The
 * fusion is fitted once on all and once without each of four folds of people, which give the calibration and the figures
 * out of fold. The same data, seed and build give the same bytes. Throws where the varying text is missing; a missing
 * other source is done without.
 */
export async function calibrate({ data, out, seed, onProgress = () => {} }: CalibrateOptions): Promise<Calibrated> {
  const wasm = new Uint8Array(readFileSync(wasmFile()))
  const people: Sources = {
    aalto: splitPeople(loadPeople(data, 'aalto')).fitting,
    nislab: loadIfThere(data, 'nislab'),
    monacoFree: loadIfThere(data, 'monacoFree'),
  }
  onProgress(`fitting on ${people.aalto.length}, ${people.nislab.length} and ${people.monacoFree.length} people`)
  const foundation = fitFoundation(wasm, people, onProgress)
  const examples = comparisonExamples(wasm, foundation.folds.map(encodeModel), people, seed)
  onProgress(`fusion: ${examples.labels.length} examples of ${examples.width} features`)
  const columns = binned(examples, seed)
  const fits = await fitInParallel(fusionTasks(examples, columns, seed), FIT_WORKER, out, onProgress)
  const confidence = fitConfidence(outOfFoldRows(examples, columns, fits), FALSE_MATCHES)
  const liveness = fitLiveness(wasm, foundation.whole, people.aalto, seed, onProgress)
  const outOfFold = reportOutOfFold(wasm, foundation, fits, confidence, people)
  const model = { ...foundation.whole, liveness: liveness.trees }
  const bytes = encodeModel({ ...withFusion(model, fits.at(-1), confidence, liveness) })
  writeFileSync(out, bytes)
  return { bytes: bytes.length, outOfFold, prior: confidence.prior }
}

const FIT_WORKER = new URL('./fit-worker.js', import.meta.url)

const loadIfThere = (data: string, dataSet: DataSet): Person[] =>
  existsSync(join(data, DATA_SETS[dataSet].file)) ? loadPeople(data, dataSet) : []

/** A fit without each fold, and one on all. */
function fusionTasks(examples: Comparisons, columns: Binned, seed: number): FitTask[] {
  return Array.from({ length: FOLDS + 1 }, (_, fold) => {
    const weights = new Float32Array(new SharedArrayBuffer(4 * examples.labels.length))
    weights.set(examples.weights.map((weight, row) => (examples.folds[row] === fold ? 0 : weight)))
    const name = fold < FOLDS ? `fusion without fold ${fold}` : 'fusion'
    return { name, data: { ...columns, weights }, options: { ...FUSION, seed: seed + fold } }
  })
}

/** Every row scored by the fit without its fold. */
function outOfFoldRows(examples: Comparisons, columns: Binned, fits: readonly Boosted[]) {
  const scores = new Float64Array(examples.labels.length)
  fits.slice(0, FOLDS).forEach((fit, fold) => {
    const own = scoresOf(fit, columns, (row) => examples.folds[row] === fold)
    own.forEach((score, row) => {
      if (examples.folds[row] === fold) scores[row] = score
    })
  })
  const conditions = (row: number) => Array.from(examples.rows.subarray(row * examples.width, row * examples.width + 4))
  return { scores, labels: examples.labels, weights: examples.weights, conditions }
}

function withFusion(
  parts: ModelParts,
  fusion: Boosted | undefined,
  { slope, intercept, conditions }: Confidence,
  liveness: { readonly base: number; readonly intercept: number },
): ModelParts {
  const base = fusion?.base ?? 0
  const curve = [base, slope, intercept, liveness.base, 1, liveness.intercept, ...conditions, 0, 0]
  return { ...parts, fusion: fusion?.trees ?? [], calibration: Float32Array.from(curve) }
}

/** Every protocol, each fold's people against one another by the model without them, pooled. */
function reportOutOfFold(
  wasm: Uint8Array,
  foundation: Foundation,
  fits: readonly Boosted[],
  confidence: Confidence,
  people: Sources,
): Record<string, OutOfFold> {
  const pooled: Record<string, { fused: PersonScores[]; confidence: PersonScores[] }> = {}
  foundation.folds.forEach((parts, fold) => {
    const kernel = createKernel(wasm, encodeModel(withFusion(parts, fits[fold], confidence, { base: 0, intercept: 0 })))
    const within = (all: readonly Person[]) => all.filter((_, i) => i % FOLDS === fold)
    const own = { aalto: within(people.aalto), nislab: within(people.nislab), monacoFree: within(people.monacoFree) }
    for (const [name, participants] of Object.entries(protocolsOf(own)) as [string, Participant[]][]) {
      const scores: ProtocolScores = runProtocol(kernel, participants)
      const all = pooled[name] ?? { fused: [], confidence: [] }
      pooled[name] = all
      all.fused.push(...scores.fused)
      all.confidence.push(...scores.confidence)
    }
  })
  return Object.fromEntries(
    Object.entries(pooled)
      .filter(([, scores]) => scores.fused.length > 1)
      .map(([name, scores]) => [
        name,
        {
          figures: figuresOf(scores.fused),
          intervals: bootstrapIntervals(scores.fused, 200, 1),
          atHalf: atHalf(scores.confidence),
        },
      ]),
  )
}

/**
 * The bot signs' trees on everybody, and their threshold from a trial on four fifths that is asked about the rest. Bot
 * likelihood is 0.5 where one sincere pattern in a thousand lies above, and the margin.
 */
function fitLiveness(
  wasm: Uint8Array,
  whole: ModelParts,
  people: readonly Person[],
  seed: number,
  onProgress: Progress,
): Boosted & { readonly intercept: number } {
  const heldOut = people.slice(-Math.min(HELD_OUT, Math.floor(people.length / 5)))
  const inner = people.slice(0, people.length - heldOut.length)
  const trial = boostLiveness(wasm, whole, inner, seed, onProgress)
  const parts = {
    ...whole,
    liveness: trial.trees,
    calibration: Float32Array.of(0, 1, 0, trial.base, 1, 0, 0, 0, 0, 0, 0, 0),
  }
  const threshold = livenessThreshold(createKernel(wasm, encodeModel(parts)), heldOut)
  return { ...boostLiveness(wasm, whole, people, seed + 1, onProgress), intercept: -threshold }
}

function boostLiveness(
  wasm: Uint8Array,
  whole: ModelParts,
  people: readonly Person[],
  seed: number,
  onProgress: Progress,
): Boosted {
  const examples = livenessExamples(wasm, encodeModel(whole), people, seed)
  onProgress(`liveness: ${examples.labels.length} examples of ${examples.width} features`)
  const options: BoostingOptions = { ...LIVENESS, seed }
  return fitBoosting(examples, options)
}

/** Where one sincere pattern in a thousand lies above, half of them as other keyboards and timers might have given them. */
export function livenessThreshold(kernel: Kernel, people: readonly Person[]): number {
  const random = seededRandom(people.length)
  const sincere = people.flatMap(({ sessions }) =>
    [...sessions.values()].flatMap((session) =>
      [session.slice(0, 50), disturbed(session, random).slice(0, 25)].map((pattern) => {
        if (pattern.length < 15) return Number.NEGATIVE_INFINITY
        kernel.read(0, encodeSample(pattern, 'visible'))
        return kernel.scoreRead(0).liveness
      }),
    ),
  )
  return thresholdAt(sincere, FALSE_BOTS) + LIVENESS_MARGIN
}
