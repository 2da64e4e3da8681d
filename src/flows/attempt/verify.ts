import { ADAPTATION_INTERVAL_MS, ADAPTIVE_MAX, mayAdapt } from '../../domain/adaptation.js'
import { Refusal, sessionOfAnother } from '../../domain/refusal.js'
import type { AccountStore } from '../../storage/account.js'
import type { SessionStore } from '../../storage/session.js'
import { type Settings, settingsFor } from '../organization/settings.js'
import type { LanguageHints } from '../organization/suggested-words.js'
import { sha256Hex } from '../process/tokens.js'
import { type Designation, fitsMember, type Presented } from '../session/person.js'
import { begin, closedBy, closedByNow, release, reserve, type Situation } from './attempt-context.js'
import { answerOf, readAgain, type Settled, settle, unjudged, type VerifyAnswer } from './attempt-record.js'
import { compareTyping } from './compare.js'
import { type JudgedTyping, type JudgementNeeds, judgeOf } from './decide.js'
import { patternsLimited, refusingInvalid } from './invalid-patterns.js'

interface Needs extends JudgementNeeds {
  readonly accounts: AccountStore
  readonly sessions: SessionStore
  readonly settingsOf: (organizationId: string) => Promise<Settings>
  readonly randomSeed: () => number
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
    const refuseInvalid = refusingInvalid(needs.invalidPatterns, who.organizationId, reserved.member)
    const compared = await compareTyping(needs, reserved, body)
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
  const limited = patternsLimited(before.member)
  if (limited !== null) throw limited
  const closed = closedBy(needs, before)
  if (closed !== null) return unjudged(before, closed)
  const reserved = await reserve(needs, before)
  return reserved.open ? reserved : unjudged(reserved, 'session-used-up')
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
): Promise<Situation | Settled<never> | null> {
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
  if (closedBy(needs, before) !== null) return null
  const reserved = await reserve(needs, before)
  if (!reserved.open) return null
  if (!fitsMember(reserved.session, named)) {
    await release(needs, reserved)
    throw sessionOfAnother()
  }
  // With several processes mostly another one began the session, or judged the attempt before, and knows a newer person.
  const isOlder = (reserved.session.memberVersion ?? 0) > member.rowVersion
  const wasElsewhere = reserved.nth !== nth + 1 && reserved.nth !== 1
  return isOlder || wasElsewhere ? readWhileReserved(needs, reserved) : reserved
}

/** The person as they are now. An attempt that is not open to them gives its reservation back before anything is read of it. */
async function readWhileReserved(needs: Needs, reserved: Situation): Promise<Situation | Settled<never>> {
  const situation = await readAgain(needs, reserved)
  const limited = patternsLimited(situation.member)
  const closed = limited === null ? closedByNow(needs, situation) : null
  if (limited === null && closed === null) return situation
  const before = await release(needs, situation)
  if (closed === null) throw limited
  needs.people.forget(situation.who)
  return unjudged(before, closed)
}

/** For the next attempt of this person here. */
function remember(needs: Needs, { situation, judged, authentication }: Settled<JudgedTyping>): void {
  const { who, account, member, nth } = situation
  const compared = judged?.compared
  const { template = null, hasAdaptive = false, references = [] } = compared ?? {}
  if (authentication === null || template === null) needs.people.forget(who)
  else needs.people.keep(who, { account, member, nth, template, hasAdaptive, references })
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
