import { createKernel, type Kernel } from '../scoring/kernel.js'
import { encodeSample } from '../scoring/sample.js'
import { type Boosted, fitBoosting } from './boosting.js'
import type { Subject } from './dataset.js'
import { type Company, dealt, livenessExamples } from './examples.js'
import type { Sources } from './fitted-sources.js'
import { thresholdAt } from './metrics.js'
import { encodeModel, type ModelParts } from './model-file.js'
import { seededRandom } from './random.js'
import type { Family } from './remembered-noise.js'

const FITS = {
  references: {
    trees: 900,
    leaves: 16,
    learningRate: 0.1,
    l2: 2,
    rowsPerLeafMin: 40,
    rowShare: 0.3,
    featureShare: 0.3,
  },
  none: { trees: 200, leaves: 10, learningRate: 0.08, l2: 2, rowsPerLeafMin: 40, rowShare: 0.7, featureShare: 0.5 },
}
/** Number of fitting people whose patterns set the threshold of the bot verdict; no tree of the trial sees them. */
const HELD_OUT = 200
/** Share of held-out sincere patterns above the threshold, before any allowance. */
const FALSE_BOTS = { references: 0.004, none: 0.001 }
/**
 * Logits for people who type unlike the fitted people: at most as many as their own references need or, without references, the
 * same for everybody. With them under 0.5 % of the patterns that were not fitted count as a bot: those of the untouched people,
 * NISLAB's passphrases typed with one hand or two, and Monaco's patterns (model/notebook.md).
 */
const ALLOWANCE = { references: 4.5, none: 1.9 }
/** Logits for everybody, added with references; chosen together with the allowance. */
const MARGIN = 0.4

/** The liveness trees, and the constant that turns their sum into a likelihood. */
export interface Liveness extends Boosted {
  /** Added to the sum. A pattern with a result below 0 does not count as a bot. */
  readonly intercept: number
}

/** The trees for patterns with two references or more, and the largest allowance. */
export type AmongReferences = Liveness & { readonly allowance: number }

interface FitOptions {
  readonly seed: number
  /** Called with the share of the fit that is done. */
  readonly onShare: (share: number) => void
  /** Forgers that no tree sees. */
  readonly leftOut?: Family
}

/** Writers of composed text for each person of varying text. */
const WRITERS = 0.5

/** The people that the liveness trees are fitted on: two of varying text, one of composed text, and so on. */
export function livenessPeople({ aalto, klicke }: Sources): Subject[] {
  if (aalto.length === 0) return [...klicke]
  return aalto.flatMap((person, i) => {
    const writer = (i + 1) * WRITERS
    const other = Number.isInteger(writer) ? klicke[writer - 1] : undefined
    return other === undefined ? [person] : [person, other]
  })
}

/** Fits the trees for patterns with one reference or none. */
export function fitLone(
  wasm: Uint8Array,
  whole: ModelParts,
  people: readonly Subject[],
  options: FitOptions,
): Liveness {
  const lone = fit({ wasm, whole }, people, 'none', options)
  return { ...lone, intercept: lone.intercept - ALLOWANCE.none }
}

/** Fits the trees for patterns with two references or more. */
export function fitAmongReferences(
  wasm: Uint8Array,
  whole: ModelParts,
  people: readonly Subject[],
  options: FitOptions,
): AmongReferences {
  const among = fit({ wasm, whole }, people, 'references', options)
  return { ...among, intercept: among.intercept - MARGIN, allowance: ALLOWANCE.references }
}

/** The kernel, and the model that the trees are fitted for. */
interface Basis {
  readonly wasm: Uint8Array
  readonly whole: ModelParts
}

/** Fits the liveness trees on all people. The threshold comes from a trial that is fitted without the held-out people. */
function fit(basis: Basis, people: readonly Subject[], company: Company, options: FitOptions): Liveness {
  const { wasm, whole } = basis
  const heldOut = people.slice(-Math.min(HELD_OUT, Math.floor(people.length / 5)))
  const inner = people.slice(0, people.length - heldOut.length)
  const trial = boostLiveness(basis, inner, company, { ...options, onShare: (share) => options.onShare(share / 2) })
  const parts = {
    ...whole,
    liveness: trial.trees,
    loneLiveness: trial.trees,
    livenessCurve: Float32Array.of(trial.base, 1, 0, 0, trial.base),
  }
  const threshold = livenessThreshold(createKernel(wasm, encodeModel(parts)), heldOut, company)
  const fitted = boostLiveness(basis, people, company, {
    ...options,
    seed: options.seed + 1,
    onShare: (share) => options.onShare((1 + share) / 2),
  })
  return { ...fitted, intercept: -threshold }
}

function boostLiveness(
  { wasm, whole }: Basis,
  people: readonly Subject[],
  company: Company,
  { seed, onShare, leftOut }: FitOptions,
): Boosted {
  const examples = livenessExamples({ wasm, model: encodeModel(whole) }, people, company, { seed, leftOut })
  const { trees } = FITS[company]
  return fitBoosting(examples, { ...FITS[company], seed, onTree: (done) => done % 20 === 0 && onShare(done / trees) })
}

/** The threshold that the allowed share of sincere patterns exceeds; half of them simulate other keyboards and timers. */
function livenessThreshold(kernel: Kernel, people: readonly Subject[], company: Company): number {
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
