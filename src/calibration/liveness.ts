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
/** Fitting people that choose the bot verdict's threshold and no tree of the trial. */
const HELD_OUT = 200
/** Share of held-out sincere patterns above the threshold, before any allowance. */
const FALSE_BOTS = { references: 0.004, none: 0.001 }
/**
 * Logits for who types unlike the fitted people: as many at the most as their own references need, or, where nobody knows how
 * they type, the same for everybody. Chosen so that of the untouched people's patterns, of NISLAB's passphrases, typed with one
 * hand or two, and of Monaco's, fitted on nowhere, under 0.5 % in all are called a bot (docs/accuracy.md).
 */
const ALLOWANCE = { references: 4.5, none: 3.4 }

/** The bot signs' trees, and what makes a likelihood of their sum. */
interface Liveness extends Boosted {
  /** Added to the sum: below 0 nobody is called a bot. */
  readonly intercept: number
}

/** Of patterns among two references or more, and of those that stand alone. */
interface Livenesses {
  readonly among: Liveness & { readonly allowance: number }
  readonly lone: Liveness
}

/** The bot signs' trees on everybody, and their thresholds from a trial on four fifths that is asked about the rest. */
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
  const whose = company === 'none' ? 'of patterns alone' : 'among references'
  onProgress(`liveness ${whose}: ${examples.labels.length} examples of ${examples.width} features`)
  return fitBoosting(examples, { ...FITS[company], seed })
}

/** Where the share of sincere patterns that may be lies above, half of them as other keyboards and timers might have given them. */
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
