import type { Account, Member } from '../../domain/account.js'
import type { AttemptFacts } from '../../domain/attempt-facts.js'
import {
  type AttemptCounters,
  type AttemptKind,
  type AttemptWindow,
  afterFailure,
  afterSuccess,
  attemptWindow,
  type RefusedBecause,
  windowOfRefused,
} from '../../domain/attempts.js'
import { type ProfileTargets, type ProfileView, profileView } from '../../domain/biometric-status.js'
import type { HabitsText } from '../../domain/context/circumstances.js'
import { Refusal } from '../../domain/refusal.js'
import type { ReplayMark } from '../../domain/replay.js'
import type { Verdict } from '../../domain/verdict.js'
import type { AccountStore } from '../../storage/account.js'
import type { Authentication, AuthenticationStore } from '../../storage/authentication.js'
import type { SessionStore } from '../../storage/session.js'
import { type Settings, settingsFor } from '../organization/settings.js'
import { type SuggestedWords, suggestedWords } from '../organization/suggested-words.js'
import { shownSessionId } from '../process/tokens.js'
import { modeInputs } from '../session/mode-inputs.js'
import { findPerson } from '../session/person.js'
import { release, type Situation } from './attempt-context.js'

interface Needs {
  readonly accounts: AccountStore
  readonly authentications: AuthenticationStore
  readonly sessions: Pick<SessionStore, 'release'>
  readonly settingsOf: (organizationId: string) => Promise<Settings>
  readonly targets: ProfileTargets
  readonly newId: () => string
  readonly now: () => number
  readonly randomSeed: () => number
}

/** Attempts of one member that commit at the same moment retry; past this many rounds the store is taken for unwell. */
const ROUNDS_MAX = 50

/** What was found of one attempt. */
export interface Judged {
  readonly verdict: Verdict
  readonly confidenceBiometrics: number
  readonly confidenceContext: number | null
  readonly nPatternsRefUsed: number
  /** The typing alone reached the threshold. */
  readonly recognizedUser: boolean
  /** Null for a security code, and `replayMark` also where the index is left alone. */
  readonly pattern: Authentication['pattern']
  readonly replayMark: ReplayMark | null
  readonly facts: AttemptFacts | null
  /** The member's after a success; null where nothing is learned. */
  readonly habits: HabitsText | null
  /** Of the pattern; absent and null: there is nothing to warn of. */
  readonly warnings?: readonly string[] | null
}

/**
 * Judges an attempt on the member as the situation has it; asked again where that moved before the record was written.
 * A string where nothing is judged any more: the profile is not complete, or why the mode is not open; a Refusal where
 * the attempt is none any more. `seenBefore`: the replay index knows the typing.
 */
export type Judge<J extends Judged> = (
  situation: Situation,
  seenBefore: boolean,
) => Promise<J | 'enroll' | RefusedBecause | Refusal>

/** Whether a pattern whose mark resembles a known one is that one over again; else the judge is asked for it once more. */
export type IsReplay<J extends Judged> = (situation: Situation, judged: J) => Promise<boolean>

/** What became of an attempt; `authentication` and `judged` null where nothing was scored or compared. */
export interface Settled<J extends Judged = Judged> {
  readonly situation: Situation
  readonly action: VerifyAction
  /** Null unless refused. */
  readonly refusedBecause: RefusedBecause | null
  readonly judged: J | null
  readonly authentication: Authentication | null
}

/** An attempt that is not judged: the mode is not open, or there is no profile to compare with. It holds no reservation. */
export const unjudged = (situation: Situation, closed: 'enroll' | RefusedBecause): Settled<never> => ({
  situation,
  action: closed === 'enroll' ? 'enroll' : 'refused',
  refusedBecause: closed === 'enroll' ? null : closed,
  judged: null,
  authentication: null,
})

/**
 * Judges on the counters and the profile as they are and commits record and counters together; where they moved meanwhile,
 * judges again on the new ones. An attempt that is not judged in the end gives its reservation back: it is not on record,
 * and its answer tells nothing of what was compared. Refuses a member that is gone.
 */
export async function settle<J extends Judged>(
  needs: Needs,
  first: Situation,
  judge: Judge<J>,
  isReplay: IsReplay<J>,
): Promise<Settled<J>> {
  let situation = first
  let seenBefore = false
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const judged = await judge(situation, seenBefore)
    if (typeof judged === 'string') return unjudged(await release(needs, situation), judged)
    if (judged instanceof Refusal) {
      await release(needs, situation)
      throw judged
    }
    const { who, member, method, used } = situation
    const now = needs.now()
    const authentication = recordOf(needs, situation, judged, now)
    const { authenticated } = authentication
    const counters = authenticated ? afterSuccess(member.attempts, method) : afterFailure(member.attempts, method, now)
    const outcome = await needs.authentications.record(who.organizationId, {
      authentication,
      counters,
      habits: judged.habits,
      attemptsVersion: member.attemptsVersion,
      generation: member.generation,
      rowVersion: member.rowVersion,
      replayMark: judged.replayMark,
    })
    if (outcome === 'recorded') {
      const after = {
        ...situation,
        member: memberAfter(member, authentication, counters, judged.habits),
        used: { ...used, typingFailed: used.typingFailed || (method === 'biometric' && !authenticated) },
      }
      const action = authenticated ? 'verified' : 'rejected'
      return { situation: after, action, refusedBecause: null, judged, authentication }
    }
    if (outcome === 'replay') seenBefore = await isReplay(situation, judged)
    else situation = await readAgain(needs, situation)
  }
  throw new Refusal('degraded', 'too many attempts of this member at once: try again', 1)
}

/** The situation with its person as it is now. Refuses where the person is gone, or there is another one by that name. */
export async function readAgain(
  needs: Pick<Needs, 'accounts' | 'settingsOf'>,
  situation: Situation,
): Promise<Situation> {
  const { who } = situation
  const [settings, { account, member }] = await Promise.all([
    needs.settingsOf(who.organizationId),
    findPerson(needs.accounts, who),
  ])
  // What was checked of the account before is not checked again: that hardly anybody meets.
  if (account.id !== situation.account.id || account.type !== situation.account.type)
    throw new Refusal('degraded', 'the account was changed meanwhile: try again', 1)
  return { ...situation, account, member, settings: settingsFor(settings, account) }
}

function recordOf(needs: Needs, situation: Situation, judged: Judged, now: number): Authentication {
  const { account, member, settings, session, method } = situation
  const { verdict } = judged
  return {
    id: needs.newId(),
    createdAt: now,
    accountId: account.id,
    memberId: member.id,
    userRef: account.userRef,
    memberRef: member.memberRef,
    accountType: account.type,
    sessionId: shownSessionId(session.sha256),
    method,
    authenticated: verdict.recommendedAction === 'auth',
    recommendedAction: verdict.recommendedAction,
    reason: verdict.reason,
    confidence: verdict.confidence,
    confidenceBiometrics: judged.confidenceBiometrics,
    confidenceContext: judged.confidenceContext,
    policyId: settings.policy.id,
    nPatternsRef: member.nPatternsRef,
    nPatternsRefUsed: judged.nPatternsRefUsed,
    pattern: judged.pattern,
    facts: judged.facts,
  }
}

/** The member as the commit left it. */
function memberAfter(
  member: Member,
  { authenticated, method, createdAt }: Authentication,
  attempts: AttemptCounters,
  habits: HabitsText | null,
): Member {
  const { lastSuccessAt, lastTypedAt, code } = member
  return {
    ...member,
    attempts,
    attemptsVersion: member.attemptsVersion + 1,
    rowVersion: member.rowVersion + 1,
    habits: habits ?? member.habits,
    lastSuccessAt: authenticated ? createdAt : lastSuccessAt,
    lastTypedAt: authenticated && method === 'biometric' ? createdAt : lastTypedAt,
    code: authenticated && method === 'security_code' ? { ...code, used: code.temporary } : code,
  }
}

type VerifyAction = 'verified' | 'rejected' | 'refused' | 'enroll'

export interface VerifyAnswer extends ProfileView {
  readonly action: VerifyAction
  /** Null unless refused. */
  readonly refusedBecause: RefusedBecause | null
  readonly method: AttemptKind
  readonly account: Account
  readonly member: Member
  readonly policyId: string
  /** Null where nothing was scored or compared. */
  readonly authentication: Authentication | null
  readonly recognizedUser: boolean
  /** What the session may try next; null after a success, and where there is only enrollment. */
  readonly next: AttemptWindow | null
  /** For what the session may try next; null with that. */
  readonly words: SuggestedWords | null
  /** When it was answered, epoch ms. */
  readonly at: number
  /** Of the pattern that was judged; null where there is nothing to warn of. */
  readonly warnings: readonly string[] | null
}

/** What a caller is told of an attempt. */
export function answerOf(
  needs: Pick<Needs, 'targets' | 'now' | 'randomSeed'>,
  { situation, action, refusedBecause, judged, authentication }: Settled,
): VerifyAnswer {
  const { method, account, member, settings, hints } = situation
  const next = nextWindow(needs, situation, action, refusedBecause)
  const at = needs.now()
  const { biometricStatus, nPatternsRef, nVisible, nSensitive, targetRefPatterns } = profileView(
    member,
    needs.targets,
    at,
  )
  return {
    biometricStatus,
    nPatternsRef,
    nVisible,
    nSensitive,
    targetRefPatterns,
    action,
    refusedBecause,
    method,
    account,
    member,
    policyId: settings.policy.id,
    authentication,
    recognizedUser: judged?.recognizedUser ?? false,
    next,
    words: next === null ? null : suggestedWords(settings, member, hints, needs.randomSeed()),
    at,
    warnings: judged?.warnings ?? null,
  }
}

/** Somebody who is to enroll is not locked out: where no code is open either, there is nothing to verify next. */
function nextWindow(
  needs: Pick<Needs, 'targets' | 'now'>,
  situation: Situation,
  action: VerifyAction,
  refusedBecause: RefusedBecause | null,
): AttemptWindow | null {
  if (action === 'verified') return null
  const inputs = modeInputs(needs, situation)
  const window = attemptWindow(inputs)
  if (refusedBecause !== null) return windowOfRefused(window, inputs, refusedBecause)
  return action === 'enroll' && window.mode === 'locked' ? null : window
}
