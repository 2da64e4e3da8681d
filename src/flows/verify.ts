import { ADAPTATION_INTERVAL_MS, ADAPTIVE_MAX, joinedConfidence, liftable, mayAdapt } from '../domain/adaptation.js'
import type { AttemptFacts } from '../domain/attempt-facts.js'
import { biometricStatus, canVerify, type ProfileTargets } from '../domain/biometric-status.js'
import { canonicalAddress } from '../domain/context/address.js'
import { type Circumstances, readHabits, writeHabits } from '../domain/context/circumstances.js'
import { type ContextJudgement, habitsAfter, judgeContext } from '../domain/context/context.js'
import type { ContextIndicator } from '../domain/context/signal.js'
import { Refusal, sessionMissing } from '../domain/refusal.js'
import { verdict } from '../domain/verdict.js'
import { whatIf } from '../domain/what-if.js'
import type { PatternReading, ProfileTemplate, Scoring, ScoringResult } from '../scoring/scoring.js'
import type { AccountStore } from '../storage/account.js'
import type { AuthenticationStore } from '../storage/authentication.js'
import type { Geography } from '../storage/geography.js'
import type { InvalidPatternStore } from '../storage/invalid-patterns.js'
import type { ProfileStore, StoredReference } from '../storage/profile.js'
import type { SessionStore } from '../storage/session.js'
import type { Vault } from '../storage/vault.js'
import { begin, release, reserve, type Situation, windowOf, windowOfReserved } from './attempt.js'
import {
  answerOf,
  type IsReplay,
  type Judge,
  type Judged,
  readAgain,
  type Settled,
  settle,
  unjudged,
  type VerifyAnswer,
} from './attempt-record.js'
import { otherMember } from './enroll.js'
import { limitInvalidPatterns } from './invalid-patterns.js'
import { clearedMark } from './known-patterns.js'
import type { KnownPeople } from './known-people.js'
import { type Designation, fitsMember, type Presented } from './person.js'
import { type Settings, settingsFor } from './settings.js'
import { sha256Hex } from './tokens.js'
import type { LanguageHints } from './words.js'

interface Needs {
  readonly accounts: AccountStore
  readonly profiles: ProfileStore
  readonly authentications: AuthenticationStore
  readonly invalidPatterns: InvalidPatternStore
  readonly sessions: SessionStore
  readonly vault: Vault
  readonly people: KnownPeople
  readonly scoring: Scoring
  readonly settingsOf: (organizationId: string) => Promise<Settings>
  readonly targets: ProfileTargets
  readonly newId: () => string
  readonly now: () => number
  readonly randomSeed: () => number
  readonly replay: 'reject' | 'flag'
  /** Profiles learn from clean sign-ins, and what they learned counts. */
  readonly adaptation: boolean
  readonly geography: Geography
  /** Context indicators that this deployment has. */
  readonly contextIndicators: readonly ContextIndicator[]
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
    const reserved = (await reserveAsKnown(needs, who, token, hints)) ?? (await reserveAsRead(needs, who, token, hints))
    if ('action' in reserved) return answerOf(needs, reserved)
    const refuseInvalid = limitInvalidPatterns(needs.invalidPatterns, who.organizationId, reserved.member)
    const compared = await compare(needs, reserved, body)
    if (compared instanceof Refusal) {
      await release(needs, reserved)
      return refuseInvalid(compared)
    }
    try {
      const { judge, isReplay } = judgeOf(needs, body, compared)
      const settled = await settle(needs, reserved, judge, isReplay)
      await noteInSession(needs, settled)
      if (await learn(needs, settled)) needs.people.forget(who)
      else remember(needs, settled)
      return answerOf(needs, settled)
    } catch (error) {
      needs.people.forget(who)
      throw error
    }
  }
}

/** The person as the stores have them: the attempt is counted, or there is none to make. */
async function reserveAsRead(
  needs: Needs,
  who: Designation,
  token: Presented,
  hints: LanguageHints,
): Promise<Situation | Settled<never>> {
  const before = await begin(needs, 'biometric', who, token, hints)
  limitInvalidPatterns(needs.invalidPatterns, who.organizationId, before.member)
  if (!profileReady(needs, before)) return unjudged(before, 'enroll')
  if (windowOf(needs, before).mode !== 'biometric') return unjudged(before, 'refused')
  const reserved = await reserve(needs, before)
  return reserved.open ? reserved : unjudged(reserved, 'refused')
}

/**
 * The same in one round trip, on the person as this process remembers them: the commit tells whether that still holds.
 * Null where nobody is remembered, or no attempt is open by it, which the stores should say themselves.
 */
async function reserveAsKnown(
  needs: Needs,
  who: Designation,
  token: Presented,
  hints: LanguageHints,
): Promise<Situation | null> {
  const known = needs.people.recall(who)
  if (known === null || typeof token !== 'string') return null
  const { account, member, nth } = known
  const settings = settingsFor(await needs.settingsOf(who.organizationId), account)
  const unused = { biometric: 0, security_code: 0, typingFailed: false }
  const session = { userRef: who.userRef, memberRef: null, memberVersion: null, used: unused, reportedAction: null }
  const unsaid = { ...session, sha256: sha256Hex(token) }
  const named = { ...who, memberRef: who.memberRef ?? member.memberRef }
  const before = {
    method: 'biometric',
    who: named,
    session: unsaid,
    account,
    member,
    settings,
    used: unused,
    nth: 0,
    hints,
  } as const
  if (!profileReady(needs, before) || windowOf(needs, before).mode !== 'biometric') return null
  const reserved = await reserve(needs, before)
  if (!reserved.open) return null
  if (!fitsMember(reserved.session, named)) {
    await release(needs, reserved)
    throw sessionMissing()
  }
  // With several processes mostly another one began the session, or judged the attempt before, and knows a newer person.
  const isOlder = (reserved.session.memberVersion ?? 0) > member.rowVersion
  const wasElsewhere = reserved.nth !== nth + 1 && reserved.nth !== 1
  return isOlder || wasElsewhere ? await readAgain(needs, reserved) : reserved
}

/** For the next attempt of this person here. */
function remember(needs: Needs, { situation, judged, authentication }: Settled<JudgedTyping>): void {
  const { who, account, member, nth } = situation
  const compared = judged?.compared
  const { template = null, hasAdaptive = false, references = [] } = compared ?? {}
  if (authentication === null || template === null) needs.people.forget(who)
  else needs.people.keep(who, { account, member, nth, template, hasAdaptive, references })
}

const profileReady = (needs: Needs, { member }: Situation): boolean =>
  canVerify(biometricStatus(member, needs.targets, needs.now()))

/** A pattern, and the references it was scored against. */
interface Compared {
  readonly reading: PatternReading
  readonly generation: number
  readonly profileVersion: number
  /** Of the enrolled references; null where there is none to keep. */
  readonly template: ProfileTemplate | null
  readonly hasAdaptive: boolean
  /** Ids of the references, in the order in which they were compared. */
  readonly references: readonly string[]
  readonly adaptive: readonly string[]
}

/** A Refusal as a value where the body is no pattern of this member: nothing was learned from it. */
async function compare(needs: Needs, situation: Situation, body: Uint8Array): Promise<Compared | Refusal> {
  const { who, member, settings } = situation
  const { organizationId } = who
  const held = needs.people.profileOf(who, member)
  const stored = held === null ? await needs.profiles.references(organizationId, member.id) : null
  const replayKey = await needs.vault.replayKey(organizationId)
  const against =
    held === null
      ? { references: await opened(needs, situation, (stored ?? []).filter(isEnrolled)), keep: true }
      : { references: [], template: held.template }
  const first = await needs.scoring.score({ body, replayKey, ...against })
  if (!first.ok) return new Refusal('pattern-invalid', first.message)
  const hasAdaptive = held?.hasAdaptive ?? stored?.some((one) => !isEnrolled(one)) ?? false
  const mayLift = needs.adaptation && hasAdaptive && liftable(first.reading.confidence ?? 0, settings.policy.policy)
  const enrolled = held?.references ?? idsOf((stored ?? []).filter(isEnrolled))
  const { result, ...compared } = mayLift
    ? await lift(needs, situation, body, replayKey)
    : { result: first, references: enrolled, adaptive: [] }
  if (!result.ok) return new Refusal('pattern-invalid', result.message)
  const { generation, profileVersion } = member
  const template = held?.template ?? first.reading.kept
  const { reading } = result
  return otherMember(reading, member) ?? { reading, generation, profileVersion, template, hasAdaptive, ...compared }
}

/** The same against enrolled and adaptive references. */
async function lift(
  needs: Needs,
  situation: Situation,
  body: Uint8Array,
  replayKey: Uint8Array,
): Promise<Pick<Compared, 'references' | 'adaptive'> & { readonly result: ScoringResult }> {
  const stored = await needs.profiles.references(situation.who.organizationId, situation.member.id)
  const [enrolled, learned] = [stored.filter(isEnrolled), stored.filter((one) => !isEnrolled(one))]
  const [references, adaptive] = await Promise.all([
    opened(needs, situation, enrolled),
    opened(needs, situation, learned),
  ])
  const result = await needs.scoring.score({ body, replayKey, references, adaptive })
  return { result, references: idsOf(enrolled), adaptive: idsOf(learned) }
}

const idsOf = (references: readonly StoredReference[]): string[] => references.map(({ id }) => id)

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
function judgeOf(
  needs: Needs,
  body: Uint8Array,
  first: Compared,
): { readonly judge: Judge<JudgedTyping>; readonly isReplay: IsReplay<JudgedTyping> } {
  const patternId = needs.newId()
  let compared = first
  let cleared: readonly Uint8Array[] = []
  const judge: Judge<JudgedTyping> = async (situation, seenBefore) => {
    if (!profileReady(needs, situation)) return 'enroll'
    if (windowOfReserved(needs, situation).mode !== 'biometric') return 'refused'
    const { who, account, member, settings } = situation
    if (member.generation !== first.generation) return 'refused'
    limitInvalidPatterns(needs.invalidPatterns, who.organizationId, member)
    if (member.profileVersion !== compared.profileVersion) {
      const again = await compare(needs, situation, body)
      if (again instanceof Refusal) throw again
      compared = again
    }
    const { reading } = compared
    const { policy } = settings.policy
    const replay = reading.replayOfReference || seenBefore
    const confidenceBiometrics = joinedConfidence(reading.confidence ?? 0, reading.confidenceAdapted, policy)
    const around = circumstancesOf(needs, reading)
    const habits = readHabits(member.habits)
    const context = judgeContext(around, habits, policy.indicators, needs.contextIndicators)
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
      facts: withShadow(needs, factsOf({ reading, compared, around, context, replay, replayRejected }), settings),
      habits: decided.recommendedAction === 'auth' ? writeHabits(habitsAfter(habits, around)) : null,
      compared,
      replay,
    }
  }
  const isReplay: IsReplay<JudgedTyping> = async ({ who }, { replayMark }) => {
    const mark = replayMark === null ? null : await clearedMark(needs, who.organizationId, body, replayMark)
    cleared = mark?.cleared ?? []
    return mark === null
  }
  return { judge, isReplay }
}

/** What is known around the attempt: by the end user's address as relayed, never the transport's. */
function circumstancesOf({ geography, now }: Needs, { ip, around }: PatternReading): Circumstances {
  const address = ip === null ? null : canonicalAddress(ip.trim())
  const found = address === null ? { network: null, place: null, anonymizer: null } : geography.look(address)
  return { at: now(), ip: address, ...found, device: around.device }
}

interface Found {
  readonly reading: PatternReading
  readonly compared: Compared
  readonly around: Circumstances
  readonly context: ContextJudgement
  readonly replay: boolean
  readonly replayRejected: boolean
}

function factsOf({ reading, compared, around, context, replay, replayRejected }: Found): AttemptFacts {
  // By name: the engine makes the rest of an object on its slow path, 20 us an attempt.
  const { ip, network, anonymizer, place, device } = around
  const { application, tags } = reading.around
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
function withShadow({ contextIndicators }: Needs, facts: AttemptFacts, { shadow }: Settings): AttemptFacts {
  if (shadow === null) return facts
  const recommendedAction = whatIf(facts, shadow.policy, contextIndicators)
  return { ...facts, shadow: { policyId: shadow.id, recommendedAction } }
}

/** A failure opens the code where typing comes first. */
async function noteInSession({ sessions }: Needs, { situation, authentication }: Settled): Promise<void> {
  if (authentication === null || authentication.authenticated) return
  const { who, session, settings } = situation
  if (settings.policy.policy.security_code_fallback.require_biometric_first)
    await sessions.markTypingFailed(who.organizationId, who.userRef, session.sha256)
}

/**
 * A clean sign-in becomes an adaptive reference, in a transaction of its own right after the record: the record must not
 * hang on it, and a crash in between costs one of many chances to learn, nothing else. So does a store that is away.
 * True where the profile may be another now.
 */
async function learn(needs: Needs, { situation, judged, authentication }: Settled<JudgedTyping>): Promise<boolean> {
  const pattern = judged?.pattern ?? null
  if (!needs.adaptation || judged === null || pattern === null || authentication === null) return false
  const { reading, profileVersion } = judged.compared
  const { member, who } = situation
  const { verdict, replay, confidenceContext } = judged
  const now = authentication.createdAt
  const evidence = { verdict, replay, confidenceEnrolled: reading.confidence ?? 0, confidenceContext }
  if (!mayAdapt({ ...evidence, adaptedAt: member.adaptedAt, now })) return false
  const { id: memberId, generation } = member
  const reference = { ...pattern, memberId, generation, mode: reading.mode, createdAt: now }
  const rules = { profileVersion, max: ADAPTIVE_MAX, intervalMs: ADAPTATION_INTERVAL_MS }
  try {
    await needs.profiles.adapt(who.organizationId, reference, rules)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
  }
  return true
}
