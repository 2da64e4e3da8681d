import { ADAPTATION_INTERVAL_MS, ADAPTIVE_MAX, joinedConfidence, liftable, mayAdapt } from '../domain/adaptation.js'
import { biometricStatus, canVerify, type ProfileTargets } from '../domain/biometric-status.js'
import { Refusal } from '../domain/refusal.js'
import { verdict } from '../domain/verdict.js'
import type { PatternReading, Scoring } from '../scoring/scoring.js'
import type { AccountStore } from '../storage/account.js'
import type { AuthenticationStore } from '../storage/authentication.js'
import type { InvalidPatternStore } from '../storage/invalid-patterns.js'
import type { ProfileStore, StoredReference } from '../storage/profile.js'
import type { SessionStore } from '../storage/session.js'
import type { Vault } from '../storage/vault.js'
import { begin, release, reserve, type Situation, windowOf, windowOfReserved } from './attempt.js'
import {
  answerOf,
  type Judge,
  type Judged,
  type Settled,
  settle,
  unjudged,
  type VerifyAnswer,
} from './attempt-record.js'
import { otherMember } from './enroll.js'
import { limitInvalidPatterns } from './invalid-patterns.js'
import type { Designation, Presented } from './person.js'
import type { Settings } from './settings.js'
import type { LanguageHints } from './words.js'

interface Needs {
  readonly accounts: AccountStore
  readonly profiles: ProfileStore
  readonly authentications: AuthenticationStore
  readonly invalidPatterns: InvalidPatternStore
  readonly sessions: SessionStore
  readonly vault: Vault
  readonly scoring: Scoring
  readonly settingsOf: (organizationId: string) => Promise<Settings>
  readonly targets: ProfileTargets
  readonly newId: () => string
  readonly now: () => number
  readonly randomSeed: () => number
  readonly replay: 'reject' | 'flag'
  /** Profiles learn from clean sign-ins, and what they learned counts. */
  readonly adaptation: boolean
}

export type VerifyFlow = (
  who: Designation,
  token: Presented,
  body: Uint8Array,
  hints: LanguageHints,
) => Promise<VerifyAnswer>

/**
 * Judges one typing pattern. In this order: session and budgets, the reservation, the score, one transaction with the
 * record and the counters, what the profile learns, the answer. While typing is not open nothing is scored or counted.
 */
export function createVerify(needs: Needs): VerifyFlow {
  return async (who, token, body, hints) => {
    const before = await begin(needs, 'biometric', who, token, hints)
    const refuseInvalid = limitInvalidPatterns(needs.invalidPatterns, who.organizationId, before.member)
    if (!profileReady(needs, before)) return answerOf(needs, unjudged(before, 'enroll'))
    if (windowOf(needs, before).mode !== 'biometric') return answerOf(needs, unjudged(before, 'refused'))

    const reserved = await reserve(needs, before)
    if (!reserved.open) return answerOf(needs, unjudged(reserved, 'refused'))

    const compared = await compare(needs, reserved, body)
    if (compared instanceof Refusal) {
      await release(needs, reserved)
      return refuseInvalid(compared)
    }
    const settled = await settle(needs, reserved, judgeOf(needs, body, compared))
    await noteInSession(needs, settled)
    await learn(needs, settled)
    return answerOf(needs, settled)
  }
}

const profileReady = (needs: Needs, { member }: Situation): boolean =>
  canVerify(biometricStatus(member, needs.targets, needs.now()))

/** A pattern, and the references it was scored against. */
interface Compared {
  readonly reading: PatternReading
  readonly generation: number
  readonly profileVersion: number
}

/** A Refusal as a value where the body is no pattern of this member: nothing was learned from it. */
async function compare(needs: Needs, situation: Situation, body: Uint8Array): Promise<Compared | Refusal> {
  const { who, member, settings } = situation
  const { organizationId } = who
  const stored = await needs.profiles.references(organizationId, member.id)
  const [enrolled, adaptive] = [stored.filter(isEnrolled), stored.filter((one) => !isEnrolled(one))]
  const replayKey = await needs.vault.replayKey(organizationId)
  const task = { body, references: await opened(needs, situation, enrolled), replayKey }
  let result = await needs.scoring.score(task)
  if (!result.ok) return new Refusal('pattern-invalid', result.message)
  const mayLift = liftable(result.reading.confidence ?? 0, settings.policy.policy)
  if (needs.adaptation && adaptive.length > 0 && mayLift) {
    result = await needs.scoring.score({ ...task, adaptive: await opened(needs, situation, adaptive) })
    if (!result.ok) return new Refusal('pattern-invalid', result.message)
  }
  const { generation, profileVersion } = member
  return otherMember(result.reading, member) ?? { reading: result.reading, generation, profileVersion }
}

const isEnrolled = ({ kind }: StoredReference): boolean => kind === 'enrolled'

const opened = (needs: Needs, { who, account, member }: Situation, references: readonly StoredReference[]) =>
  Promise.all(
    references.map(({ id, generation, sealed }) => {
      const binding = { accountId: account.id, memberId: member.id, patternId: id, generation }
      return needs.vault.open(who.organizationId, binding, sealed)
    }),
  )

interface JudgedTyping extends Judged {
  readonly compared: Compared
  /** Seen before, whether or not that is refused here. */
  readonly replay: boolean
}

/**
 * A score holds for the references it was made with: where these changed meanwhile the pattern is scored again. Not
 * against those of a new generation: what took the old one away has ended the session too.
 */
function judgeOf(needs: Needs, body: Uint8Array, first: Compared): Judge<JudgedTyping> {
  const patternId = needs.newId()
  let compared = first
  return async (situation, seenBefore) => {
    if (!profileReady(needs, situation)) return 'enroll'
    if (windowOfReserved(needs, situation).mode !== 'biometric') return 'refused'
    const { who, account, member, settings } = situation
    if (member.generation !== first.generation) return 'refused'
    if (member.profileVersion !== compared.profileVersion) {
      const again = await compare(needs, situation, body)
      if (again instanceof Refusal) throw again
      compared = again
    }
    const { reading } = compared
    const { policy } = settings.policy
    const replay = reading.replayOfReference || seenBefore
    const confidenceBiometrics = joinedConfidence(reading.confidence ?? 0, reading.confidenceAdapted, policy)
    const evidence = { confidenceBiometrics, confidenceContext: null, bot: reading.bot }
    const decided = verdict({ ...evidence, replay: replay && needs.replay === 'reject' }, policy)
    const binding = { accountId: account.id, memberId: member.id, patternId, generation: member.generation }
    return {
      verdict: decided,
      confidenceBiometrics,
      confidenceContext: evidence.confidenceContext,
      nPatternsRefUsed: reading.nReferencesUsed,
      recognizedUser: decided.reason === '' && confidenceBiometrics >= policy.decision_threshold,
      pattern: { id: patternId, sealed: await needs.vault.seal(who.organizationId, binding, reading.sample) },
      replayMark: seenBefore ? null : reading.replayMark,
      compared,
      replay,
    }
  }
}

/** A success opens a finished profile to further references, a failure the code where typing comes first. */
async function noteInSession({ sessions }: Needs, { situation, authentication }: Settled): Promise<void> {
  if (authentication === null) return
  const { who, session, settings } = situation
  const place = [who.organizationId, who.userRef, session.sha256] as const
  if (authentication.authenticated) await sessions.markAuthenticated(...place, authentication.createdAt)
  else if (settings.policy.policy.security_code_fallback.require_biometric_first)
    await sessions.markTypingFailed(...place)
}

/**
 * A clean sign-in becomes an adaptive reference, in a transaction of its own right after the record: the record must not
 * hang on it, and a crash in between costs one of many chances to learn, nothing else. So does a store that is away.
 */
async function learn(needs: Needs, { situation, judged, authentication }: Settled<JudgedTyping>): Promise<void> {
  const pattern = judged?.pattern ?? null
  if (!needs.adaptation || judged === null || pattern === null || authentication === null) return
  const { reading, profileVersion } = judged.compared
  const { member, who } = situation
  const now = authentication.createdAt
  const confidenceEnrolled = reading.confidence ?? 0
  if (!mayAdapt({ ...judged, confidenceEnrolled, adaptedAt: member.adaptedAt, now })) return
  const { id: memberId, generation } = member
  const reference = { ...pattern, memberId, generation, mode: reading.mode, createdAt: now }
  const rules = { profileVersion, max: ADAPTIVE_MAX, intervalMs: ADAPTATION_INTERVAL_MS }
  try {
    await needs.profiles.adapt(who.organizationId, reference, rules)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
  }
}
