/**
 * The sign-in of a person at the bridge as a state machine: directory, one-time password for a new person, enrollment, typing,
 * and the consequence of its verdict. Fails closed: only `passed` completes a login.
 */
import type { AttemptKind } from '../domain/attempts.js'
import type { SsoSituation } from '../domain/sso-code.js'
import type { Language } from '../domain/typing-words.js'
import type { Accounts } from './accounts.js'
import { type Core, isUnreachable } from './core.js'
import type { DirectoryPerson, PeopleDirectory } from './directory/directory.js'
import type { Passwords } from './passwords.js'
import type { PasswordPurpose, Progress, Step } from './progress.js'
import { closedStep, refused, stepOf } from './step-of.js'
import type { Strangers } from './strangers.js'

interface Needs {
  readonly core: Core
  readonly directory: PeopleDirectory
  readonly accounts: Accounts
  /** Null if no one-time password can be sent. */
  readonly passwords: Passwords | null
  readonly mayEnroll: boolean
  readonly resetAfterBlock: boolean
  readonly strangers: Pick<Strangers, 'isOwn' | 'attempt' | 'peek'>
  /** Called when the core API or the directory could not be reached, or the core API refused a call. */
  readonly onFailure: (error: unknown) => void
}

/** An action of the person on the page. */
export type Action =
  | { readonly kind: 'begin' }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'pattern'; readonly pattern: string }
  | { readonly kind: 'code'; readonly code: string }
  | { readonly kind: 'send'; readonly purpose: PasswordPurpose }
  | { readonly kind: 'password'; readonly password: string }

interface SignInCall {
  /** Null if unknown. */
  readonly ip: string | null
  /** Language of the page, and so of the words. */
  readonly language: Language
  /** The unchecked cookie of the person's own browser; null if there is none. */
  readonly browser: string | null
  readonly now: number
}

/** The progress after an action. An action that the present step does not offer changes nothing. */
export async function advance(needs: Needs, progress: Progress, action: Action, call: SignInCall): Promise<Progress> {
  if (progress.step.kind === 'passed') return progress
  const after = await acted(needs, progress, action, call)
  if (after.step.kind !== 'passed' || after.person === null) return after
  return (await needs.accounts.bind(after.subject, after.person.userRef, after.step.by))
    ? { ...after, passedAt: call.now }
    : { ...after, step: refused('other-account') }
}

async function acted(needs: Needs, progress: Progress, action: Action, call: SignInCall): Promise<Progress> {
  const { step } = progress
  try {
    // A person whom a hint names cannot be replaced.
    if (action.kind === 'name' && step.kind === 'name' && progress.entersName)
      return await begin(needs, { ...progress, name: action.name }, call)
    if (action.kind === 'begin' && (step.kind === 'name' || step.kind === 'trouble' || step.kind === 'later'))
      return await begin(needs, progress, call)
    if (action.kind === 'send' && offers(step, action.purpose)) return await send(needs, progress, action.purpose, call)
    if (action.kind === 'password' && step.kind === 'password' && step.sent)
      return await redeem(needs, progress, { purpose: step.purpose, entered: action.password }, call)
    if (action.kind === 'pattern' && (step.kind === 'type' || step.kind === 'enroll'))
      return await next(needs, progress, call, { pattern: action.pattern })
    if (action.kind === 'code' && (step.kind === 'security-code' || (step.kind === 'type' && step.codeLength !== null)))
      return await next(needs, progress, call, { securityCode: action.code })
    return progress
  } catch (error) {
    const unreachable = isUnreachable(error)
    if (unreachable === null) throw error
    needs.onFailure(error)
    if (unreachable) return { ...progress, step: { kind: 'trouble', situation: 'core-unreachable' } }
    return { ...progress, step: refused('verify-failed') }
  }
}

/** Whether the step lets the person ask for a one-time password. */
const offers = (step: Step, purpose: PasswordPurpose): boolean =>
  (step.kind === 'password' && step.purpose === purpose) ||
  (step.kind === 'type' && step.challenged && purpose === 'step-up') ||
  (step.kind === 'refused' && step.resettable && purpose === 'reset')

async function begin(needs: Needs, progress: Progress, call: SignInCall): Promise<Progress> {
  if (progress.name === null) return progress
  let person: DirectoryPerson | null
  try {
    person = progress.person ?? (await needs.directory.find(progress.name))
  } catch (error) {
    needs.onFailure(error)
    return { ...progress, step: { kind: 'trouble', situation: 'not-in-directory' } }
  }
  if (person === null && progress.entersName)
    return { ...progress, name: null, step: { kind: 'name', note: 'not-in-directory' } }
  if (person === null) return { ...progress, step: refused('not-in-directory') }
  const mailProof = await needs.accounts.mailProof(progress.subject, person.userRef)
  if (mailProof === null) return { ...progress, step: refused('other-account') }
  return next(needs, { ...progress, person, mailProof }, call, {})
}

interface Given {
  readonly pattern?: string
  readonly securityCode?: string
}

/** One step of the core API. A person without a complete profile enrolls after a one-time password only. */
async function next(
  needs: Needs,
  progress: Progress,
  { ip, language, browser, now }: SignInCall,
  given: Given,
): Promise<Progress> {
  const { person, proved, state } = progress
  if (person === null) return progress
  const { userRef } = person
  const attempt = () =>
    needs.core.signIn({ userRef, ip, language, mayEnroll: proved, state: state ?? undefined, ...given })
  const isOwn = progress.owner || (await needs.strangers.isOwn(userRef, browser))
  const answer =
    isOwn || !attempts(progress, given)
      ? await attempt()
      : await needs.strangers.attempt(userRef, kindOf(given), attempt)
  if (answer.kind === 'no-try') return { ...progress, step: closedStep(needs, progress, answer.waitMs, now) }
  const after = { ...progress, state: 'state' in answer ? answer.state : null, step: stepOf(needs, progress, answer) }
  // Checks before the typing page whether a try is left, so that nobody types without one.
  const closed =
    !isOwn && after.step.kind === 'type' && !after.step.challenged ? await needs.strangers.peek(userRef) : null
  return closed === null ? after : { ...after, step: closedStep(needs, after, closed.waitMs, now) }
}

/** Whether a step is an attempt of the member. Patterns of an enrollment are not. */
const attempts = ({ step }: Progress, given: Given): boolean =>
  step.kind !== 'enroll' && (given.pattern !== undefined || given.securityCode !== undefined)

const kindOf = ({ pattern }: Given): AttemptKind => (pattern === undefined ? 'security_code' : 'biometric')

async function send(
  { passwords }: Needs,
  progress: Progress,
  purpose: PasswordPurpose,
  { now }: SignInCall,
): Promise<Progress> {
  if (passwords === null || progress.person === null) return progress
  const sent = await passwords.send(progress.person)
  const before = progress.step.kind === 'password' && progress.step.sent
  const step = (more: { sent: boolean; note: SsoSituation | null; waitUntil: number | null }): Progress => ({
    ...progress,
    step: { kind: 'password', purpose, ...more },
  })
  if (sent.outcome === 'sent') return step({ sent: true, note: null, waitUntil: null })
  if (sent.outcome === 'wait') return step({ sent: before, note: null, waitUntil: now + sent.waitMs })
  return step({ sent: false, note: sent.situation, waitUntil: null })
}

async function redeem(
  needs: Needs,
  progress: Progress,
  { purpose, entered }: { readonly purpose: PasswordPurpose; readonly entered: string },
  call: SignInCall,
): Promise<Progress> {
  const { person } = progress
  if (needs.passwords === null || person === null) return progress
  const wrong = await needs.passwords.check(person, entered)
  if (wrong !== null) {
    const waitUntil = wrong.waitMs === null ? null : call.now + wrong.waitMs
    return { ...progress, step: { kind: 'password', purpose, sent: true, note: wrong.situation, waitUntil } }
  }
  const known = await knownByMail(needs, progress, person, call)
  if (known.mailProof !== 'person') return known
  // The person may have been locked, deleted or reset since the password was sent.
  const now = await next(needs, { ...known, proved: purpose === 'enroll', owner: true, state: null }, call, {})
  if (purpose === 'enroll') return { ...now, proved: true }
  if (purpose === 'browser') return now
  if (now.step.kind !== 'type' && now.step.kind !== 'security-code') return now
  if (purpose === 'step-up') return { ...now, step: { kind: 'passed', by: 'password' } }
  if (now.step.kind !== 'type') return now
  await needs.core.resetProfile(person.userRef)
  return next(needs, { ...now, proved: true, state: null }, call, {})
}

/** Gives the reference to the account of a person whose one-time password was right. A password that proves nothing changes nothing. */
async function knownByMail(
  needs: Needs,
  progress: Progress,
  person: DirectoryPerson,
  call: SignInCall,
): Promise<Progress> {
  const other: Progress = { ...progress, mailProof: 'nothing', step: refused('other-account') }
  // Since the password was sent, another account may have got the reference, or another sign-in may have completed a profile.
  const proof = await needs.accounts.mailProof(progress.subject, person.userRef)
  if (proof === null) return other
  if (proof !== 'person') {
    const present = await next(needs, { ...progress, mailProof: proof, proved: false, state: null }, call, {})
    if (present.step.kind !== 'password') return { ...present, mailProof: 'nothing' }
  }
  return (await needs.accounts.bind(progress.subject, person.userRef, 'password'))
    ? { ...progress, mailProof: 'person' }
    : other
}
