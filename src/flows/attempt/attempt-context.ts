import type { Account, Member } from '../../domain/account.js'
import { type AttemptKind, type RefusedBecause, type SessionUse, whyClosed } from '../../domain/attempts.js'
import type { ProfileTargets } from '../../domain/biometric-status.js'
import { Refusal, sessionMissing, sessionOfAnother } from '../../domain/refusal.js'
import type { AccountStore } from '../../storage/account.js'
import type { SessionStore } from '../../storage/session.js'
import { type Settings, settingsFor } from '../organization/settings.js'
import type { LanguageHints } from '../organization/suggested-words.js'
import { sha256Hex } from '../process/tokens.js'
import { type ModeNeeds, modeInputs } from '../session/mode-inputs.js'
import {
  bindSession,
  type Designation,
  findPerson,
  fitsMember,
  type LiveSession,
  type Presented,
  requireSession,
} from '../session/person.js'
import { patternsLimited } from './invalid-patterns.js'
import type { CachedPerson, PersonCache } from './person-cache.js'

export interface ContextNeeds {
  readonly accounts: AccountStore
  readonly sessions: SessionStore
  readonly people: PersonCache
  readonly settingsOf: (organizationId: string) => Promise<Settings>
  readonly targets: ProfileTargets
  readonly now: () => number
}

/** The input that an attempt is judged by. */
export type AttemptInput =
  | { readonly kind: 'pattern'; readonly body: Uint8Array }
  | { readonly kind: 'code'; readonly code: string }

/** One call of verify. */
export interface AttemptCall {
  readonly who: Designation
  readonly token: Presented
  readonly input: AttemptInput
  readonly hints: LanguageHints
}

/** The session, person and settings that an attempt is judged on and answered from. */
export interface AttemptContext {
  readonly method: AttemptKind
  readonly who: Designation
  readonly session: LiveSession
  readonly account: Account
  readonly member: Member
  readonly settings: Settings
  readonly used: SessionUse
  /** Approximate number of this attempt among the user's latest; 0 without a reservation. */
  readonly nth: number
  readonly hints: LanguageHints
}

/** Why no attempt is judged: the profile is incomplete, or the mode is not open. */
export type Closed = 'enroll' | RefusedBecause

/** A context without a reservation, in which no attempt is judged. */
interface ClosedAttempt {
  readonly context: AttemptContext
  readonly closed: Closed
}

/**
 * Finds session, person and settings, and counts the attempt before it is judged. A cached person costs one Redis round
 * trip. Throws a Refusal if the session or the person is missing.
 */
export async function openAttempt(needs: ContextNeeds, call: AttemptCall): Promise<AttemptContext | ClosedAttempt> {
  const { who, token, input } = call
  const cached = input.kind === 'pattern' ? needs.people.recall(who) : null
  const opened = cached !== null && typeof token === 'string' ? await openCached(needs, call, cached, token) : null
  return opened ?? openStored(needs, call)
}

async function openStored(needs: ContextNeeds, call: AttemptCall): Promise<AttemptContext | ClosedAttempt> {
  const context = await readContext(needs, call)
  const limited = call.input.kind === 'pattern' ? patternsLimited(context.member) : null
  if (limited !== null) throw limited
  const closed = whyClosedNow(needs, context)
  if (closed !== null) return { context, closed }
  const { open, context: reserved } = await reserve(needs, context)
  return open ? reserved : { context: reserved, closed: 'session-used-up' }
}

/** Null if no attempt is open to the cached person: the stores decide then. The commit detects an outdated cached person. */
async function openCached(
  needs: ContextNeeds,
  call: AttemptCall,
  cached: CachedPerson,
  token: string,
): Promise<AttemptContext | ClosedAttempt | null> {
  const { member } = cached
  const settings = await needs.settingsOf(call.who.organizationId)
  const before = contextOf(call, unreadSession(call.who, member, token), cached, settings)
  if (whyClosedNow(needs, before) !== null) return null
  const { open, context: reserved } = await reserve(needs, before)
  if (!open) return null
  if (!fitsMember(reserved.session, reserved.who)) {
    await release(needs, reserved)
    throw sessionOfAnother()
  }
  // With several processes, usually another one began the session or judged the previous attempt: its copy is newer.
  const isOlder = (reserved.session.memberVersion ?? 0) > member.rowVersion
  const wasElsewhere = reserved.nth !== cached.nth + 1 && reserved.nth !== 1
  return isOlder || wasElsewhere ? readWhileReserved(needs, reserved) : reserved
}

/** Reads the person again. If the attempt is not open to the person, releases the reservation. */
async function readWhileReserved(
  needs: ContextNeeds,
  reserved: AttemptContext,
): Promise<AttemptContext | ClosedAttempt> {
  const context = await readAgain(needs, reserved)
  const limited = patternsLimited(context.member)
  const closed = limited === null ? closedWhileReserved(needs, context) : null
  if (limited === null && closed === null) return context
  const before = await release(needs, context)
  if (closed === null) throw limited
  needs.people.forget(context.who)
  return { context: before, closed }
}

async function readContext(needs: ContextNeeds, call: AttemptCall): Promise<AttemptContext> {
  const { who, token } = call
  const session = await requireSession(needs.sessions, who, token)
  const [settings, person] = await Promise.all([
    needs.settingsOf(who.organizationId),
    findPerson(needs.accounts, { ...who, memberRef: who.memberRef ?? session.memberRef }),
  ])
  await bindSession(needs.sessions, who, session, person)
  return contextOf(call, session, person, settings)
}

interface Person {
  readonly account: Account
  readonly member: Member
}

const contextOf = (
  { who, input, hints }: Pick<AttemptCall, 'who' | 'input' | 'hints'>,
  session: LiveSession,
  { account, member }: Person,
  settings: Settings,
): AttemptContext => ({
  method: input.kind === 'pattern' ? 'biometric' : 'security_code',
  who: { ...who, memberRef: who.memberRef ?? session.memberRef },
  session,
  account,
  member,
  settings: settingsFor(settings, account),
  used: session.used,
  nth: 0,
  hints,
})

/** Placeholder for a session until the reservation reads it. */
const unreadSession = ({ userRef }: Designation, { memberRef }: Member, token: string): LiveSession => ({
  userRef,
  memberRef,
  memberVersion: null,
  used: { biometric: 0, security_code: 0, typingFailed: false },
  reportedAction: null,
  words: null,
  sha256: sha256Hex(token),
})

/** The context with its person as stored now. Throws a Refusal if the person is gone or was replaced under the same name. */
export async function readAgain(
  needs: Pick<ContextNeeds, 'accounts' | 'settingsOf'>,
  context: AttemptContext,
): Promise<AttemptContext> {
  const { who } = context
  const [settings, { account, member }] = await Promise.all([
    needs.settingsOf(who.organizationId),
    findPerson(needs.accounts, who),
  ])
  // A replaced account is rare, so its checks are not repeated here: the caller tries again.
  if (account.id !== context.account.id || account.type !== context.account.type)
    throw new Refusal('degraded', 'the account was changed meanwhile: try again', 1)
  return { ...context, account, member, settings: settingsFor(settings, account) }
}

/** Counts the attempt in its session. `open` is false if the session's budget of this method is used up. */
async function reserve(
  needs: ContextNeeds,
  context: AttemptContext,
): Promise<{ readonly open: boolean; readonly context: AttemptContext }> {
  const { max_biometric_attempts, max_code_attempts } = context.settings.policy.policy.security_code_fallback
  const budget = context.method === 'biometric' ? max_biometric_attempts : max_code_attempts
  const reservation = await needs.sessions.reserve(...placeOf(context), budget)
  if (reservation === null) throw sessionMissing()
  const session = { ...context.session, ...reservation.session }
  const open = reservation.outcome !== 'exhausted'
  return { open, context: { ...context, session, used: session.used, nth: open ? reservation.nth : context.nth } }
}

/** Undoes the reservation of an attempt that was not judged. Returns the context as before the reservation. */
export async function release(
  needs: { readonly sessions: Pick<SessionStore, 'release'> },
  context: AttemptContext,
): Promise<AttemptContext> {
  await needs.sessions.release(...placeOf(context), context.session.words)
  return unreserved(context)
}

const placeOf = ({ who, session, method }: AttemptContext) =>
  [who.organizationId, who.userRef, session.sha256, method] as const

const unreserved = (context: AttemptContext): AttemptContext => {
  const { used, method, session } = context
  const { words } = session
  const before = method === 'biometric' && words !== null ? { ...words, used: Math.max(0, words.used - 1) } : words
  return { ...context, session: { ...session, words: before }, used: { ...used, [method]: used[method] - 1 } }
}

const whyClosedNow = (needs: ModeNeeds, context: AttemptContext): Closed | null =>
  whyClosed(modeInputs(needs, context), context.method)

/** Why a reserved attempt is not open; null if it is. A lock of the member closes it, its own reservation does not. */
export const closedWhileReserved = (needs: ModeNeeds, context: AttemptContext): Closed | null =>
  whyClosedNow(needs, unreserved(context))
