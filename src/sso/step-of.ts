import type { SsoSituation } from '../domain/sso-code.js'
import type { SignIn, SignInState } from './core.js'
import type { Passwords } from './passwords.js'
import type { PasswordPurpose, Progress, Step } from './progress.js'

/** The parts of a sign-in's needs that decide which steps are open. */
interface Needs {
  /** Null if no one-time password can be sent. */
  readonly passwords: Passwords | null
  readonly mayEnroll: boolean
  readonly resetAfterBlock: boolean
}

export const refused = (situation: SsoSituation, until: string | null = null, resettable = false): Step => ({
  kind: 'refused',
  situation,
  until,
  resettable,
})

/** One-time passwords for a purpose; null if none can be sent, or if one would prove nothing. */
const passwordsFor = ({ passwords }: Needs, { mailProof }: Progress, purpose: PasswordPurpose): Passwords | null =>
  mailProof === 'person' || (mailProof === 'new-person' && purpose === 'enroll') ? passwords : null

/** The step that an answer of the core API leads to. */
export function stepOf(needs: Needs, progress: Progress, answer: SignIn): Step {
  const { step: before, person } = progress
  switch (answer.kind) {
    case 'authenticated':
      return { kind: 'passed', by: 'typing' }
    case 'type':
      return {
        kind: 'type',
        words: answer.words,
        again: answer.again,
        challenged: wasChallenged(before),
        codeLength: codeLengthOf(needs, progress, answer.codeOpen, answer.state),
      }
    case 'enroll':
      return { kind: 'enroll', words: answer.words, done: answer.done, target: answer.target, again: answer.again }
    case 'later':
      return { kind: 'later', until: answer.until }
    case 'not-enrolled':
      if (progress.mailProof === 'nothing') return refused('other-account')
      if (!needs.mayEnroll || needs.passwords === null) return refused('not-enrolled')
      if (person?.email === null) return refused('invalid-email')
      return { kind: 'password', purpose: 'enroll', sent: false, note: null, waitUntil: null }
    case 'challenged':
      return challenged(needs, progress, answer)
    case 'blocked':
      return blocked(needs, progress, answer)
    case 'code-needed':
      return { kind: 'security-code', length: answer.codeLength, again: answer.again }
    case 'start-over':
      return refused('blocked')
    case 'locked':
      return refused('blocked', answer.until)
    // The directory names people, not shared accounts.
    case 'choose-member':
      return refused('verify-failed')
  }
}

/** A security code alone completes no login, so it is offered only if a one-time password can follow. */
const codeLengthOf = (needs: Needs, progress: Progress, codeOpen: boolean, state: SignInState): number | null =>
  codeOpen && passwordsFor(needs, progress, 'step-up') !== null && progress.person?.email != null
    ? state.codeLength
    : null

const wasChallenged = (step: Step): boolean => step.kind === 'type' && step.challenged

/** A challenge offers a one-time password only while the person is not locked, so that mail does not bypass a lock. */
function challenged(needs: Needs, progress: Progress, answer: Extract<SignIn, { kind: 'challenged' }>): Step {
  if (passwordsFor(needs, progress, 'step-up') === null) return refused('challenged')
  const stepUp: Step = { kind: 'password', purpose: 'step-up', sent: false, note: null, waitUntil: null }
  if (answer.by === 'security_code') return stepUp
  const { next } = answer
  if (next.mode === 'start-over') return stepUp
  if (next.mode === 'type') {
    const codeLength = codeLengthOf(needs, progress, next.codeOpen, answer.state)
    return { kind: 'type', words: next.words, again: null, challenged: true, codeLength }
  }
  if (next.mode === 'code') return { kind: 'security-code', length: next.codeLength, again: null }
  return refused('blocked', next.until)
}

function blocked(needs: Needs, progress: Progress, { reason, next }: Extract<SignIn, { kind: 'blocked' }>): Step {
  if (reason === 'detection-bot') return refused('robot')
  // A reset opens typing again, so it is not offered where typing is locked.
  const open = next.mode === 'type' || next.mode === 'start-over'
  const mayReset = needs.resetAfterBlock && passwordsFor(needs, progress, 'reset') !== null
  const resettable = mayReset && open && reason === ''
  return refused('blocked', next.mode === 'locked' ? next.until : null, resettable)
}

/** The step of a stranger without a try: the person proves by mail that the browser is the person's own, or waits. */
export function closedStep(needs: Needs, progress: Progress, waitMs: number | null, now: number): Step {
  if (passwordsFor(needs, progress, 'browser') !== null && progress.person?.email != null)
    return { kind: 'password', purpose: 'browser', sent: false, note: null, waitUntil: null }
  return refused('strangers', waitMs === null ? null : new Date(now + waitMs).toISOString())
}
