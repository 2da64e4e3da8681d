import { readFileSync, writeFileSync } from 'node:fs'
import { wasmFile } from '../scoring/artifacts.js'
import { createKernel, type Kernel } from '../scoring/kernel.js'
import { encodeSample } from '../scoring/sample.js'
import { type Boosted, fitBoosting } from './boosting.js'
import { fitComponents } from './components.js'
import { loadPeople, type Person, splitPeople } from './dataset.js'
import { comparisonExamples, livenessExamples } from './examples.js'
import { type Figures, figuresOf, thresholdAt } from './metrics.js'
import { blankModel, encodeModel, FEATURE_KINDS, type ModelParts, SUMMARY_SIZE } from './model-file.js'
import { fitPopulation, keysOf, type RawSession } from './population.js'
import { runProtocol, varyingText } from './protocols.js'
import { seededRandom } from './random.js'
import { disturbed } from './species.js'
import { fitTwoCovariance } from './two-covariance.js'

type Progress = (message: string) => void

export interface CalibrateOptions {
  /** Folder of the open data sets. */
  readonly data: string
  /** Model file to write. */
  readonly out: string
  readonly seed: number
  readonly onProgress?: (message: string) => void
}

export interface Calibrated {
  readonly bytes: number
  /** P1 of the held-out part of the fitting people, by a model that never saw them. */
  readonly heldOut: Figures
  /** Share of genuine attempts at which the confidence is a probability. */
  readonly prior: number
}

/** Fitting people that choose the calibration and no tree. */
const HELD_OUT = 200
const FUSION = {
  trees: 700,
  leaves: 24,
  learningRate: 0.05,
  l2: 5,
  rowsPerLeafMin: 60,
  rowShare: 0.5,
  featureShare: 0.35,
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
/** Four: each fold's two-covariance model still sees three quarters of the people. */
const FOLDS = 4
const PRESSES_MAX = 64
/** A little under the promised 1 %, as much as the held-out people's figure is uncertain. */
const FALSE_MATCHES = 0.0085
/** Share of held-out sincere patterns above the liveness threshold before the margin. */
const FALSE_BOTS = 0.001
/**
 * Logits on top of it: other keyboards and other ways to type look less human than the fitting data's. Chosen so that of
 * NISLAB's passphrases, typed with one hand or two and fitted on nowhere, under 0.5 % are called a bot.
 */
const LIVENESS_MARGIN = 2.4

/**
 * Fits a model on the data set's first 1,000 people and writes it: first on 800 of them, to calibrate on the other 200,
 * then on all. The same data, seed and build give the same bytes. Takes some ten minutes. Throws where the data are missing.
 */
export function calibrate({ data, out, seed, onProgress = () => {} }: CalibrateOptions): Calibrated {
  const wasm = new Uint8Array(readFileSync(wasmFile()))
  const { fitting } = splitPeople(loadPeople(data, 'aalto'))
  const heldOut = fitting.slice(-Math.min(HELD_OUT, Math.floor(fitting.length / 5)))
  const inner = fitting.slice(0, fitting.length - heldOut.length)
  onProgress(`fitting on ${inner.length} people, to calibrate on ${heldOut.length} others`)
  const trial = fitModel(wasm, inner, seed, onProgress)
  const chosen = calibrateOn(createKernel(wasm, encodeModel(trial)), heldOut)
  onProgress(`held out: ${JSON.stringify(chosen.heldOut)}`)
  onProgress(`fitting on all ${fitting.length} people`)
  const model = fitModel(wasm, fitting, seed + 1, onProgress)
  const [base = 0, , , livenessBase = 0] = model.calibration
  const bytes = encodeModel({
    ...model,
    calibration: Float32Array.of(base, ...chosen.fusion, livenessBase, ...chosen.liveness, 0, 0),
  })
  writeFileSync(out, bytes)
  return { bytes: bytes.length, heldOut: chosen.heldOut, prior: chosen.prior }
}

/** The kernel's log times of every session's first presses, by person. */
function readPeople(kernel: Kernel, people: readonly Person[], which: 'raw' | 'z'): RawSession[][] {
  return people.map(({ sessions }) =>
    [...sessions.values()].map((session) => {
      const keys = keysOf(session, PRESSES_MAX)
      kernel.read(0, encodeSample(session.slice(0, PRESSES_MAX), 'visible'))
      const row = (kind: number) => kernel.row(which, 0, kind).slice(0, kind === 0 ? keys.length : keys.length - 1)
      return { keys, rows: Array.from({ length: FEATURE_KINDS }, (_, kind) => row(kind)) }
    }),
  )
}

/** What is fitted before any tree: population, variances, scales, two-covariance model. */
interface Foundation {
  readonly whole: ModelParts
  /** The same with the two-covariance model fitted without each fold, as model files. */
  readonly folds: readonly Uint8Array[]
}

export function fitFoundation(wasm: Uint8Array, people: readonly Person[], onProgress: Progress): Foundation {
  const raw = readPeople(createKernel(wasm, encodeModel(blankModel())), people, 'raw')
  const population = { ...blankModel(), ...fitPopulation(raw.flat()) }
  const normalising = createKernel(wasm, encodeModel(population))
  const components = fitComponents(readPeople(normalising, people, 'z'))
  const patterns = people.map(({ sessions }) =>
    [...sessions.values()].map((session) => {
      normalising.read(0, encodeSample(session.slice(0, 50), 'visible'))
      return { vector: normalising.vector(0).slice(), summary: normalising.summary(0).slice() }
    }),
  )
  const summaryScales = scalesOf(patterns.map((own) => own.map(({ summary }) => summary)))
  const normalised = { ...population, components, summaryScales }
  const vectors = patterns.map((own) => own.map(({ vector }) => vector))
  const without = (fold: number) => fitTwoCovariance(vectors.filter((_, i) => i % FOLDS !== fold))
  onProgress(`population of ${population.nContexts} contexts`)
  return {
    whole: { ...normalised, ...fitTwoCovariance(vectors) },
    folds: Array.from({ length: FOLDS }, (_, fold) => encodeModel({ ...normalised, ...without(fold) })),
  }
}

/** The bot signs' trees. */
export function fitLiveness(
  wasm: Uint8Array,
  whole: ModelParts,
  people: readonly Person[],
  seed: number,
  onProgress: Progress,
): Boosted {
  return boost('liveness', livenessExamples(wasm, encodeModel(whole), people, seed), LIVENESS, seed, onProgress)
}

/** Everything but the calibration. */
export function fitModel(wasm: Uint8Array, people: readonly Person[], seed: number, onProgress: Progress): ModelParts {
  const { whole, folds } = fitFoundation(wasm, people, onProgress)
  const fusion = boost('fusion', comparisonExamples(wasm, folds, people, seed), FUSION, seed, onProgress)
  const liveness = fitLiveness(wasm, whole, people, seed, onProgress)
  const calibration = Float32Array.of(fusion.base, 1, 0, liveness.base, 1, 0, 0, 0)
  return { ...whole, calibration, fusion: fusion.trees, liveness: liveness.trees }
}

function boost(
  name: string,
  examples: Parameters<typeof fitBoosting>[0],
  options: typeof FUSION,
  seed: number,
  onProgress: Progress,
): Boosted {
  onProgress(`${name}: ${examples.labels.length} examples of ${examples.width} features`)
  const onTree = (done: number): void => {
    if (done % 50 === 0) onProgress(`${name}: tree ${done} of ${options.trees}`)
  }
  return fitBoosting(examples, { ...options, seed, onTree })
}

/** Within-person deviations inverted, population means, population deviations inverted. */
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

const meanOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
function varianceOf(values: readonly number[]): number {
  const mean = meanOf(values)
  return meanOf(values.map((value) => (value - mean) ** 2))
}

interface Choice {
  /** Slope and intercept of the logit of confidence, and of bot likelihood. */
  readonly fusion: readonly [number, number]
  readonly liveness: readonly [number, number]
  readonly prior: number
  readonly heldOut: Figures
}

/**
 * The two logistic curves. Confidence: Platt's slope (1999) on even prior odds, then shifted so that 0.5 is where false
 * matches are 0.85 %; the shift is the same as a prior, so confidence stays a probability, at that share of genuine
 * attempts. Bot likelihood: 0.5 where one sincere pattern in a thousand lies above.
 */
function calibrateOn(kernel: Kernel, people: readonly Person[]): Choice {
  const scores = runProtocol(kernel, varyingText(people, 50)).fused
  const genuine = scores.flatMap((person) => person.genuine)
  const impostor = scores.flatMap((person) => person.impostor)
  const { slope, intercept } = plattScale(genuine, impostor)
  const threshold = thresholdAt(impostor, FALSE_MATCHES)
  return {
    fusion: [slope, -slope * threshold],
    liveness: [1, -livenessThreshold(kernel, people)],
    prior: 1 / (1 + Math.exp(slope * threshold + intercept)),
    heldOut: figuresOf(scores),
  }
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

/** Logistic regression on one score, both classes weighed alike, by Newton's method. */
export function plattScale(
  genuine: readonly number[],
  impostor: readonly number[],
): { slope: number; intercept: number } {
  let [slope, intercept] = [1, 0]
  for (let step = 0; step < 30; step++) {
    let [ga, gb, haa, hab, hbb] = [0, 0, 1e-9, 0, 1e-9]
    const add = (scores: readonly number[], label: number): void => {
      for (const score of scores) {
        const p = 1 / (1 + Math.exp(-(slope * score + intercept)))
        const [error, weight] = [(p - label) / scores.length, (p * (1 - p)) / scores.length]
        ga += error * score
        gb += error
        haa += weight * score * score
        hab += weight * score
        hbb += weight
      }
    }
    add(genuine, 1)
    add(impostor, 0)
    const determinant = haa * hbb - hab * hab
    slope -= (hbb * ga - hab * gb) / determinant
    intercept -= (haa * gb - hab * ga) / determinant
  }
  return { slope, intercept }
}
