/**
 * The sign-in of a person at the bridge as a state machine: directory, one-time password for a new person, enrollment, typing,
 * and the consequence of its verdict. Fails closed: only `passed` completes a login.
 */
import type { SsoSituation } from '../domain/sso-code.js'
import type { Language } from '../domain/typing-words.js'
import type { Accounts, MailProof } from './accounts.js'
import { type Again, type Core, isUnreachable, type SignIn, type SignInState, type Words } from './core.js'
import type { PeopleDirectory, Person } from './directory/directory.js'
import type { Passwords } from './passwords.js'

interface Needs {
  readonly core: Core
  readonly directory: PeopleDirectory
  readonly accounts: Accounts
  /** Null: no one-time password can be sent. */
  readonly passwords: Passwords | null
  readonly mayEnroll: boolean
  readonly resetAfterBlock: boolean
  /** The core API could not be reached, or refused a call; or the directory could not be reached. */
  readonly onFailure: (error: unknown) => void
}

/** Why a one-time password is asked for. */
export type PasswordPurpose = 'enroll' | 'step-up' | 'reset'

/** The request of the page to the person, or the end of the sign-in. */
export type Step =
  /** `note`: the directory does not know the name that the person entered. */
  | { readonly kind: 'name'; readonly note: SsoSituation | null }
  /** `codeLength`: digits of the security code that may be given instead; null: none may. */
  | {
      readonly kind: 'type'
      readonly words: Words
      readonly again: Again
      readonly challenged: boolean
      readonly codeLength: number | null
    }
  | {
      readonly kind: 'enroll'
      readonly words: Words
      readonly done: number
      readonly target: number
      readonly again: Again
    }
  /** The profile takes its next pattern at `until`, ISO 8601. */
  | { readonly kind: 'later'; readonly until: string }
  | { readonly kind: 'security-code'; readonly length: number; readonly again: Again }
  /** A one-time password: to be sent first, or sent. */
  | {
      readonly kind: 'password'
      readonly purpose: PasswordPurpose
      readonly sent: boolean
      readonly note: SsoSituation | null
      /** When the next may be sent, epoch ms; null: now. */
      readonly waitUntil: number | null
    }
  /** Nothing was decided: the person may try again. */
  | { readonly kind: 'trouble'; readonly situation: SsoSituation }
  /** No login. `resettable`: the person may prove by mail and enroll anew. */
  | {
      readonly kind: 'refused'
      readonly situation: SsoSituation
      /** ISO 8601; null: not locked, or until an administrator acts. */
      readonly until: string | null
      readonly resettable: boolean
    }
  /** The login is complete. `by` typing, or a one-time password after uncertain typing. */
  | { readonly kind: 'passed'; readonly by: 'typing' | 'password' }

/** One JSON value: everything about a sign-in between two requests. */
export interface Progress {
  /** As the hint or the person names the person; null: not named yet. */
  readonly name: string | null
  /** The person enters the name, so may correct it. */
  readonly entersName: boolean
  /** `sub` of the account at the upstream provider that names the person; null: none does. */
  readonly subject: string | null
  readonly person: Person | null
  readonly mailProof: MailProof
  /** A one-time password was right, so the person may enroll. */
  readonly proved: boolean
  readonly state: SignInState | null
  readonly step: Step
  /** When the sign-in passed, epoch ms; null: it has not. */
  readonly passedAt: number | null
}

/** An action of the person on the page. */
export type Action =
  | { readonly kind: 'begin' }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'pattern'; readonly pattern: string }
  | { readonly kind: 'code'; readonly code: string }
  | { readonly kind: 'send'; readonly purpose: PasswordPurpose }
  | { readonly kind: 'password'; readonly password: string }

interface Call {
  /** Null: not known. */
  readonly ip: string | null
  /** Language of the page, and so of the words. */
  readonly language: Language
  readonly now: number
}

export const begun = (name: string | null, subject: string | null): Progress => ({
  name,
  entersName: name === null,
  subject,
  person: null,
  mailProof: 'nothing',
  proved: false,
  state: null,
  step: { kind: 'name', note: null },
  passedAt: null,
})

/** The progress after an action. An action that the present step does not offer changes nothing. */
export async function advance(needs: Needs, progress: Progress, action: Action, call: Call): Promise<Progress> {
  if (progress.step.kind === 'passed') return progress
  const after = await acted(needs, progress, action, call)
  if (after.step.kind !== 'passed' || after.person === null) return after
  return (await needs.accounts.bind(after.subject, after.person.userRef, after.step.by))
    ? { ...after, passedAt: call.now }
    : { ...after, step: refused('other-account') }
}

async function acted(needs: Needs, progress: Progress, action: Action, call: Call): Promise<Progress> {
  const { step } = progress
  try {
    // A person whom a hint names cannot be replaced.
    if (action.kind === 'name' && step.kind === 'name' && progress.entersName)
      return await begin(needs, { ...progress, name: action.name }, call)
    if (action.kind === 'begin' && (step.kind === 'name' || step.kind === 'trouble' || step.kind === 'later'))
      return await begin(needs, progress, call)
    if (action.kind === 'send' && offers(step, action.purpose)) return await send(needs, progress, action.purpose, call)
    if (action.kind === 'password' && step.kind === 'password' && step.sent)
      return await redeem(needs, progress, step.purpose, action.password, call)
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

const refused = (situation: SsoSituation, until: string | null = null, resettable = false): Step => ({
  kind: 'refused',
  situation,
  until,
  resettable,
})

async function begin(needs: Needs, progress: Progress, call: Call): Promise<Progress> {
  if (progress.name === null) return progress
  let person: Person | null
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

/** One step of the core API. A person without a complete profile enrolls after a one-time password only. */
async function next(
  needs: Needs,
  progress: Progress,
  { ip, language }: Call,
  given: { readonly pattern?: string; readonly securityCode?: string },
): Promise<Progress> {
  const { person, proved, state } = progress
  if (person === null) return progress
  const answer = await needs.core.signIn({
    userRef: person.userRef,
    ip,
    language,
    mayEnroll: proved,
    state: state ?? undefined,
    ...given,
  })
  return { ...progress, state: 'state' in answer ? answer.state : null, step: stepOf(needs, progress, answer) }
}

/** One-time passwords for a purpose; null: none can be sent, or it would prove nothing. */
const passwordsFor = (
  { passwords }: Pick<Needs, 'passwords'>,
  { mailProof }: Progress,
  purpose: PasswordPurpose,
): Passwords | null =>
  mailProof === 'person' || (mailProof === 'new-person' && purpose === 'enroll') ? passwords : null

function stepOf(needs: Needs, progress: Progress, answer: SignIn): Step {
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

/** A security code alone completes no login, so it is not offered where no one-time password can follow. */
const codeLengthOf = (needs: Needs, progress: Progress, codeOpen: boolean, state: SignInState): number | null =>
  codeOpen && passwordsFor(needs, progress, 'step-up') !== null && progress.person?.email != null
    ? state.codeLength
    : null

const wasChallenged = (step: Step): boolean => step.kind === 'type' && step.challenged

/** A challenge offers a one-time password while the person is not locked: typing that locked a person is not bypassed. */
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

async function send(
  { passwords }: Needs,
  progress: Progress,
  purpose: PasswordPurpose,
  { now }: Call,
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
  purpose: PasswordPurpose,
  entered: string,
  call: Call,
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
  const now = await next(needs, { ...known, proved: purpose === 'enroll', state: null }, call, {})
  if (purpose === 'enroll') return { ...now, proved: true }
  if (now.step.kind !== 'type' && now.step.kind !== 'security-code') return now
  if (purpose === 'step-up') return { ...now, step: { kind: 'passed', by: 'password' } }
  if (now.step.kind !== 'type') return now
  await needs.core.resetProfile(person.userRef)
  return next(needs, { ...now, proved: true, state: null }, call, {})
}

/** Gives the reference to the account of a person whose one-time password was right. Where that proves nothing, the proof stays as it is. */
async function knownByMail(needs: Needs, progress: Progress, person: Person, call: Call): Promise<Progress> {
  const other: Progress = { ...progress, mailProof: 'nothing', step: refused('other-account') }
  // Another account may have got the reference, and another way in may have completed a profile, since the password was sent.
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
