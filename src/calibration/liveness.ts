import { createKernel, type Kernel } from '../scoring/kernel.js'
import { encodeSample } from '../scoring/sample.js'
import { type Boosted, fitBoosting } from './boosting.js'
import type { Person } from './dataset.js'
import { dealt, livenessExamples } from './examples.js'
import { thresholdAt } from './metrics.js'
import { encodeModel, type ModelParts } from './model-file.js'
import { seededRandom } from './random.js'

const LIVENESS = {
  trees: 500,
  leaves: 16,
  learningRate: 0.1,
  l2: 2,
  rowsPerLeafMin: 40,
  rowShare: 0.3,
  featureShare: 0.3,
}
/** Fitting people that choose the bot verdict's threshold and no tree of the trial. */
const HELD_OUT = 200
/** Share of held-out sincere patterns above the liveness threshold, before any allowance. */
const FALSE_BOTS = 0.004
/**
 * Logits on top of it for who types unlike the fitted people, and the same where nobody knows how the person types: no
 * references, or one. Chosen so that of the untouched people's patterns, of NISLAB's passphrases, typed with one hand or two, and
 * of Monaco's, fitted on nowhere, under 0.5 % in all are called a bot (docs/accuracy.md).
 */
const ALLOWANCE = { own: 4.5, unknown: 3 }

/** The bot signs' trees, and what makes a likelihood of their sum. */
export interface Liveness extends Boosted {
  /** Added to the sum: below 0 nobody is called a bot. */
  readonly intercept: number
  readonly allowance: { readonly own: number; readonly unknown: number }
}

/**
 * The bot signs' trees on everybody, and their threshold from a trial on four fifths that is asked about the rest.
 */
export function fitLiveness(
  wasm: Uint8Array,
  whole: ModelParts,
  people: readonly Person[],
  seed: number,
  onProgress: (message: string) => void,
): Liveness {
  const heldOut = people.slice(-Math.min(HELD_OUT, Math.floor(people.length / 5)))
  const inner = people.slice(0, people.length - heldOut.length)
  const trial = boostLiveness(wasm, whole, inner, seed, onProgress)
  const parts = {
    ...whole,
    liveness: trial.trees,
    calibration: Float32Array.of(0, 1, 0, trial.base, 1, 0, 0, 0, 0, 0, 0, 0),
  }
  const threshold = livenessThreshold(createKernel(wasm, encodeModel(parts)), heldOut)
  return { ...boostLiveness(wasm, whole, people, seed + 1, onProgress), intercept: -threshold, allowance: ALLOWANCE }
}

function boostLiveness(
  wasm: Uint8Array,
  whole: ModelParts,
  people: readonly Person[],
  seed: number,
  onProgress: (message: string) => void,
): Boosted {
  const examples = livenessExamples(wasm, encodeModel(whole), people, seed)
  onProgress(`liveness: ${examples.labels.length} examples of ${examples.width} features`)
  return fitBoosting(examples, { ...LIVENESS, seed })
}

/** Where four sincere patterns in a thousand lie above, half of them as other keyboards and timers might have given them. */
export function livenessThreshold(kernel: Kernel, people: readonly Person[]): number {
  const random = seededRandom(people.length)
  const sincere = people.flatMap(({ sessions }) =>
    [0, 1].flatMap(() => {
      const { references, captures, probes } = dealt([...sessions.values()], random)
      references.forEach((reference, i) => {
        kernel.read(i + 1, encodeSample(reference, 'visible'))
      })
      return [...captures, ...probes].map((probe) => {
        kernel.read(0, encodeSample(probe, 'visible'))
        return kernel.scoreRead(references.length).liveness
      })
    }),
  )
  return thresholdAt(sincere, FALSE_BOTS)
}
