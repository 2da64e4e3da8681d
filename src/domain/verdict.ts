import { CHALLENGE_BAND, type Policy } from './policy.js'

export type RecommendedAction = 'auth' | 'challenge' | 'block'
export type VerdictReason = '' | 'detection-bot' | 'fraud-detected'

export interface Evidence {
  /** Calibrated, 0 to 1. */
  readonly confidenceBiometrics: number
  /** Calibrated, 0 to 1; null if no context signal is known. */
  readonly confidenceContext: number | null
  readonly bot: boolean
  readonly replay: boolean
  /** The speed since the last sign-in is impossible. */
  readonly impossibleTravel: boolean
}

export interface Verdict {
  readonly confidence: number
  readonly recommendedAction: RecommendedAction
  readonly reason: VerdictReason
}

/**
 * Decides from scores and policy. A bot, a replay or an impossible travel gives `block` at any score. Context can raise or
 * lower the confidence, but a biometric confidence below half the threshold always gives `block`.
 */
export function verdict(evidence: Evidence, policy: Policy): Verdict {
  const { confidenceBiometrics, confidenceContext } = evidence
  const ci = confidenceContext === null ? 0 : policy.contextual_influence
  const confidence = (1 - ci) * confidenceBiometrics + ci * (confidenceContext ?? 0)
  if (evidence.bot) return { confidence, recommendedAction: 'block', reason: 'detection-bot' }
  if (evidence.replay) return { confidence, recommendedAction: 'block', reason: 'fraud-detected' }
  if (evidence.impossibleTravel) return { confidence, recommendedAction: 'block', reason: '' }
  return { confidence, recommendedAction: actionFor(confidence, confidenceBiometrics, policy), reason: '' }
}

function actionFor(confidence: number, confidenceBiometrics: number, policy: Policy): RecommendedAction {
  const threshold = policy.decision_threshold
  if (confidenceBiometrics < threshold / 2) return 'block'
  if (confidence >= threshold) return 'auth'
  return confidence >= threshold - CHALLENGE_BAND[policy.priority] ? 'challenge' : 'block'
}
