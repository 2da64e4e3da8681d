import {
  type AttemptKind,
  type AttemptWindow,
  attemptWindow,
  type RefusedBecause,
  windowOfRefused,
} from '../../domain/attempts.js'
import { type ProfileTargets, type ProfileView, profileView } from '../../domain/biometric-status.js'
import type { Authentication } from '../../storage/authentication.js'
import type { SessionStore } from '../../storage/session.js'
import { type SuggestedWords, typistOf } from '../organization/suggested-words.js'
import { modeInputs } from '../session/mode-inputs.js'
import type { Person } from '../session/person.js'
import { wordsOf } from '../session/session-words.js'
import type { AttemptContext, Closed } from './attempt-context.js'

export interface AnswerNeeds {
  readonly sessions: Pick<SessionStore, 'changeWords'>
  readonly targets: ProfileTargets
  readonly now: () => number
  readonly randomSeed: () => number
}

type VerifyAction = 'verified' | 'rejected' | 'refused' | 'enroll'

export interface VerifyAnswer extends Person, ProfileView {
  readonly action: VerifyAction
  /** Null unless the attempt was refused. */
  readonly refusedBecause: RefusedBecause | null
  readonly method: AttemptKind
  readonly policyId: string
  /** Null if nothing was scored or compared. */
  readonly authentication: Authentication | null
  /** The typing alone reached the threshold. */
  readonly recognizedUser: boolean
  /** Attempts that are open next in the session; null after a success, and if only enrollment is possible. */
  readonly next: AttemptWindow | null
  /** Words to type next; null if `next` is null. */
  readonly words: SuggestedWords | null
  /** Time of the answer, epoch ms. */
  readonly at: number
  /** Warnings about the judged pattern; null if none. */
  readonly warnings: readonly string[] | null
}

/** Answers a judged attempt. */
export async function answerOf(
  needs: AnswerNeeds,
  context: AttemptContext,
  authentication: Authentication,
  warnings: readonly string[] | null,
): Promise<VerifyAnswer> {
  const { authenticated } = authentication
  const next = authenticated ? null : attemptWindow(modeInputs(needs, context))
  return {
    action: authenticated ? 'verified' : 'rejected',
    refusedBecause: null,
    authentication,
    recognizedUser: isRecognized(context, authentication),
    warnings,
    ...(await stateOf(needs, context, next)),
  }
}

const isRecognized = (
  { settings }: AttemptContext,
  { method, reason, confidenceBiometrics }: Authentication,
): boolean =>
  method === 'biometric' && reason === '' && confidenceBiometrics >= settings.policy.policy.decision_threshold

/** Answers an attempt that was not judged. */
export async function answerOfClosed(
  needs: AnswerNeeds,
  context: AttemptContext,
  closed: Closed,
): Promise<VerifyAnswer> {
  const inputs = modeInputs(needs, context)
  const window = attemptWindow(inputs)
  const unjudged = { authentication: null, recognizedUser: false, warnings: null }
  if (closed !== 'enroll') {
    const next = windowOfRefused(window, inputs, closed)
    return { action: 'refused', refusedBecause: closed, ...unjudged, ...(await stateOf(needs, context, next)) }
  }
  // A person without a profile is not locked out: without an open code there is nothing to verify next.
  const next = window.mode === 'locked' ? null : window
  return { action: 'enroll', refusedBecause: null, ...unjudged, ...(await stateOf(needs, context, next)) }
}

/** The part of an answer that describes the state after the attempt. */
async function stateOf(
  needs: AnswerNeeds,
  context: AttemptContext,
  next: AttemptWindow | null,
): Promise<Omit<VerifyAnswer, 'action' | 'refusedBecause' | 'authentication' | 'recognizedUser' | 'warnings'>> {
  const { method, account, member, settings } = context
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
    method,
    account,
    member,
    policyId: settings.policy.id,
    next,
    words: next === null ? null : await wordsOf(needs, { ...context, typist: typistOf(member, needs) }),
    at,
  }
}
