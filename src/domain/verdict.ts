import { challengeFrom, type Policy } from './policy.js'

export type RecommendedAction = 'auth' | 'challenge' | 'block'
export type VerdictReason = '' | 'detection-bot' | 'fraud-detected'

export interface Evidence {
  /** Calibrated, 0 to 1. */
  readonly confidenceBiometrics: number
  /** Calibrated, 0 to 1; null if no context signal is known. */
  readonly confidenceContext: number | null
  readonly bot: boolean
  /** The pattern has the times of a known pattern. */
  readonly replay: boolean
  /** The pattern is likely, but not certainly, an edited copy of a known pattern. */
  readonly editedCopy: boolean
  /** The pattern may be a copy: one sincere pattern in 200 has as much evidence. */
  readonly copyInDoubt: boolean
  /** The speed since the last sign-in is impossible. */
  readonly impossibleTravel: boolean
}

export interface Verdict {
  readonly confidence: number
  readonly recommendedAction: RecommendedAction
  readonly reason: VerdictReason
}

/**
 * Decides from scores and policy. A replay or an impossible travel gives `block` at any score. A bot or a copy gives the policy's
 * `on_suspicion`, or `block` if the score alone gives `block`. A pattern that may be a copy is challenged, unless the policy's
 * priority is usability. Context can raise or lower the confidence, but a biometric confidence below half the threshold always
 * gives `block`.
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
  const isChallenged = evidence.copyInDoubt && byScore === 'auth' && policy.priority !== 'usability'
  return { confidence, recommendedAction: isChallenged ? 'challenge' : byScore, reason: '' }
}

function actionFor(confidence: number, confidenceBiometrics: number, policy: Policy): RecommendedAction {
  const threshold = policy.decision_threshold
  if (confidenceBiometrics < threshold / 2) return 'block'
  if (confidence >= threshold) return 'auth'
  return confidence >= challengeFrom(policy) ? 'challenge' : 'block'
}
