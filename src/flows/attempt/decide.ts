import { joinedConfidence } from '../../domain/adaptation.js'
import type { AttemptFacts } from '../../domain/attempt-facts.js'
import { afterFailure, afterSuccess } from '../../domain/attempts.js'
import { type Circumstances, readHabits, writeHabits } from '../../domain/context/circumstances.js'
import { type ContextJudgement, habitsAfter, judgeContext } from '../../domain/context/context.js'
import type { ContextIndicator } from '../../domain/context/signal.js'
import { verdict } from '../../domain/verdict.js'
import { whatIf } from '../../domain/what-if.js'
import { isCopy, mayBeCopy } from '../../scoring/copy-evidence.js'
import type { PatternReading } from '../../scoring/scoring.js'
import type { AttemptRecord } from '../../storage/authentication.js'
import type { Settings } from '../organization/settings.js'
import { shownSessionId } from '../process/tokens.js'
import type { AttemptContext } from './attempt-context.js'
import type { CodeComparison, Comparison, TypingComparison } from './compare.js'
import { idsOfKnown, type KnownPatterns } from './known-patterns.js'
import type { ReplayCheck } from './replay-check.js'

export interface DecideNeeds {
  readonly replay: 'reject' | 'flag'
  /** Context indicators that this deployment has. */
  readonly contextIndicators: readonly ContextIndicator[]
}

/** The operator's data about the end user's address; all null without an address. */
export type Location = Pick<Circumstances, 'network' | 'place' | 'anonymizer'>

/** An attempt that was compared. */
interface Compared {
  readonly context: AttemptContext
  readonly comparison: Comparison
  readonly location: Location
  readonly check: ReplayCheck
  /** Id and time, epoch ms, of the record. */
  readonly id: string
  readonly now: number
}

/** Decides an attempt: the verdict, the member's counters and habits after it, and its facts. Pure: no I/O, no clock. */
export const decide = (needs: DecideNeeds, compared: Compared): AttemptRecord =>
  recordOf(
    compared,
    compared.comparison.method === 'biometric'
      ? decidedByTyping(needs, compared, compared.comparison)
      : decidedByCode(compared.comparison),
  )

/** The part of the record that the comparison decides. */
type Decided = Pick<
  AttemptRecord,
  | 'recommendedAction'
  | 'reason'
  | 'confidence'
  | 'confidenceBiometrics'
  | 'confidenceContext'
  | 'nPatternsRefUsed'
  | 'patternId'
  | 'sealed'
  | 'facts'
  | 'habits'
  | 'replayMark'
>

function decidedByTyping(
  needs: DecideNeeds,
  { context, location, check: { seenBefore, cleared }, now }: Compared,
  comparison: TypingComparison,
): Decided {
  const { reading, patternId, sealed } = comparison
  const { settings, member } = context
  const { policy } = settings.policy
  const sameTimes = reading.replayOfReference || seenBefore
  const copied = isCopy(reading.copy)
  const replay = sameTimes || copied
  const rejects = needs.replay === 'reject'
  const editedCopyRejected = rejects && replay && !sameTimes
  const replayRejected = rejects && sameTimes
  const copyInDoubt = rejects && !replay && mayBeCopy(reading.copy)
  const confidenceBiometrics = joinedConfidence(reading.confidence ?? 0, reading.confidenceAdapted, policy)
  const { network, place, anonymizer } = location
  const circumstances = { at: now, ip: reading.ip, network, place, anonymizer, device: reading.metadata.device }
  const habits = readHabits(member.habits)
  const judgement = judgeContext(circumstances, habits, policy.indicators, needs.contextIndicators)
  const { confidence: confidenceContext, impossibleTravel } = judgement
  const { confidence, recommendedAction, reason } = verdict(
    {
      confidenceBiometrics,
      confidenceContext,
      bot: reading.bot,
      replay: replayRejected,
      editedCopy: editedCopyRejected,
      copyInDoubt,
      impossibleTravel,
    },
    policy,
  )
  const facts = factsOf(comparison, circumstances, judgement, {
    replay,
    replayRejected,
    editedCopyRejected,
    copyInDoubt,
  })
  const { exact, bands } = reading.replayMark
  return {
    recommendedAction,
    reason,
    confidence,
    confidenceBiometrics,
    confidenceContext,
    nPatternsRefUsed: reading.nReferencesUsed,
    patternId,
    sealed,
    facts: withShadow(needs, facts, settings),
    habits: recommendedAction === 'auth' ? writeHabits(habitsAfter(habits, circumstances)) : null,
    replayMark: seenBefore ? null : { exact, bands, cleared },
  }
}

const decidedByCode = ({ right }: CodeComparison): Decided => ({
  recommendedAction: right ? 'auth' : 'block',
  reason: '',
  confidence: 0,
  confidenceBiometrics: 0,
  confidenceContext: null,
  nPatternsRefUsed: 0,
  patternId: null,
  sealed: null,
  facts: null,
  habits: null,
  replayMark: null,
})

function recordOf({ context, id, now }: Compared, decided: Decided): AttemptRecord {
  const { account, member, settings, session, method } = context
  const authenticated = decided.recommendedAction === 'auth'
  const { attempts } = member
  // Each field by name, because V8 copies spread fields on a slow path.
  return {
    id,
    createdAt: now,
    accountId: account.id,
    memberId: member.id,
    userRef: account.userRef,
    memberRef: member.memberRef,
    accountType: account.type,
    sessionId: shownSessionId(session.sha256),
    method,
    authenticated,
    recommendedAction: decided.recommendedAction,
    reason: decided.reason,
    confidence: decided.confidence,
    confidenceBiometrics: decided.confidenceBiometrics,
    confidenceContext: decided.confidenceContext,
    policyId: settings.policy.id,
    nPatternsRef: member.nPatternsRef,
    nPatternsRefUsed: decided.nPatternsRefUsed,
    patternId: decided.patternId,
    sealed: decided.sealed,
    facts: decided.facts,
    counters: authenticated ? afterSuccess(attempts, method) : afterFailure(attempts, method, now),
    habits: decided.habits,
    attemptsVersion: member.attemptsVersion,
    generation: member.generation,
    rowVersion: member.rowVersion,
    replayMark: decided.replayMark,
  }
}

function factsOf(
  { reading, references, adaptive, known, sitting, typedWords }: TypingComparison,
  { ip, network, anonymizer, place, device }: Circumstances,
  { indicators, impossibleTravel, confidence }: ContextJudgement,
  replays: Required<Pick<AttemptFacts, 'replay' | 'replayRejected' | 'editedCopyRejected' | 'copyInDoubt'>>,
): AttemptFacts {
  const { bot, botLikelihood, mode, metadata } = reading
  return {
    ip,
    network,
    anonymizer,
    place,
    device,
    application: metadata.application,
    tags: metadata.tags,
    indicators,
    impossibleTravel,
    bot,
    botLikelihood,
    replay: replays.replay,
    copyOf: copyOf(reading, known),
    replayRejected: replays.replayRejected,
    editedCopyRejected: replays.editedCopyRejected,
    copyInDoubt: replays.copyInDoubt,
    mode,
    typedWords,
    sitting,
    confidenceEnrolled: reading.confidence ?? 0,
    confidenceAdapted: reading.confidenceAdapted,
    contextKnown: confidence !== null,
    shadow: null,
    references,
    adaptive,
  }
}

function copyOf({ copy }: PatternReading, known: KnownPatterns): AttemptFacts['copyOf'] {
  if (copy === null || !mayBeCopy(copy)) return null
  return { patternId: idsOfKnown(known)[copy.index] ?? '', chance: copy.chance }
}

/** Adds the shadow policy's verdict, which decides nothing. */
function withShadow({ contextIndicators }: DecideNeeds, facts: AttemptFacts, { shadow }: Settings): AttemptFacts {
  if (shadow === null) return facts
  const { recommendedAction } = whatIf(facts, shadow.policy, contextIndicators)
  return { ...facts, shadow: { policyId: shadow.id, recommendedAction } }
}
