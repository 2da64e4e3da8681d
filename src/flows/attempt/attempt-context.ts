import type { Member } from '../../domain/account.js'
import { type AttemptKind, type RefusedBecause, type SessionUse, whyClosed } from '../../domain/attempts.js'
import type { ProfileTargets } from '../../domain/biometric-status.js'
import { Refusal, sessionMissing, sessionOfAnother } from '../../domain/refusal.js'
import type { AccountStore } from '../../storage/account.js'
import type { SessionStore } from '../../storage/session.js'
import type { Vault } from '../../storage/vault.js'
import { type Settings, settingsFor } from '../organization/settings.js'
import type { LanguageHints } from '../organization/suggested-words.js'
import { sha256Hex } from '../process/tokens.js'
import { openedPerson } from '../session/carried-person.js'
import { type ModeNeeds, modeInputs } from '../session/mode-inputs.js'
import {
  bindSession,
  type Designation,
  findPerson,
  fitsMember,
  type LiveSession,
  type Person,
  type Presented,
  personOf,
  requireSession,
} from '../session/person.js'
import { patternsLimited } from './invalid-patterns.js'
import type { PatternInput } from './pattern-input.js'
import type { PatternMemory } from './pattern-memory.js'
import type { CachedPerson, PersonCache } from './person-cache.js'

export interface ContextNeeds {
  readonly accounts: AccountStore
  /** The store without `release`, which only verify.ts calls. */
  readonly sessions: Pick<SessionStore, 'find' | 'designate' | 'reserve'>
  readonly vault: Vault
  readonly people: PersonCache
  readonly memory: PatternMemory
  readonly settingsOf: (organizationId: string) => Promise<Settings>
  readonly targets: ProfileTargets
  readonly now: () => number
}

/** The input that an attempt is judged by. */
export type AttemptInput = PatternInput | { readonly kind: 'code'; readonly code: string }

/** One call of verify. */
export interface AttemptCall {
  readonly who: Designation
  readonly token: Presented
  readonly input: AttemptInput
  readonly hints: LanguageHints
}

/** The session, person and settings that an attempt is judged on and answered from. */
export interface AttemptContext extends Person {
  readonly method: AttemptKind
  readonly who: Designation
  readonly session: LiveSession
  readonly settings: Settings
  readonly used: SessionUse
  readonly hints: LanguageHints
}

/**
 * A context whose session has counted the attempt and, for typing, used up its words. The reservation is owed: either the
 * attempt is recorded, or `unjudged` of verify.ts gives it back. After a crash in between, the attempt stays counted.
 */
export interface Reserved extends AttemptContext {
  /** Approximate number of this attempt among the user's latest. */
  readonly nth: number
  /** The reservation brought the person from the session. Still true if the person was read again afterwards. */
  readonly isCarried: boolean
}

/** The reason why an attempt is not judged: the profile is incomplete, or the mode is not open. */
export type Closed = 'enroll' | RefusedBecause

/** An attempt that is not judged. */
export interface Unjudged {
  readonly why: Closed | Refusal
  /** The context without the reservation. */
  readonly context: AttemptContext
  /** The reservation to give back; null if nothing was counted. */
  readonly owed: Reserved | null
}

/**
 * Finds session, person and settings, and counts the attempt before it is judged. A person that this process has cached, or that
 * the reservation brings, costs one round trip. Throws a Refusal if the session or the person is missing.
 */
export async function openAttempt(needs: ContextNeeds, call: AttemptCall): Promise<Reserved | Unjudged> {
  const { who, token, input } = call
  if (input.kind === 'code' || typeof token !== 'string') return openStored(needs, call)
  const cached = needs.people.recall(who)
  const opened = cached === null ? await openCarried(needs, call, token) : await openCached(needs, call, cached, token)
  return opened ?? openStored(needs, call)
}

async function openStored(needs: ContextNeeds, call: AttemptCall): Promise<Reserved | Unjudged> {
  const context = await readContext(needs, call)
  const limited = call.input.kind === 'pattern' ? patternsLimited(context.member) : null
  const why = limited ?? whyClosedNow(needs, context)
  return why === null ? reserve(needs, context) : { why, context, owed: null }
}

/** Null if no attempt is open to the cached person, so that the stores decide. The commit detects an outdated cached person. */
async function openCached(
  needs: ContextNeeds,
  call: AttemptCall,
  cached: CachedPerson,
  token: string,
): Promise<Reserved | Unjudged | null> {
  const { member } = cached
  const settings = await needs.settingsOf(call.who.organizationId)
  const before = contextOf(call, unreadSession(call.who, member, token), cached, settings)
  if (whyClosedNow(needs, before) !== null) return null
  const reserved = await reserve(needs, before)
  if ('why' in reserved) return null
  if (!fitsMember(reserved.session, reserved.who)) return withdrawn(reserved, sessionOfAnother())
  // With several processes, usually another process began the session or judged the previous attempt, and has a newer copy.
  const isOlder = (reserved.session.memberVersion ?? 0) > member.rowVersion
  const wasElsewhere = reserved.nth !== cached.nth + 1 && reserved.nth !== 1
  return isOlder || wasElsewhere ? readWhileReserved(needs, reserved) : reserved
}

/** Null if the reservation has no person, or if the session has no attempt left, so that the stores decide. */
async function openCarried(needs: ContextNeeds, call: AttemptCall, token: string): Promise<Reserved | Unjudged | null> {
  const { organizationId, userRef } = call.who
  const sha256 = sha256Hex(token)
  const settings = await needs.settingsOf(organizationId)
  const attempt = { kind: 'biometric', budget: largestBudget(settings), withPerson: true } as const
  const reservation = await needs.sessions.reserve(organizationId, userRef, sha256, attempt)
  if (reservation === null) throw sessionMissing()
  if (reservation.outcome !== 'reserved' || reservation.person === undefined) return null
  const { nth, person: given } = reservation
  const person = 'sealed' in given ? await openedPerson(needs, call.who, sha256, given.sealed) : personOf(given.read)
  const context = contextOf(call, { ...reservation.session, sha256 }, person, settings)
  const reserved = { ...context, nth, isCarried: 'sealed' in given }
  if (!fitsMember(reserved.session, call.who)) return withdrawn(reserved, sessionOfAnother())
  // Another attempt since the bootstrap has changed the person. An answer about a closed attempt needs the person of now.
  const isCurrent = 'read' in given || nth === given.nth + 1
  const limited = patternsLimited(reserved.member)
  const isOpen = limited === null && !isOverBudget(reserved) && closedWhileReserved(needs, reserved) === null
  if (isCurrent && isOpen) return reserved
  const read = await readWhileReserved(needs, reserved)
  return 'why' in read || !isOverBudget(read) ? read : withdrawn(read, 'session-used-up')
}

const isOverBudget = (reserved: Reserved): boolean => reserved.used[reserved.method] > budgetOf(reserved)

/** The largest budget of any account: the account is known only after the reservation, and its own budget is checked then. */
const largestBudget = ({ policy, assigned }: Settings): number =>
  Math.max(...[policy, ...assigned].map((one) => one.policy.security_code_fallback.max_biometric_attempts))

async function readWhileReserved(needs: ContextNeeds, outdated: Reserved): Promise<Reserved | Unjudged> {
  const reserved = await readAgain(needs, outdated)
  const limited = patternsLimited(reserved.member)
  if (limited !== null) return withdrawn(reserved, limited)
  const closed = closedWhileReserved(needs, reserved)
  if (closed !== null) needs.people.forget(reserved.who)
  return closed ?? reserved
}

async function readContext(needs: ContextNeeds, call: AttemptCall): Promise<AttemptContext> {
  const { who, token } = call
  const session = await requireSession(needs.sessions, who, token)
  const [settings, person] = await Promise.all([
    needs.settingsOf(who.organizationId),
    findPerson(
      needs.accounts,
      { ...who, memberRef: who.memberRef ?? session.memberRef },
      { withComparisonSet: call.input.kind === 'pattern' },
    ),
  ])
  await bindSession(needs.sessions, who, session, person)
  return contextOf(call, session, person, settings)
}

const contextOf = (
  { who, input, hints }: Pick<AttemptCall, 'who' | 'input' | 'hints'>,
  session: LiveSession,
  { account, member, comparisonSet }: Person,
  settings: Settings,
): AttemptContext => ({
  method: input.kind === 'pattern' ? 'biometric' : 'security_code',
  who: { ...who, memberRef: who.memberRef ?? session.memberRef },
  session,
  account,
  member,
  ...(comparisonSet === undefined ? {} : { comparisonSet }),
  settings: settingsFor(settings, account),
  used: session.used,
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

/** The context with its person as stored now, and with the comparison set if this process has no patterns of the member. Throws a Refusal if the person is gone or was replaced under the same name. */
export async function readAgain(
  needs: Pick<ContextNeeds, 'accounts' | 'settingsOf' | 'memory'>,
  reserved: Reserved,
): Promise<Reserved> {
  const { who, method } = reserved
  const [settings, person] = await Promise.all([
    needs.settingsOf(who.organizationId),
    findPerson(needs.accounts, who, {
      withComparisonSet: method === 'biometric' && !needs.memory.has(reserved.member.id),
    }),
  ])
  const { account } = person
  // A replaced account is rare, so its checks are not repeated here: the caller tries again.
  if (account.id !== reserved.account.id || account.type !== reserved.account.type)
    throw new Refusal('degraded', 'the account was changed meanwhile: try again', 1)
  return { ...reserved, ...person, settings: settingsFor(settings, account) }
}

/** Counts the attempt in its session, unless the session's budget of this method is used up. */
async function reserve(needs: ContextNeeds, context: AttemptContext): Promise<Reserved | Unjudged> {
  const { who, method } = context
  const { organizationId, userRef } = who
  const attempt = { kind: method, budget: budgetOf(context) }
  const reservation = await needs.sessions.reserve(organizationId, userRef, context.session.sha256, attempt)
  if (reservation === null) throw sessionMissing()
  const session = { ...context.session, ...reservation.session }
  const { used } = session
  return reservation.outcome === 'reserved'
    ? { ...context, session, used, nth: reservation.nth, isCarried: false }
    : { why: 'session-used-up', context: { ...context, session, used }, owed: null }
}

/** Attempts of the context's method that its policy allows in a session. */
function budgetOf({ method, settings }: AttemptContext): number {
  const { max_biometric_attempts, max_code_attempts } = settings.policy.policy.security_code_fallback
  return method === 'biometric' ? max_biometric_attempts : max_code_attempts
}

/** The decision not to judge an attempt that is counted. */
export const withdrawn = (reserved: Reserved, why: Unjudged['why']): Unjudged => ({
  why,
  context: unreserved(reserved),
  owed: reserved,
})

const unreserved = (reserved: Reserved): AttemptContext => {
  const { used, method, session } = reserved
  const { words } = session
  const before = method === 'biometric' && words !== null ? { ...words, used: Math.max(0, words.used - 1) } : words
  return { ...reserved, session: { ...session, words: before }, used: { ...used, [method]: used[method] - 1 } }
}

const whyClosedNow = (needs: ModeNeeds, context: AttemptContext): Closed | null =>
  whyClosed(modeInputs(needs, context), context.method)

/** Null if the attempt is still open. A lock of the member closes the attempt, its own reservation does not. */
export function closedWhileReserved(needs: ModeNeeds, reserved: Reserved): Unjudged | null {
  const closed = whyClosedNow(needs, unreserved(reserved))
  return closed === null ? null : withdrawn(reserved, closed)
}
