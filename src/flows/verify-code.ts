import type { Account, Member } from '../domain/account.js'
import { afterFailure, afterSuccess } from '../domain/attempts.js'
import { Refusal, sessionMissing } from '../domain/refusal.js'
import type { AccountStore } from '../storage/account.js'
import type { Authentication, AuthenticationStore } from '../storage/authentication.js'
import type { CodeHash } from '../storage/code-hash.js'
import type { SecurityCodeStore } from '../storage/security-code.js'
import type { SessionStore } from '../storage/session.js'
import {
  bindSession,
  type Designation,
  findPerson,
  type LiveSession,
  type Presented,
  requireSession,
} from './person.js'
import type { Settings } from './settings.js'
import { shownSessionId } from './tokens.js'
import { ROUNDS_MAX, type Situation, statusOf, unscored, type VerifyAnswer, windowOf } from './verify.js'
import { type LanguageHints, suggestedWords } from './words.js'

interface Needs {
  readonly accounts: AccountStore
  readonly authentications: AuthenticationStore
  readonly securityCodes: SecurityCodeStore
  readonly codeHash: CodeHash
  readonly sessions: SessionStore
  readonly settingsOf: (organizationId: string) => Promise<Settings>
  readonly newId: () => string
  readonly now: () => number
  readonly randomSeed: () => number
}

export type VerifyCodeFlow = (
  who: Designation,
  token: Presented,
  code: string,
  hints: LanguageHints,
) => Promise<VerifyAnswer>

/**
 * Judges one security code, in the order of a typing pattern: session and budgets, the reservation, the comparison, one
 * transaction with the record and the counters, the answer. While the code is not open nothing is compared or counted.
 * Our choice: a code marks no session as authenticated, so it opens no finished profile to further references.
 */
export function createVerifyCode(needs: Needs): VerifyCodeFlow {
  return async (who, token, code, hints) => {
    const session = await requireSession(needs.sessions, who, token)
    const named = { ...who, memberRef: who.memberRef ?? session.memberRef }
    const [settings, { account, member }] = await Promise.all([
      needs.settingsOf(who.organizationId),
      findPerson(needs.accounts, named),
    ])
    await bindSession(needs.sessions, who, session, { account, member })
    const before: Situation = { account, member, settings, used: session.used, hints, method: 'security_code' }
    const owner = { organizationId: who.organizationId, memberId: member.id }
    if (!windowOf(needs, before).codeOpen) {
      // As slow as a comparison, so that time does not tell whether there is a code.
      if (!member.code.set) await needs.codeHash.matches(owner, code, null)
      return unscored(needs, before, 'refused')
    }

    const budget = settings.policy.policy.security_code_fallback.max_code_attempts
    const place = [who.organizationId, who.userRef, session.sha256, 'security_code'] as const
    const reservation = await needs.sessions.reserve(...place, budget)
    if (reservation === null) throw sessionMissing()
    const reserved = { ...before, used: reservation.session.used }
    if (reservation.outcome === 'exhausted') return unscored(needs, reserved, 'refused')

    const stored = await needs.securityCodes.find(who.organizationId, member.id)
    let right: boolean
    try {
      right = await needs.codeHash.matches(owner, code, stored?.hash ?? null)
    } catch (error) {
      // Too many wait: nothing was compared, so nothing was learned.
      if (error instanceof Refusal) await needs.sessions.release(...place)
      throw error
    }
    return recorded(needs, { who: named, session, right, comparedVersion: stored?.version ?? null }, reserved)
  }
}

/** What one comparison has shown. */
interface Compared {
  readonly who: Designation
  readonly session: LiveSession
  readonly right: boolean
  /** The code's version that was compared; null where the member was gone. */
  readonly comparedVersion: number | null
}

/** Decides on the counters as they are and commits; where they moved meanwhile, decides again on the new ones. */
async function recorded(needs: Needs, compared: Compared, situation: Situation): Promise<VerifyAnswer> {
  const { who, session, right, comparedVersion } = compared
  const { account, settings, used } = situation
  let { member } = situation
  for (let round = 0; round < ROUNDS_MAX; round++) {
    // The session's own budget holds this attempt already: what closes the code now is the lock, a use or a change.
    const others = { ...used, security_code: used.security_code - 1 }
    const open = windowOf(needs, { ...situation, member, used: others }).codeOpen
    if (!open || member.code.version !== comparedVersion) return unscored(needs, { ...situation, member }, 'refused')
    const now = needs.now()
    const counters = right
      ? afterSuccess(member.attempts, 'security_code')
      : afterFailure(member.attempts, 'security_code', now)
    const authentication = recordOf(needs, session, settings, account, member, right, now)
    const outcome = await needs.authentications.record(who.organizationId, {
      authentication,
      counters,
      attemptsVersion: member.attemptsVersion,
      generation: member.generation,
      replayMark: null,
    })
    if (outcome === 'recorded') {
      const code = right && member.code.temporary ? { ...member.code, used: true } : member.code
      return answerOf(needs, { ...situation, member: { ...member, attempts: counters, code } }, authentication)
    }
    if (outcome === 'absent') throw new Refusal('user-not-found', 'the account was deleted meanwhile')
    member = (await findPerson(needs.accounts, who)).member
  }
  throw new Refusal('degraded', 'too many attempts of this member at once: try again', 1)
}

function recordOf(
  needs: Needs,
  session: LiveSession,
  settings: Settings,
  account: Account,
  member: Member,
  right: boolean,
  now: number,
): Authentication {
  return {
    id: needs.newId(),
    createdAt: now,
    accountId: account.id,
    memberId: member.id,
    userRef: account.userRef,
    memberRef: member.memberRef,
    accountType: account.type,
    sessionId: shownSessionId(session.sha256),
    method: 'security_code',
    authenticated: right,
    recommendedAction: right ? 'auth' : 'block',
    reason: '',
    confidence: 0,
    confidenceBiometrics: 0,
    confidenceContext: null,
    policyId: settings.policy.id,
    nPatternsRef: member.nPatternsRef,
    nPatternsRefUsed: 0,
    pattern: null,
  }
}

function answerOf(needs: Needs, situation: Situation, authentication: Authentication): VerifyAnswer {
  const { account, member, settings, hints, method } = situation
  const { authenticated } = authentication
  return {
    action: authenticated ? 'verified' : 'rejected',
    method,
    account,
    member,
    biometricStatus: statusOf(needs, member),
    policyId: settings.policy.id,
    authentication,
    recognizedUser: false,
    next: authenticated ? null : windowOf(needs, situation),
    words: suggestedWords(settings, member, hints, needs.randomSeed()),
    at: needs.now(),
  }
}
