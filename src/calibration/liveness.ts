import { createKernel, type Kernel } from '../scoring/kernel.js'
import { encodeSample } from '../scoring/sample.js'
import { type Boosted, fitBoosting } from './boosting.js'
import type { Person } from './dataset.js'
import { type Company, dealt, livenessExamples } from './examples.js'
import { thresholdAt } from './metrics.js'
import { encodeModel, type ModelParts } from './model-file.js'
import { seededRandom } from './random.js'

const FITS = {
  references: {
    trees: 500,
    leaves: 16,
    learningRate: 0.1,
    l2: 2,
    rowsPerLeafMin: 40,
    rowShare: 0.3,
    featureShare: 0.3,
  },
  none: { trees: 200, leaves: 10, learningRate: 0.08, l2: 2, rowsPerLeafMin: 40, rowShare: 0.7, featureShare: 0.5 },
}
/** Fitting people that choose the threshold of the bot verdict; no tree of the trial sees them. */
const HELD_OUT = 200
/** Share of held-out sincere patterns above the threshold, before any allowance. */
const FALSE_BOTS = { references: 0.004, none: 0.001 }
/**
 * Logits for people who type unlike the fitted people: at most as many as their own references need or, without references, the
 * same for everybody. Chosen so that under 0.5 % in all count as a bot of: patterns of the untouched people, NISLAB's passphrases
 * typed with one hand or two, and Monaco's patterns, none of which were fitted (docs/accuracy.md).
 */
const ALLOWANCE = { references: 4.5, none: 3.4 }

/** The liveness trees, and the constant that turns their sum into a likelihood. */
interface Liveness extends Boosted {
  /** Added to the sum: a pattern below 0 does not count as a bot. */
  readonly intercept: number
}

/** `among` for patterns with two references or more, `lone` for patterns with one or none. */
interface Livenesses {
  readonly among: Liveness & { readonly allowance: number }
  readonly lone: Liveness
}

/** Fits the liveness trees on all people, and their thresholds by a trial on four fifths that is tested on the rest. */
export function fitLiveness(
  wasm: Uint8Array,
  whole: ModelParts,
  people: readonly Person[],
  seed: number,
  onProgress: (message: string) => void,
): Livenesses {
  const fit = (company: Company): Liveness => {
    const heldOut = people.slice(-Math.min(HELD_OUT, Math.floor(people.length / 5)))
    const inner = people.slice(0, people.length - heldOut.length)
    const trial = boostLiveness(wasm, whole, inner, company, seed, onProgress)
    const parts = {
      ...whole,
      liveness: trial.trees,
      loneLiveness: trial.trees,
      calibration: Float32Array.of(0, 1, 0, trial.base, 1, 0, 0, 0, 0, 0, 0, trial.base),
    }
    const threshold = livenessThreshold(createKernel(wasm, encodeModel(parts)), heldOut, company)
    return { ...boostLiveness(wasm, whole, people, company, seed + 1, onProgress), intercept: -threshold }
  }
  const lone = fit('none')
  return {
    among: { ...fit('references'), allowance: ALLOWANCE.references },
    lone: { ...lone, intercept: lone.intercept - ALLOWANCE.none },
  }
}

function boostLiveness(
  wasm: Uint8Array,
  whole: ModelParts,
  people: readonly Person[],
  company: Company,
  seed: number,
  onProgress: (message: string) => void,
): Boosted {
  const examples = livenessExamples(wasm, encodeModel(whole), people, company, seed)
  const which = company === 'none' ? 'of patterns alone' : 'among references'
  onProgress(`liveness ${which}: ${examples.labels.length} examples of ${examples.width} features`)
  return fitBoosting(examples, { ...FITS[company], seed })
}

/** The threshold that the allowed share of sincere patterns exceeds; half of them simulate other keyboards and timers. */
function livenessThreshold(kernel: Kernel, people: readonly Person[], company: Company): number {
  const random = seededRandom(people.length)
  const sincere = people.flatMap(({ sessions }) =>
    [0, 1].flatMap(() => {
      const { references, captures, probes } = dealt([...sessions.values()], company, random)
      references.forEach((reference, i) => {
        kernel.read(i + 1, encodeSample(reference, 'visible'))
      })
      return [...captures, ...probes].map((probe) => {
        kernel.read(0, encodeSample(probe, 'visible'))
        return kernel.scoreRead(references.length).liveness
      })
    }),
  )
  return thresholdAt(sincere, FALSE_BOTS[company])
}
