/**
 * The sign-in of a person as a state machine over the core API: bootstrap, creation, enrollment, verify, code. Fails closed: an
 * answer that is not a clean pass by typing is never `authenticated` (interface, Verify rules 2 to 5).
 */
import type { components, paths } from '../schema/core.js'
import type { Api } from './api.js'
import { KeystrideError } from './error.js'
import type { Again, Next, Scores, SignIn, SignInInput, SignInState, Words } from './sign-in-result.js'

type Core = Api<paths>
type Bootstrap = components['schemas']['Bootstrap']
type Verify = components['schemas']['Verify']
type NextAttempt = components['schemas']['NextAttempt']
type TypingPattern = components['schemas']['TypingPattern']

export async function signIn(core: Core, input: SignInInput): Promise<SignIn> {
  if (input.userRef === '') throw new TypeError('userRef is empty: name the person who signs in')
  const attempts = input.pattern !== undefined || input.securityCode !== undefined
  if (!attempts) return begin(core, input, input.state?.sessionId)
  const pattern = patternOf(input)
  let { state } = input
  if (state === undefined || !isOf(state, input)) {
    // The words of a pattern belong to the session that showed them, which is not known here.
    if (input.securityCode === undefined)
      return begin(core, input, undefined, pattern === null ? 'invalid-data' : 'session-expired')
    const begun = await begin(core, input, undefined)
    const open = begun.kind === 'type' || begun.kind === 'enroll' || begun.kind === 'code-needed'
    if (!open) return begun
    state = begun.state
  }
  if (input.securityCode !== undefined) return verify(core, input, state, { securityCode: input.securityCode })
  if (pattern === null) return begin(core, input, state.sessionId, 'invalid-data')
  return state.enrolling ? enroll(core, input, state, pattern) : verify(core, input, state, pattern)
}

/** Whether a state belongs to the person of the call. The state of another person begins a new sign-in. */
const isOf = (state: SignInState, { userRef, memberRef }: SignInInput): boolean =>
  state.asked === userRef && (memberRef === undefined || memberRef === state.memberRef)

/** The step at which a sign-in begins or continues. */
async function begin(core: Core, input: SignInInput, sessionId?: string, again: Again = null): Promise<SignIn> {
  const found = await bootstrap(core, input, sessionId)
  const mayEnroll = input.mayEnroll ?? true
  if (!found.unknown) return stepOf(core, input, found.state, again)
  const { accountRef, memberSelection } = found.state
  // The list of a shared account decides which people may join it.
  if (accountRef !== null && memberSelection === 'list') return chooseMember(core, input, found.state)
  if (!mayEnroll) return { kind: 'not-enrolled' }
  const created = await core.post('/users/{userRef}', { ...targetOf(input, memberOf(input)), signal: input.signal })
  // Another call created the user in the meantime, so the profile may be complete.
  const state = created.created ? { ...found.state, ...created } : (await bootstrap(core, input, sessionId)).state
  return stepOf(core, input, state, again)
}

/** The state of a person, known or not: an unknown one has the same fields. */
async function bootstrap(core: Core, input: SignInInput, sessionId: string | undefined) {
  const { path, query } = targetOf(input, memberOf(input))
  const header = sessionId === undefined ? {} : { 'X-Service-Session': sessionId }
  const call = { path, query: { ...query, ...languageOf(input) }, header, signal: input.signal }
  try {
    return { unknown: false, state: await core.get('/users/{userRef}', call) }
  } catch (error) {
    const isShell = error instanceof KeystrideError && error.status === 404 && error.reason === 'user-not-found'
    if (!isShell) throw error
    // Sound: the route answers 404 with the fields of its 200.
    return { unknown: true, state: error.answer as Bootstrap }
  }
}

async function stepOf(core: Core, input: SignInInput, begun: Bootstrap, again: Again): Promise<SignIn> {
  if (begun.memberRef === null) return chooseMember(core, input, begun)
  const complete = begun.biometricStatus === 'ok' || begun.biometricStatus === 'full'
  const state = stateOf(input, begun, !complete)
  if (!complete) {
    if (input.mayEnroll === false) return { kind: 'not-enrolled' }
    const { nPatternsRef: done, targetRefPatterns: target } = begun
    return { kind: 'enroll', words: wordsOf(begun), done, target, again, state }
  }
  if (begun.nextAttempt !== null) return promptOf(nextOf(begun.nextAttempt, state, false), again, state)
  const codeOpen = begun.requiresSecurityCode && begun.securityCodeSet
  return { kind: 'type', words: wordsOf(begun), codeOpen, again, state }
}

async function chooseMember(core: Core, input: SignInInput, begun: Bootstrap): Promise<SignIn> {
  const state = { ...stateOf(input, begun, false), memberRef: null }
  if (begun.memberSelection !== 'list') return { kind: 'choose-member', members: [], state }
  const { members } = await core.get('/users/{userRef}/members', {
    path: { userRef: input.userRef },
    signal: input.signal,
  })
  return { kind: 'choose-member', members: members.map(({ memberRef }) => memberRef), state }
}

/** The longest wait that a busy service or the key's rate asks for, in seconds: the person can try again at once. */
const LATER_S = 5

async function enroll(core: Core, input: SignInInput, state: SignInState, body: TypingPattern): Promise<SignIn> {
  let waitS: number
  try {
    const call = { ...flowOf(input, state), body, signal: input.signal }
    waitS = (await core.post('/users/{userRef}/typing-patterns', call)).retryAfterSeconds
  } catch (error) {
    const isLimit = error instanceof KeystrideError && error.status === 429 && error.reason === 'quota-exceeded'
    waitS = isLimit ? (error.retryAfterSeconds ?? 0) : 0
    if (waitS <= LATER_S) return recover(core, input, state, error)
  }
  if (waitS > 0) return { kind: 'later', retryAfterSeconds: waitS, until: untilOf(waitS) }
  return begin(core, input, state.sessionId)
}

async function verify(
  core: Core,
  input: SignInInput,
  state: SignInState,
  body: TypingPattern | { securityCode: string },
): Promise<SignIn> {
  let answer: Verify
  try {
    answer = await core.post('/users/{userRef}/verify', { ...flowOf(input, state), body, signal: input.signal })
  } catch (error) {
    return recover(core, input, state, error)
  }
  // Rule 4: no login, whatever else the answer says.
  if (answer.enrollmentRequired || answer.action === 'enroll') return begin(core, input, state.sessionId)
  return judged(answer, state)
}

/** The result of a verify of a complete profile. */
function judged(answer: Verify, state: SignInState): SignIn {
  const { authentication, reason, actions } = answer
  const { authMethod, recommendedAction } = authentication
  const codeOpen = actions.includes('ask-security-code')
  const next = (): Next => nextOf(answer.nextAttempt, state, codeOpen)
  if (answer.action === 'refused') return promptOf(next(), answer.refusedBecause, state)
  const scores = scoresOf(authentication)
  const passed = authentication.authenticated && recommendedAction === 'auth' && reason === ''
  // Rule 3: a code is a challenged login, not a clean pass.
  if (passed && authMethod === 'security_code')
    return { kind: 'challenged', by: 'security_code', mustChangeCode: actions.includes('change-security-code'), scores }
  if (passed && authMethod === 'biometric') {
    const { userRef, memberRef } = state
    return { kind: 'authenticated', userRef, memberRef: memberRef ?? userRef, scores }
  }
  if (recommendedAction === 'challenge' && authMethod === 'biometric' && reason === '')
    return { kind: 'challenged', by: 'typing', scores, next: next(), state }
  return { kind: 'blocked', reason, scores, next: next(), state }
}

/** Asks again after a refusal that the person can correct; throws every other error. */
async function recover(core: Core, input: SignInInput, state: SignInState, error: unknown): Promise<SignIn> {
  if (!(error instanceof KeystrideError)) throw error
  const { status, reason } = error
  if (status === 400 && reason === 'invalid-data') return begin(core, input, undefined, 'session-expired')
  if (status === 404 && reason === 'user-not-found') return begin(core, input)
  if (status === 409 && reason === 'invalid-action') {
    const now = await begin(core, input, state.sessionId)
    // The profile was completed in the meantime. If it still needs patterns, an administrator has locked the person.
    if (now.kind !== 'enroll') return now
    return { kind: 'locked', retryAfterSeconds: null, until: null, again: null, state: now.state }
  }
  if (status === 422 && (reason === 'invalid-data' || reason === 'detection-bot' || reason === 'fraud-detected'))
    return begin(core, input, state.sessionId, reason)
  throw error
}

/** The step that asks for the next attempt. */
function promptOf(next: Next, again: Again, state: SignInState): SignIn {
  if (next.mode === 'type') return { kind: 'type', words: next.words, codeOpen: next.codeOpen, again, state }
  if (next.mode === 'code') return { kind: 'code-needed', codeLength: next.codeLength, again, state }
  if (next.mode === 'start-over') return { kind: 'start-over', again }
  return { kind: 'locked', retryAfterSeconds: next.retryAfterSeconds, until: next.until, again, state }
}

function nextOf(next: NextAttempt | null, { codeLength }: SignInState, codeOpen: boolean): Next {
  if (next?.mode === 'biometric')
    return { mode: 'type', words: wordsOf(next), remaining: next.remainingBiometricAttempts, codeOpen }
  if (next?.mode === 'security_code') return { mode: 'code', codeLength, remaining: next.remainingCodeAttempts }
  const retryAfterSeconds = next?.retryAfterSeconds ?? null
  if (retryAfterSeconds === 0) return { mode: 'start-over' }
  const until = retryAfterSeconds === null ? null : untilOf(retryAfterSeconds)
  return { mode: 'locked', retryAfterSeconds, until }
}

const untilOf = (seconds: number): string => new Date(Date.now() + seconds * 1000).toISOString()

const wordsOf = ({ suggestedWords, suggestedWordsLanguage }: Words): Words => ({
  suggestedWords,
  suggestedWordsLanguage,
})

const scoresOf = ({ id, confidence, confidenceBiometrics, confidenceContext }: Verify['authentication']): Scores => ({
  authenticationId: id,
  confidence,
  confidenceBiometrics,
  confidenceContext,
})

const stateOf = ({ userRef: asked }: SignInInput, begun: Bootstrap, enrolling: boolean): SignInState => ({
  asked,
  userRef: begun.userRef,
  // On a nominative account calls name no member.
  memberRef: begun.accountType === 'generic' ? begun.memberRef : null,
  sessionId: begun.sessionId,
  enrolling,
  codeLength: begun.codeLength,
})

const memberOf = ({ memberRef, state }: SignInInput): string | null => memberRef ?? state?.memberRef ?? null

const targetOf = ({ userRef }: SignInInput, memberRef: string | null) => ({
  path: { userRef },
  query: memberRef === null ? {} : { member_ref: memberRef },
})

const languageOf = ({ language }: SignInInput) => (language === undefined ? {} : { language })

/** The target of a call of the flow, with its session. A pattern must type the words that the session has shown, under any policy. */
function flowOf(input: SignInInput, { memberRef, sessionId }: SignInState) {
  const { path, query } = targetOf(input, memberRef)
  const words = 'require' as const
  return { path, query: { ...query, ...languageOf(input), words }, header: { 'X-Service-Session': sessionId } }
}

/**
 * The pattern to send: the recorder's fields and the address of the person. Other fields of what the browser sent, such as a
 * member or a security code, are left out. Null if it is no object.
 */
function patternOf({ pattern, ip }: SignInInput): TypingPattern | null {
  const given: unknown = typeof pattern === 'string' ? jsonOf(pattern) : pattern
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return null
  const kept = FIELDS.filter((name) => Object.hasOwn(given, name)).map((name) => [
    name,
    (given as Record<string, unknown>)[name],
  ])
  // Sound as far as the service checks it: an invalid pattern is refused.
  return { ...Object.fromEntries(kept), ip: typeof ip === 'string' ? bareAddress(ip) : null } as TypingPattern
}

/** Removes the port, the brackets and the zone that proxies and sockets add to an address. */
const bareAddress = (ip: string): string =>
  ip
    .trim()
    .replace(/^(?:\[(.*)\]|([^:]*))(?::\d{1,5})?$/, '$1$2')
    .replace(/%.*/, '')

const FIELDS = ['agent', 'version', 'sId', 'tId', 'tags', 'kevt', 'k', 'm', 'd']

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
