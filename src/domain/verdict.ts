import { challengeFrom, type Policy } from './policy.js'

export type RecommendedAction = 'auth' | 'challenge' | 'block'
export type VerdictReason = '' | 'detection-bot' | 'fraud-detected'

export interface Evidence {
  /** Calibrated, 0 to 1. */
  readonly confidenceBiometrics: number
  /** Calibrated, 0 to 1; null if no context signal is known. */
  readonly confidenceContext: number | null
  readonly bot: boolean
  /** The times of a known pattern. */
  readonly replay: boolean
  /** A known pattern that was edited: likely, not certain. */
  readonly editedCopy: boolean
  /** The speed since the last sign-in is impossible. */
  readonly impossibleTravel: boolean
}

export interface Verdict {
  readonly confidence: number
  readonly recommendedAction: RecommendedAction
  readonly reason: VerdictReason
}

/**
 * Decides from scores and policy. A replay or an impossible travel gives `block` at any score; a bot or an edited copy gives
 * the policy's `on_suspicion`, or `block` if the score alone gives it. Context can raise or lower the confidence, but a
 * biometric confidence below half the threshold always gives `block`.
 */
export function verdict(evidence: Evidence, policy: Policy): Verdict {
  const { confidenceBiometrics, confidenceContext } = evidence
  const ci = confidenceContext === null ? 0 : policy.contextual_influence
  const confidence = (1 - ci) * confidenceBiometrics + ci * (confidenceContext ?? 0)
  const byScore = evidence.impossibleTravel ? 'block' : actionFor(confidence, confidenceBiometrics, policy)
  const suspected = evidence.replay || byScore === 'block' ? 'block' : policy.on_suspicion
  if (evidence.bot) return { confidence, recommendedAction: suspected, reason: 'detection-bot' }
  if (evidence.replay || evidence.editedCopy)
    return { confidence, recommendedAction: suspected, reason: 'fraud-detected' }
  return { confidence, recommendedAction: byScore, reason: '' }
}

function actionFor(confidence: number, confidenceBiometrics: number, policy: Policy): RecommendedAction {
  const threshold = policy.decision_threshold
  if (confidenceBiometrics < threshold / 2) return 'block'
  if (confidence >= threshold) return 'auth'
  return confidence >= challengeFrom(policy) ? 'challenge' : 'block'
}
