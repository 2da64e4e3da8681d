import { joinedConfidence } from './adaptation.js'
import type { AttemptFacts } from './attempt-facts.js'
import { reweighed } from './context/context.js'
import type { ContextIndicator } from './context/signal.js'
import type { Policy } from './policy.js'
import { type Verdict, verdict } from './verdict.js'

type Evidence = Pick<
  AttemptFacts,
  | 'indicators'
  | 'confidenceEnrolled'
  | 'confidenceAdapted'
  | 'contextKnown'
  | 'bot'
  | 'replayRejected'
  | 'editedCopyRejected'
  | 'copyInDoubt'
  | 'impossibleTravel'
>

/**
 * The verdict of another policy for a recorded attempt: the same evidence, other weights and bounds. The attempt's
 * own policy reproduces its recommendation. Adaptive references that the attempt did not score are not scored now.
 */
export function whatIf(facts: Evidence, policy: Policy, enabled: readonly ContextIndicator[]): Verdict {
  const { confidenceEnrolled, confidenceAdapted, bot, replayRejected, editedCopyRejected, impossibleTravel } = facts
  const travelWeighs = enabled.includes('impossible-travel') && policy.indicators['impossible-travel']?.weight !== 0
  return verdict(
    {
      confidenceBiometrics: joinedConfidence(confidenceEnrolled, confidenceAdapted, policy),
      confidenceContext: facts.contextKnown ? reweighed(facts.indicators, policy.indicators, enabled) : null,
      bot,
      replay: replayRejected,
      editedCopy: editedCopyRejected,
      copyInDoubt: facts.copyInDoubt ?? false,
      impossibleTravel: impossibleTravel && travelWeighs,
    },
    policy,
  )
}
