import type { KeyPress } from '../../../src/domain/key-press.js'
import { comparer } from './compare.js'
import { examineHabits } from './forgery.js'
import { certainlyMachine, examine } from './liveness.js'
import { CONDITIONS, readModel, VECTOR_SIZE } from './model.js'
import { COMPARED_MAX, patternOf, readPresses } from './pattern.js'
import { summarize } from './summary.js'
import { HABITS, readTemplate, type Template } from './template.js'
import { logistic, sumTrees } from './trees.js'

/** The kernel's score without the parts that the peer does not use. */
interface Score {
  readonly confidence: number
  /** Above 0.5 the probe counts as a bot. */
  readonly botLikelihood: number
  /** Both before calibration. */
  readonly fused: number
  readonly liveness: number
}

export interface Scorer {
  /** Done once a person, as it takes longer than a score. The caller owns the result. */
  readTemplate(kept: Uint8Array): Template
  /** Scores 15 key presses or more. */
  score(presses: readonly KeyPress[], template: Template): Score
}

/**
 * The kernel's score of a probe against kept references, in JavaScript, with the same model file: written for speed, as a team
 * would. The result is the same to the last bit except for the exponential of the two curves at the end. Without replays, and for
 * probes of the same sitting only.
 */
export function createScorer(modelFile: Uint8Array): Scorer {
  const model = readModel(modelFile)
  const compare = comparer(model)
  const probe = patternOf(COMPARED_MAX)
  const vector = new Float32Array(VECTOR_SIZE)
  const habits = new Float32Array(HABITS)
  const weight = (i: number) => model.calibration[i] ?? 0
  const [fusionBase, fusionSlope, fusionIntercept] = [weight(0), weight(1), weight(2)]
  const [livenessBase, livenessSlope, livenessIntercept] = [weight(30), weight(31), weight(32)]
  const [allowance, loneBase] = [weight(33), weight(34)]

  const livenessOf = (signs: Float32Array, references: number): number =>
    references < 2 ? loneBase + sumTrees(model.lone, signs) : livenessBase + sumTrees(model.liveness, signs)

  /** Liveness score of the oddest reference, each against the others. */
  function ownLiveness(template: Template): number {
    const { references } = template
    if (Number.isNaN(template.ownLiveness))
      template.ownLiveness = Math.max(
        ...references.map((each, r) =>
          livenessOf(examine(each, template.habits, r * HABITS, template), references.length),
        ),
      )
    return template.ownLiveness
  }

  function machineLikelihood(liveness: number, template: Template): number {
    if (template.references.length < 2) return logistic(liveness)
    const logit = livenessSlope * liveness + livenessIntercept
    if (logit <= 0 || allowance <= 0) return logistic(logit)
    const own = livenessSlope * ownLiveness(template) + livenessIntercept
    return logistic(logit - Math.max(0, Math.min(allowance, own + allowance)))
  }

  return {
    readTemplate: (kept) => readTemplate(model, kept),
    score(presses, template) {
      readPresses(model, probe, presses)
      summarize(probe, vector)
      const features = compare(probe, vector, template)
      let fused = fusionSlope * (fusionBase + sumTrees(model.fusion, features)) + fusionIntercept
      for (let i = 0; i < CONDITIONS; i++) fused += weight(3 + i) * (features[i] ?? 0)
      examineHabits(probe, template, habits)
      const liveness = livenessOf(examine(probe, habits, 0, template), template.references.length)
      const botLikelihood = certainlyMachine(probe) ? 1 : machineLikelihood(liveness, template)
      return { confidence: logistic(fused), botLikelihood, fused, liveness }
    },
  }
}
