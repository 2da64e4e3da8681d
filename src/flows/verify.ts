import type { Account, Member } from '../domain/account.js'
import {
  type AttemptKind,
  type AttemptWindow,
  afterFailure,
  afterSuccess,
  attemptWindow,
  type SessionUse,
} from '../domain/attempts.js'
import { type BiometricStatus, biometricStatus, canVerify, DEFAULT_TARGETS } from '../domain/biometric-status.js'
import { Refusal, sessionMissing } from '../domain/refusal.js'
import { codeUsable } from '../domain/security-code.js'
import { type Verdict, verdict } from '../domain/verdict.js'
import type { PatternReading, Scoring } from '../scoring/scoring.js'
import type { AccountStore } from '../storage/account.js'
import type { Authentication, AuthenticationStore } from '../storage/authentication.js'
import type { InvalidPatternStore } from '../storage/invalid-patterns.js'
import type { ProfileStore } from '../storage/profile.js'
import type { SessionStore } from '../storage/session.js'
import type { Vault } from '../storage/vault.js'
import { otherMember } from './enroll.js'
import { limitInvalidPatterns } from './invalid-patterns.js'
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
import { type LanguageHints, type SuggestedWords, suggestedWords } from './words.js'

interface Needs {
  readonly accounts: AccountStore
  readonly profiles: ProfileStore
  readonly authentications: AuthenticationStore
  readonly invalidPatterns: InvalidPatternStore
  readonly sessions: SessionStore
  readonly vault: Vault
  readonly scoring: Scoring
  readonly settingsOf: (organizationId: string) => Promise<Settings>
  readonly newId: () => string
  readonly now: () => number
  readonly randomSeed: () => number
  readonly replay: 'reject' | 'flag'
}

export type VerifyAction = 'verified' | 'rejected' | 'refused' | 'enroll'

export interface VerifyAnswer {
  readonly action: VerifyAction
  readonly method: AttemptKind
  readonly account: Account
  readonly member: Member
  readonly biometricStatus: BiometricStatus
  readonly policyId: string
  /** Null where nothing was scored or compared. */
  readonly authentication: Authentication | null
  readonly recognizedUser: boolean
  /** What the session may try next; null after a success. */
  readonly next: AttemptWindow | null
  readonly words: SuggestedWords
  /** When it was answered, epoch ms. */
  readonly at: number
}

export type VerifyFlow = (
  who: Designation,
  token: Presented,
  body: Uint8Array,
  hints: LanguageHints,
) => Promise<VerifyAnswer>

/** Attempts of one member that commit at the same moment retry; past this many rounds the store is taken for unwell. */
export const ROUNDS_MAX = 50

/** What one attempt has gathered by the time it is decided. */
interface Attempt {
  readonly who: Designation
  readonly session: LiveSession
  readonly used: SessionUse
  readonly settings: Settings
  readonly reading: PatternReading
  readonly hints: LanguageHints
}

/**
 * Judges one typing pattern. In this order: session and budgets, the reservation, the score, one transaction with the
 * record and the counters, the answer. While typing is not open nothing is scored and nothing is counted.
 */
export function createVerify(needs: Needs): VerifyFlow {
  return async (who, token, body, hints) => {
    const session = await requireSession(needs.sessions, who, token)
    const named = { ...who, memberRef: who.memberRef ?? session.memberRef }
    const [settings, { account, member }] = await Promise.all([
      needs.settingsOf(who.organizationId),
      findPerson(needs.accounts, named),
    ])
    await bindSession(needs.sessions, who, session, { account, member })
    const refuseInvalid = limitInvalidPatterns(needs.invalidPatterns, who.organizationId, member)
    const before: Situation = { account, member, settings, used: session.used, hints, method: 'biometric' }
    if (!canVerify(statusOf(needs, member))) return unscored(needs, before, 'enroll')
    if (windowOf(needs, before).mode !== 'biometric') return unscored(needs, before, 'refused')

    const budget = settings.policy.policy.security_code_fallback.max_biometric_attempts
    const reservation = await needs.sessions.reserve(
      who.organizationId,
      who.userRef,
      session.sha256,
      'biometric',
      budget,
    )
    if (reservation === null) throw sessionMissing()
    const used = reservation.session.used
    if (reservation.outcome === 'exhausted') return unscored(needs, { ...before, used }, 'refused')

    const references = await openReferences(needs, who.organizationId, account, member)
    const replayKey = await needs.vault.replayKey(who.organizationId)
    const result = await needs.scoring.score({ body, references, replayKey })
    const refusal = result.ok ? otherMember(result.reading, member) : new Refusal('pattern-invalid', result.message)
    if (!result.ok || refusal !== null) {
      await needs.sessions.release(who.organizationId, who.userRef, session.sha256, 'biometric')
      return refuseInvalid(refusal)
    }
    return recorded(needs, { who: named, session, used, settings, reading: result.reading, hints }, account, member)
  }
}

async function openReferences(needs: Needs, organizationId: string, account: Account, member: Member) {
  const stored = await needs.profiles.references(organizationId, member.id)
  return Promise.all(
    stored.map(({ id, generation, sealed }) =>
      needs.vault.open(
        organizationId,
        { accountId: account.id, memberId: member.id, patternId: id, generation },
        sealed,
      ),
    ),
  )
}

/** Decides on the counters as they are and commits; where they moved meanwhile, decides again on the new ones. */
async function recorded(needs: Needs, attempt: Attempt, account: Account, first: Member): Promise<VerifyAnswer> {
  const { who, reading, settings, used, hints } = attempt
  const patternId = needs.newId()
  let member = first
  let replay = needs.replay === 'reject' && reading.replayOfReference
  let marked = true
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const now = needs.now()
    const decided = verdict(
      { confidenceBiometrics: reading.confidence ?? 0, confidenceContext: null, bot: reading.bot, replay },
      settings.policy.policy,
    )
    const authenticated = decided.recommendedAction === 'auth'
    const counters = authenticated
      ? afterSuccess(member.attempts, 'biometric')
      : afterFailure(member.attempts, 'biometric', now)
    const binding = { accountId: account.id, memberId: member.id, patternId, generation: member.generation }
    const sealed = await needs.vault.seal(who.organizationId, binding, reading.sample)
    const authentication = recordOf(needs, attempt, account, member, decided, { id: patternId, sealed }, now)
    const outcome = await needs.authentications.record(who.organizationId, {
      authentication,
      counters,
      attemptsVersion: member.attemptsVersion,
      generation: member.generation,
      replayMark: marked ? reading.replayMark : null,
    })
    if (outcome === 'recorded') {
      const place = [who.organizationId, who.userRef, attempt.session.sha256] as const
      if (authenticated) await needs.sessions.markAuthenticated(...place, now)
      else if (settings.policy.policy.security_code_fallback.require_biometric_first)
        await needs.sessions.markTypingFailed(...place)
      const after = { ...member, attempts: counters }
      const usedNow = { ...used, typingFailed: used.typingFailed || !authenticated }
      return answerOf(needs, { ...attempt, used: usedNow }, account, after, authentication)
    }
    if (outcome === 'absent') throw new Refusal('user-not-found', 'the account was deleted meanwhile')
    if (outcome === 'replay') {
      marked = false
      replay ||= needs.replay === 'reject'
      continue
    }
    const current = await findPerson(needs.accounts, who)
    const moved: Situation = { account, member: current.member, settings, used, hints, method: 'biometric' }
    if (current.member.generation !== member.generation || !canVerify(statusOf(needs, current.member))) {
      return unscored(needs, moved, 'enroll')
    }
    // The session's own budget holds this attempt already, so only the member-wide lock can have closed it.
    if (windowOf(needs, { ...moved, used: { ...used, biometric: used.biometric - 1 } }).mode !== 'biometric') {
      return unscored(needs, moved, 'refused')
    }
    member = current.member
  }
  throw new Refusal('degraded', 'too many attempts of this member at once: try again', 1)
}

function recordOf(
  needs: Needs,
  attempt: Attempt,
  account: Account,
  member: Member,
  decided: Verdict,
  pattern: { id: string; sealed: Uint8Array },
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
    sessionId: shownSessionId(attempt.session.sha256),
    method: 'biometric',
    authenticated: decided.recommendedAction === 'auth',
    recommendedAction: decided.recommendedAction,
    reason: decided.reason,
    confidence: decided.confidence,
    confidenceBiometrics: attempt.reading.confidence ?? 0,
    confidenceContext: null,
    policyId: attempt.settings.policy.id,
    nPatternsRef: member.nPatternsRef,
    nPatternsRefUsed: attempt.reading.nReferencesUsed,
    pattern,
  }
}

/** What an attempt of either kind is answered from. */
export interface Situation {
  readonly method: AttemptKind
  readonly account: Account
  readonly member: Member
  readonly settings: Settings
  readonly used: SessionUse
  readonly hints: LanguageHints
}

/** Clock and dice, all that an answer needs besides its situation. */
type AnswerNeeds = Pick<Needs, 'now' | 'randomSeed'>

export const statusOf = (needs: AnswerNeeds, member: Member): BiometricStatus =>
  biometricStatus(member, DEFAULT_TARGETS, needs.now())

/** What the session may try next. */
export function windowOf(
  needs: AnswerNeeds,
  { member, settings, used }: Pick<Situation, 'member' | 'settings' | 'used'>,
): AttemptWindow {
  return attemptWindow({
    policy: settings.policy.policy,
    session: used,
    counters: member.attempts,
    profileReady: canVerify(statusOf(needs, member)),
    codeUsable: codeUsable(member.code, needs.now()),
    now: needs.now(),
  })
}

/** An answer without a score: the mode is not open, or there is no profile to compare with. */
export function unscored(needs: AnswerNeeds, situation: Situation, action: 'refused' | 'enroll'): VerifyAnswer {
  const { method, account, member, settings, hints } = situation
  return {
    action,
    method,
    account,
    member,
    biometricStatus: statusOf(needs, member),
    policyId: settings.policy.id,
    authentication: null,
    recognizedUser: false,
    next: windowOf(needs, situation),
    words: suggestedWords(settings, member, hints, needs.randomSeed()),
    at: needs.now(),
  }
}

function answerOf(
  needs: Needs,
  { settings, used, reading, hints }: Attempt,
  account: Account,
  member: Member,
  authentication: Authentication,
): VerifyAnswer {
  const { authenticated } = authentication
  return {
    action: authenticated ? 'verified' : 'rejected',
    method: 'biometric',
    account,
    member,
    biometricStatus: statusOf(needs, member),
    policyId: settings.policy.id,
    authentication,
    recognizedUser:
      authentication.reason === '' && (reading.confidence ?? 0) >= settings.policy.policy.decision_threshold,
    next: authenticated ? null : windowOf(needs, { member, settings, used }),
    words: suggestedWords(settings, member, hints, needs.randomSeed()),
    at: needs.now(),
  }
}
