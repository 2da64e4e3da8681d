import type { Member } from '../../domain/account.js'
import { lockedByAdministrator } from '../../domain/attempts.js'
import {
  biometricStatus,
  canVerify,
  type ProfileTargets,
  type ProfileView,
  profileView,
} from '../../domain/biometric-status.js'
import { type EnrollmentPlace, enrollmentPlace } from '../../domain/enrollment.js'
import { livePending, type UpdateProgress, updateProgress } from '../../domain/pending-action.js'
import { profileLocked, Refusal, userNotFound } from '../../domain/refusal.js'
import type { PatternReading, Scoring } from '../../scoring/scoring.js'
import type { AccountStore } from '../../storage/account.js'
import type { AuthenticationStore } from '../../storage/authentication.js'
import type { InvalidPatternStore } from '../../storage/invalid-patterns.js'
import type { ProfileStore } from '../../storage/profile.js'
import type { SessionStore } from '../../storage/session.js'
import type { Vault } from '../../storage/vault.js'
import { otherMember } from '../attempt/compare.js'
import { limitInvalidPatterns } from '../attempt/invalid-patterns.js'
import { type PatternInput, scoreInput } from '../attempt/pattern-input.js'
import { type Settings, settingsFor } from '../organization/settings.js'
import { type LanguageHints, type SuggestedWords, typistOf } from '../organization/suggested-words.js'
import { shownSessionId } from '../process/tokens.js'
import { SESSION_LIFETIME_MS } from '../session/bootstrap.js'
import { endingSessions } from '../session/ending-sessions.js'
import {
  bindSession,
  type Designation,
  findPerson,
  type Person,
  type Presented,
  requireSession,
} from '../session/person.js'
import { requiresWords, returnWords, useWords, type WordsUse, wordsOf } from '../session/session-words.js'
import { type Candidate, intervalOf, isReplay, notStored, storeReference } from './store-reference.js'

interface Needs {
  readonly accounts: AccountStore
  readonly profiles: ProfileStore
  readonly authentications: AuthenticationStore
  readonly invalidPatterns: InvalidPatternStore
  readonly sessions: SessionStore
  readonly vault: Vault
  readonly scoring: Scoring
  readonly settingsOf: (organizationId: string) => Promise<Settings>
  readonly targets: ProfileTargets
  readonly newId: () => string
  readonly now: () => number
  readonly randomSeed: () => number
  /** `reject` refuses a replayed pattern; `flag` stores it. */
  readonly replay: 'reject' | 'flag'
}

export interface Enrolled extends Person, ProfileView {
  /** The reference pattern that this call stored; null if it stored none. */
  readonly patternId: string | null
  /** Progress of a queued UPDATE, or of one that this call has completed; null if none. */
  readonly update: UpdateProgress | null
  /** Seconds until the profile takes its next pattern; 0 if it takes one at once. */
  readonly retryAfterSeconds: number
  readonly words: SuggestedWords
  /** Warnings about the pattern; null if none. */
  readonly warnings: readonly string[] | null
}

export type EnrollFlow = (
  who: Designation,
  token: Presented,
  input: PatternInput,
  hints: LanguageHints,
) => Promise<Enrolled>

/** Stores one reference pattern, if the profile takes one. Resolves after the commit. A stored pattern uses up the words of its session. */
export function createEnroll(needs: Needs): EnrollFlow {
  return async (who, token, input, hints) => {
    const session = await requireSession(needs.sessions, who, token)
    const person = await findPerson(needs.accounts, { ...who, memberRef: who.memberRef ?? session.memberRef })
    await bindSession(needs.sessions, who, session, person)
    const refuseInvalid = limitInvalidPatterns(needs.invalidPatterns, who.organizationId, person.member)
    const reading = await readPattern(needs, who, person.member, input).catch(refuseInvalid)
    const requires = requiresWords(settingsFor(await needs.settingsOf(who.organizationId), person.account), hints)
    const use = await useWords(needs, { who, session, hints, requires }, reading).catch(refuseInvalid)
    const candidate = { ...reading, id: needs.newId(), body: input.body }
    try {
      return await admit(needs, { who, ...use, ...person, hints }, candidate)
    } catch (error) {
      // After an outage it is unknown whether the pattern was stored, so its words stay used up.
      if (error instanceof Refusal && error.kind !== 'degraded') await returnWords(needs, who, use)
      return refuseInvalid(error)
    }
  }
}

/** Reads a pattern of this member. Refuses an invalid pattern, one that names another member, and one typed by a bot. */
export async function readPattern(
  needs: Pick<Needs, 'vault' | 'scoring'>,
  who: Designation,
  member: Member,
  input: PatternInput,
): Promise<PatternReading> {
  const replayKey = await needs.vault.replayKey(who.organizationId)
  const result = await scoreInput(needs.scoring, input, { references: [], replayKey })
  if (!result.ok) throw new Refusal('pattern-invalid', result.message)
  const refusal = otherMember(result.reading, member)
  if (refusal !== null) throw refusal
  if (result.reading.bot) throw new Refusal('bot-detected', 'the typing pattern was made by a machine')
  return result.reading
}

/** The profile's owner, and the session that a pattern is enrolled in. */
export interface Admission extends Person, WordsUse {
  readonly who: Designation
  readonly hints: LanguageHints
}

/** A pattern that was read. */
type ReadCandidate = Candidate & Pick<PatternReading, 'warnings'>

type AdmitNeeds = Omit<Needs, 'accounts' | 'newId' | 'invalidPatterns'>

/** Stores a pattern that was read and accepted. Every enrolled reference goes through here. */
export async function admit(needs: AdmitNeeds, admission: Admission, candidate: ReadCandidate): Promise<Enrolled> {
  const { who, session, account, hints } = admission
  const settings = settingsFor(await needs.settingsOf(who.organizationId), account)
  const intervalMs = intervalOf(settings)
  const { member, stored, replaces } = await storeInProfile(needs, admission, candidate, intervalMs)
  const target = needs.targets.targetRefPatterns
  const pending = updateProgress(livePending(member.pending, needs.now()), target)
  const ended = replaces ? { nPatternsReplaced: target, nPatternsToReplace: target } : null
  const shown = stored ? session : await returnWords(needs, who, admission)
  const isIncomplete = !canVerify(biometricStatus(member, needs.targets, needs.now()))
  return {
    ...profileView(member, needs.targets, needs.now()),
    account,
    member,
    patternId: stored ? candidate.id : null,
    update: pending ?? ended,
    retryAfterSeconds: stored && isIncomplete ? intervalMs / 1000 : 0,
    words: await wordsOf(needs, { who, session: shown, settings, typist: typistOf(member, needs), hints }),
    warnings: candidate.warnings,
  }
}

/** Time of the owner's last sign-in by typing in this session, epoch ms; null if none. */
async function lastTyped(needs: AdmitNeeds, { who, session, account, member }: Admission, now: number) {
  if (session.implicit === true) return null
  return needs.authentications.typedInSession(who.organizationId, {
    userRef: account.userRef,
    memberId: member.id,
    sessionId: shownSessionId(session.sha256),
    since: now - SESSION_LIFETIME_MS,
  })
}

interface Placed {
  readonly member: Member
  /** False if the profile is full, or a concurrent call was first. */
  readonly stored: boolean
  /** The pattern replaced an older reference. */
  readonly replaces: boolean
}

/** Finds the pattern's place in the profile, runs the reset that it asks for, and stores the pattern there. */
async function storeInProfile(
  needs: AdmitNeeds,
  admission: Admission,
  candidate: Candidate,
  intervalMs: number,
): Promise<Placed> {
  refuseLocked(admission.member)
  const now = needs.now()
  const place = await placeOf(needs, admission, now)
  switch (place.kind) {
    case 'reset': {
      // This check comes before the reset, because a replay must not cause one.
      if (needs.replay === 'reject' && (await isReplay(needs, admission, candidate)))
        throw notStored({ outcome: 'replay' }, now)
      const member = await resetQueued(needs, admission, place.pendingId)
      return storeInProfile(needs, { ...admission, member }, candidate, intervalMs)
    }
    case 'none':
      return { member: admission.member, stored: false, replaces: false }
    case 'closed':
      throw new Refusal(
        'profile-complete',
        'the biometric profile is complete: verify in this session first, or reset the profile',
      )
  }
  const { who, account, member } = admission
  const outcome = await storeReference(needs, { who, account, member, place, candidate, intervalMs, linkId: null })
  if (outcome.outcome !== 'added' && outcome.outcome !== 'closed') throw notStored(outcome, now)
  const stored = outcome.outcome === 'added'
  return { member: outcome.member, stored, replaces: stored && place.kind === 'replace' }
}

/** The place of the next pattern of this session. */
async function placeOf(needs: AdmitNeeds, admission: Admission, now: number): Promise<EnrollmentPlace> {
  const { member, session } = admission
  const { targets } = needs
  const isComplete = canVerify(biometricStatus(member, targets, now))
  const authenticatedAt = isComplete ? await lastTyped(needs, admission, now) : null
  return enrollmentPlace({ member, session: { authenticatedAt, reportedAction: session.reportedAction }, targets, now })
}

/** Refuses patterns of a member whom an administrator has locked: a new profile would end the lock. */
export function refuseLocked({ attempts }: Member): void {
  if (lockedByAdministrator(attempts)) throw profileLocked()
}

/** Runs the RESET that this session's bootstrap has reported. Only one of several concurrent calls runs it. */
async function resetQueued(needs: AdmitNeeds, { who, session, member }: Admission, pendingId: string): Promise<Member> {
  const endOthers = () => needs.sessions.endAll(who.organizationId, who.userRef, member.memberRef, session.sha256)
  return endingSessions(endOthers, async () => {
    const reset = await needs.profiles.reset(who.organizationId, member.id, needs.now(), pendingId)
    if (reset === null) throw userNotFound()
    return reset.member
  })
}
