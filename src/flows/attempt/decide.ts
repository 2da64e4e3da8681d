import { joinedConfidence } from '../../domain/adaptation.js'
import type { AttemptFacts } from '../../domain/attempt-facts.js'
import type { ProfileTargets } from '../../domain/biometric-status.js'
import { type Circumstances, readHabits, writeHabits } from '../../domain/context/circumstances.js'
import { type ContextJudgement, habitsAfter, judgeContext } from '../../domain/context/context.js'
import type { ContextIndicator } from '../../domain/context/signal.js'
import { Refusal, sessionMissing } from '../../domain/refusal.js'
import { verdict } from '../../domain/verdict.js'
import { whatIf } from '../../domain/what-if.js'
import type { PatternReading } from '../../scoring/scoring.js'
import type { AuthenticationStore } from '../../storage/authentication.js'
import type { Geography } from '../../storage/geography.js'
import type { InvalidPatternStore } from '../../storage/invalid-patterns.js'
import type { Settings } from '../organization/settings.js'
import { closedByNow } from './attempt-context.js'
import type { IsReplay, Judge, Judged } from './attempt-record.js'
import { type ComparedTyping, type ComparisonNeeds, compareTyping } from './compare.js'
import { patternsLimited } from './invalid-patterns.js'
import { clearedMark } from './replay-check.js'

export interface JudgementNeeds extends ComparisonNeeds {
  readonly authentications: AuthenticationStore
  readonly invalidPatterns: InvalidPatternStore
  readonly targets: ProfileTargets
  readonly newId: () => string
  readonly now: () => number
  readonly replay: 'reject' | 'flag'
  readonly geography: Geography
  /** Context indicators that this deployment has. */
  readonly contextIndicators: readonly ContextIndicator[]
}

export interface JudgedTyping extends Judged {
  readonly compared: ComparedTyping
  /** Seen before, whether or not that is refused here. */
  readonly replay: boolean
}

/**
 * A score holds for the references it was made with: where these changed meanwhile the pattern is scored again. Not
 * against those of a new generation: what took the old one away has ended the session too.
 */
export function judgeOf(
  needs: JudgementNeeds,
  body: Uint8Array,
  first: ComparedTyping,
): { readonly judge: Judge<JudgedTyping>; readonly isReplay: IsReplay<JudgedTyping> } {
  const patternId = needs.newId()
  let compared = first
  let cleared: readonly Uint8Array[] = []
  const judge: Judge<JudgedTyping> = async (situation, seenBefore) => {
    const closed = closedByNow(needs, situation)
    if (closed !== null) return closed
    const { who, account, member, settings } = situation
    if (member.generation !== first.generation) return sessionMissing()
    const limited = patternsLimited(member)
    if (limited !== null) return limited
    if (member.profileVersion !== compared.profileVersion) {
      const again = await compareTyping(needs, situation, body)
      if (again instanceof Refusal) return again
      compared = again
    }
    const { reading } = compared
    const { policy } = settings.policy
    const replay = reading.replayOfReference || seenBefore
    const confidenceBiometrics = joinedConfidence(reading.confidence ?? 0, reading.confidenceAdapted, policy)
    const circumstances = circumstancesOf(needs, reading)
    const habits = readHabits(member.habits)
    const context = judgeContext(circumstances, habits, policy.indicators, needs.contextIndicators)
    const { confidence: confidenceContext, impossibleTravel } = context
    const replayRejected = replay && needs.replay === 'reject'
    const decided = verdict(
      { confidenceBiometrics, confidenceContext, bot: reading.bot, replay: replayRejected, impossibleTravel },
      policy,
    )
    const { exact, bands } = reading.replayMark
    const binding = { accountId: account.id, memberId: member.id, patternId, generation: member.generation }
    return {
      verdict: decided,
      confidenceBiometrics,
      confidenceContext,
      nPatternsRefUsed: reading.nReferencesUsed,
      recognizedUser: decided.reason === '' && confidenceBiometrics >= policy.decision_threshold,
      pattern: { id: patternId, sealed: await needs.vault.seal(who.organizationId, binding, reading.sample) },
      replayMark: seenBefore ? null : { exact, bands, cleared },
      facts: withShadow(
        needs,
        factsOf({ reading, compared, circumstances, context, replay, replayRejected }),
        settings,
      ),
      habits: decided.recommendedAction === 'auth' ? writeHabits(habitsAfter(habits, circumstances)) : null,
      compared,
      replay,
      warnings: reading.warnings,
    }
  }
  const isReplay: IsReplay<JudgedTyping> = async ({ who }, { replayMark }) => {
    const mark = replayMark === null ? null : await clearedMark(needs, who.organizationId, body, replayMark)
    cleared = mark?.cleared ?? []
    return mark === null
  }
  return { judge, isReplay }
}

/** Context signals of the attempt: by the end user's address as relayed, never the transport's. */
function circumstancesOf({ geography, now }: JudgementNeeds, { ip, metadata }: PatternReading): Circumstances {
  const found = ip === null ? { network: null, place: null, anonymizer: null } : geography.look(ip)
  return { at: now(), ip, ...found, device: metadata.device }
}

interface Found {
  readonly reading: PatternReading
  readonly compared: ComparedTyping
  readonly circumstances: Circumstances
  readonly context: ContextJudgement
  readonly replay: boolean
  readonly replayRejected: boolean
}

function factsOf({ reading, compared, circumstances, context, replay, replayRejected }: Found): AttemptFacts {
  // By name: the engine makes the rest of an object on its slow path, 20 us an attempt.
  const { ip, network, anonymizer, place, device } = circumstances
  const { application, tags } = reading.metadata
  const { indicators, impossibleTravel } = context
  const { bot, botLikelihood, mode } = reading
  const { references, adaptive } = compared
  return {
    ip,
    network,
    anonymizer,
    place,
    device,
    application,
    tags,
    indicators,
    impossibleTravel,
    bot,
    botLikelihood,
    replay,
    replayRejected,
    mode,
    confidenceEnrolled: reading.confidence ?? 0,
    confidenceAdapted: reading.confidenceAdapted,
    contextKnown: context.confidence !== null,
    shadow: null,
    references,
    adaptive,
  }
}

/** The facts with what the shadow policy would have said: it decides nothing. */
function withShadow({ contextIndicators }: JudgementNeeds, facts: AttemptFacts, { shadow }: Settings): AttemptFacts {
  if (shadow === null) return facts
  const recommendedAction = whatIf(facts, shadow.policy, contextIndicators)
  return { ...facts, shadow: { policyId: shadow.id, recommendedAction } }
}
