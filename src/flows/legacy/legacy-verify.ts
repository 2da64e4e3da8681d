import type { Member } from '../../domain/account.js'
import { attemptWindow } from '../../domain/attempts.js'
import { biometricStatus, canVerify, type ProfileTargets } from '../../domain/biometric-status.js'
import { Refusal } from '../../domain/refusal.js'
import type { VerdictReason } from '../../domain/verdict.js'
import type { AccountStore } from '../../storage/account.js'
import type { SessionStore } from '../../storage/session.js'
import type { AccountFlows } from '../account/accounts.js'
import { answerOfClosed, type VerifyAnswer } from '../attempt/answer.js'
import type { AttemptContext, AttemptInput } from '../attempt/attempt-context.js'
import type { PatternInput } from '../attempt/pattern-input.js'
import type { VerifyFlow } from '../attempt/verify.js'
import type { Settings } from '../organization/settings.js'
import { type LanguageHints, suggestedWords, typistOf } from '../organization/suggested-words.js'
import type { Enrolled, EnrollFlow } from '../profile/enroll.js'
import { implicitSession } from '../session/implicit-session.js'
import { modeInputs } from '../session/mode-inputs.js'
import { type Designation, findPerson, type LiveSession, type Person, requireSession } from '../session/person.js'

interface Needs {
  readonly accounts: AccountStore
  readonly sessions: SessionStore
  readonly create: AccountFlows['create']
  readonly enroll: EnrollFlow
  readonly verify: VerifyFlow
  readonly settingsOf: (organizationId: string) => Promise<Settings>
  readonly targets: ProfileTargets
  readonly newToken: () => string
  readonly now: () => number
  readonly randomSeed: () => number
}

interface LegacyCall {
  readonly who: Designation
  /** The bearer value of a session; null if the call has none. */
  readonly token: string | null
  /** Creates an absent user, and stores patterns as references until the profile is complete. */
  readonly enrolls: boolean
  readonly input: AttemptInput
  readonly hints: LanguageHints
}

export type LegacyAnswer = VerifyAnswer & {
  /** The reference made of the pattern: its id, or why it was refused; null if the pattern was not enrolled. */
  readonly enrollment: { readonly patternId: string | null; readonly reason: VerdictReason } | null
}

export type LegacyVerifyFlow = (call: LegacyCall) => Promise<LegacyAnswer>

/** A session that ends during an attempt is replaced. More replacements mean that the store is unhealthy. */
const SESSIONS_TRIED_MAX = 5

/**
 * Verifies without a bootstrap. Attempts go through the verify flow, with its reservation, counters and records;
 * references go through the enroll flow. This flow only adds the session of a call that has none.
 */
export function createLegacyVerify(needs: Needs): LegacyVerifyFlow {
  return async (call) => {
    const { token, enrolls, input } = call
    const hints = { ...call.hints, words: 'none' as const }
    const session = token === null ? null : await requireSession(needs.sessions, call.who, token)
    const who = { ...call.who, memberRef: call.who.memberRef ?? session?.memberRef ?? null }
    const person = await personOf(needs, who, enrolls && input.kind === 'pattern')
    const ready = canVerify(biometricStatus(person.member, needs.targets, needs.now()))
    if (enrolls && input.kind === 'pattern' && !ready) {
      const given = session ?? (await implicitSession(needs, who, person.member))
      const enrolled = await asReference(needs, { who, session: given, person, input, hints })
      if (enrolled !== null) return enrolled
    }
    const judge = (live: LiveSession) => needs.verify(who, live, input, hints)
    const answer = session === null ? await withoutSession(needs, who, person.member, judge) : await judge(session)
    return { ...answer, enrollment: null }
  }
}

async function personOf(needs: Needs, who: Designation, creates: boolean): Promise<Person> {
  // Our choice: a call creates users, but no further members of a shared account.
  if (creates && (await needs.accounts.find(who.organizationId, who.userRef, who.memberRef)) === null) {
    await needs.create(who, { type: 'nominative', displayName: null, withCode: false })
  }
  return findPerson(needs.accounts, who)
}

interface Enrollment {
  readonly who: Designation
  readonly session: LiveSession
  readonly person: Person
  readonly input: PatternInput
  readonly hints: LanguageHints
}

/** Stores the pattern as a reference. Null if a concurrent call completed the profile: the pattern is then verified. */
async function asReference(
  needs: Needs,
  { who, session, person, input, hints }: Enrollment,
): Promise<LegacyAnswer | null> {
  const answer = async (
    state: Person & Partial<Pick<Enrolled, 'warnings'>>,
    patternId: string | null,
    reason: VerdictReason,
  ): Promise<LegacyAnswer> => {
    const { account, member, warnings = null } = state
    const settings = await needs.settingsOf(who.organizationId)
    const { used } = session
    const context = { account, member, who, session, settings, used, hints, method: 'biometric' as const }
    return { ...(await answerOfEnrolled(needs, context)), warnings, enrollment: { patternId, reason } }
  }
  try {
    const enrolled = await needs.enroll(who, session, input, hints)
    return enrolled.patternId === null ? null : await answer(enrolled, enrolled.patternId, '')
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    if (error.kind === 'profile-complete') return null
    if (error.kind === 'bot-detected') return answer(person, null, 'detection-bot')
    if (error.kind === 'replay-detected') return answer(person, null, 'fraud-detected')
    throw error
  }
}

/** While the profile is incomplete, the next step is to type another reference, with words for it. */
async function answerOfEnrolled(needs: Needs, context: AttemptContext): Promise<VerifyAnswer> {
  const answer = await answerOfClosed(needs, context, 'enroll')
  const { settings, member, hints } = context
  const inputs = modeInputs(needs, context)
  const window = attemptWindow(inputs)
  const enrolls = window.mode === 'locked' && !inputs.profileReady
  const next = enrolls ? { ...window, mode: 'biometric' as const, retryAfterSeconds: 0 } : window
  return { ...answer, next, words: suggestedWords(settings, typistOf(member, needs), hints, needs.randomSeed()) }
}

async function withoutSession(
  needs: Needs,
  who: Designation,
  member: Member,
  judge: (session: LiveSession) => Promise<VerifyAnswer>,
): Promise<VerifyAnswer> {
  for (let tried = 1; ; tried++) {
    const session = await implicitSession(needs, who, member)
    try {
      const answer = await judge(session)
      // The sign-in is over: the next one begins with new budgets, as after a bootstrap.
      if (answer.authentication?.authenticated) {
        await needs.sessions.end(who.organizationId, who.userRef, session.sha256)
      }
      return untilItsEnd(answer, session.remainingMs)
    } catch (error) {
      // The session ended before the reservation, by a concurrent success or by expiry: nothing was judged.
      const ended = error instanceof Refusal && error.kind === 'session-missing'
      if (!ended || tried === SESSIONS_TRIED_MAX) throw error
    }
  }
}

/** A used-up session is not replaced before it ends, so the wait lasts until then. */
function untilItsEnd(answer: VerifyAnswer, remainingMs: number): VerifyAnswer {
  const { next } = answer
  if (next === null || next.mode !== 'locked' || next.retryAfterSeconds === null) return answer
  const usedUp = next.remainingBiometricAttempts === 0 && next.remainingCodeAttempts === 0
  if (!usedUp && next.retryAfterSeconds > 0) return answer
  const retryAfterSeconds = Math.max(next.retryAfterSeconds, Math.ceil(remainingMs / 1000))
  return { ...answer, next: { ...next, retryAfterSeconds } }
}
