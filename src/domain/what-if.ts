import { joinedConfidence } from './adaptation.js'
import type { AttemptFacts } from './attempt-facts.js'
import { reweighed } from './context/context.js'
import type { ContextIndicator } from './context/signal.js'
import type { Policy } from './policy.js'
import { type RecommendedAction, verdict } from './verdict.js'

type Evidence = Pick<
  AttemptFacts,
  | 'indicators'
  | 'confidenceEnrolled'
  | 'confidenceAdapted'
  | 'contextKnown'
  | 'bot'
  | 'replayRejected'
  | 'impossibleTravel'
>

/**
 * What a policy says of an attempt that was judged by another one: the same evidence, other weights and bounds. Under the
 * policy that judged it, it is what was said then. Adaptive references that were not asked then are not asked now.
 */
export function whatIf(facts: Evidence, policy: Policy, enabled: readonly ContextIndicator[]): RecommendedAction {
  const { confidenceEnrolled, confidenceAdapted, bot, replayRejected, impossibleTravel } = facts
  const travelWeighs = enabled.includes('impossible-travel') && policy.indicators['impossible-travel']?.weight !== 0
  return verdict(
    {
      confidenceBiometrics: joinedConfidence(confidenceEnrolled, confidenceAdapted, policy),
      confidenceContext: facts.contextKnown ? reweighed(facts.indicators, policy.indicators, enabled) : null,
      bot,
      replay: replayRejected,
      impossibleTravel: impossibleTravel && travelWeighs,
    },
    policy,
  ).recommendedAction
}
