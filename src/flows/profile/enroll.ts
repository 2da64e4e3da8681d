import type { Account, Member } from '../../domain/account.js'
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
import { linkUnknown, profileLocked, Refusal, userNotFound } from '../../domain/refusal.js'
import type { PatternReading, Scoring } from '../../scoring/scoring.js'
import type { AccountStore } from '../../storage/account.js'
import type { AuthenticationStore } from '../../storage/authentication.js'
import type { InvalidPatternStore } from '../../storage/invalid-patterns.js'
import type { AddOutcome, NewReference, ProfileStore } from '../../storage/profile.js'
import type { SessionStore } from '../../storage/session.js'
import type { Vault } from '../../storage/vault.js'
import { otherMember } from '../attempt/compare.js'
import { limitInvalidPatterns } from '../attempt/invalid-patterns.js'
import { type PatternInput, scoreInput } from '../attempt/pattern-input.js'
import { clearedMark, type ReplayCheckNeeds } from '../attempt/replay-check.js'
import { type Settings, settingsFor } from '../organization/settings.js'
import { type LanguageHints, type SuggestedWords, typistOf } from '../organization/suggested-words.js'
import { shownSessionId } from '../process/tokens.js'
import { SESSION_LIFETIME_MS } from '../session/bootstrap.js'
import { endingSessions } from '../session/ending-sessions.js'
import { bindSession, type Designation, findPerson, type Presented, requireSession } from '../session/person.js'
import { requiresWords, returnWords, useWords, type WordsUse, wordsOf } from '../session/session-words.js'

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

export interface Enrolled extends ProfileView {
  readonly account: Account
  readonly member: Member
  /** The reference pattern that this call stored; null if it stored none. */
  readonly patternId: string | null
  /** Progress of a queued UPDATE, or of one that this call has completed; null if none. */
  readonly update: UpdateProgress | null
  /** Seconds until the profile takes its next pattern; 0: at once. */
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
      // After an outage nobody knows whether the pattern was stored, so its words stay used up.
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
export interface Admission extends WordsUse {
  readonly who: Designation
  readonly account: Account
  readonly member: Member
  readonly hints: LanguageHints
}

/** A pattern that may become a reference; `replayMark` is null if the replay index already has it as this member's. */
type Candidate = Pick<PatternReading, 'sample' | 'mode' | 'warnings'> & {
  readonly id: string
  readonly replayMark: PatternReading['replayMark'] | null
  /** As received, for comparison with known patterns whose marks are similar. */
  readonly body: Uint8Array
}

type AdmitNeeds = Omit<Needs, 'accounts' | 'newId' | 'invalidPatterns'>

/** Stores a pattern that was read and accepted. Every enrolled reference goes through here. */
export async function admit(needs: AdmitNeeds, admission: Admission, candidate: Candidate): Promise<Enrolled> {
  const { who, session, account, hints } = admission
  const settings = settingsFor(await needs.settingsOf(who.organizationId), account)
  const intervalMs = intervalOf(settings)
  const { member, stored, replaces } = await placed(needs, admission, candidate, intervalMs)
  const target = needs.targets.targetRefPatterns
  const pending = updateProgress(livePending(member.pending, needs.now()), target)
  const ended = stored && replaces ? { nPatternsReplaced: target, nPatternsToReplace: target } : null
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

/** Finds the pattern's place in the profile and stores it there. */
async function placed(
  needs: AdmitNeeds,
  admission: Admission,
  candidate: Candidate,
  intervalMs: number,
): Promise<Placed> {
  const { session, member } = admission
  refuseLocked(member)
  const now = needs.now()
  const finished = canVerify(biometricStatus(member, needs.targets, now))
  const authenticatedAt = finished ? await lastTyped(needs, admission, now) : null
  const { reportedAction } = session
  const place = enrollmentPlace({ member, session: { authenticatedAt, reportedAction }, targets: needs.targets, now })
  switch (place.kind) {
    case 'reset':
      if (needs.replay === 'reject' && (await isReplay(needs, admission, candidate)))
        throw notWritten({ outcome: 'replay' }, now)
      return placed(
        needs,
        { ...admission, member: await resetQueued(needs, admission, place.pendingId) },
        candidate,
        intervalMs,
      )
    case 'none':
      return { member, stored: false, replaces: false }
    case 'closed':
      throw new Refusal(
        'profile-complete',
        'the biometric profile is complete: verify in this session first, or reset the profile',
      )
  }
  const outcome = await write(needs, admission, place, candidate, { intervalMs, linkId: null })
  switch (outcome.outcome) {
    case 'added':
      return { member: outcome.member, stored: true, replaces: place.kind === 'replace' }
    case 'closed':
      return { member: outcome.member, stored: false, replaces: false }
    default:
      throw notWritten(outcome, now)
  }
}

/** Refuses patterns of a member whom an administrator has locked: a new profile would end the lock. */
export function refuseLocked({ attempts }: Member): void {
  if (lockedByAdministrator(attempts)) throw profileLocked()
}

const HOUR_MS = 3600 * 1000

/** Least time between two reference patterns of an enrollment. */
export const intervalOf = ({ policy }: Settings): number => policy.policy.enrollment.minHoursBetween * HOUR_MS

/** Runs the RESET that this session's bootstrap has reported. Only one of several concurrent calls runs it. */
async function resetQueued(needs: AdmitNeeds, { who, session, member }: Admission, pendingId: string): Promise<Member> {
  const endOthers = () => needs.sessions.endAll(who.organizationId, who.userRef, member.memberRef, session.sha256)
  return endingSessions(endOthers, async () => {
    const reset = await needs.profiles.reset(who.organizationId, member.id, needs.now(), pendingId)
    if (reset === null) throw userNotFound()
    return reset.member
  })
}

/** Whether the pattern has been seen before. Asked before a reset, which a replay must not cause. */
async function isReplay(
  needs: AdmitNeeds,
  { who, member }: Admission,
  { body, replayMark }: Candidate,
): Promise<boolean> {
  if (replayMark === null) return false
  const within = { now: needs.now(), most: 1 }
  const similar = await needs.authentications.resembling(who.organizationId, member.id, replayMark, within)
  return similar.length > 0 && (await clearedMark(needs, who.organizationId, member.id, { body, replayMark })) === null
}

/** The refusal of a pattern that was not written. */
export function notWritten(found: Exclude<AddOutcome, { outcome: 'added' | 'closed' }>, now: number): Refusal {
  const { outcome } = found
  if (outcome === 'too-soon')
    return new Refusal(
      'too-soon',
      `the policy asks for time between the patterns of an enrollment: the next one from ${new Date(found.at).toISOString()}`,
      Math.ceil((found.at - now) / 1000),
    )
  if (outcome === 'replay') return new Refusal('replay-detected', 'this typing has been seen before')
  if (outcome === 'link-ended') return linkUnknown()
  if (outcome === 'locked') return profileLocked()
  return new Refusal('user-not-found', 'the account was deleted meanwhile')
}

type WriteNeeds = Pick<Needs, 'profiles' | 'targets' | 'replay'> & ReplayCheckNeeds
interface WriteRules {
  readonly intervalMs: number
  /** Null: enrolled without a link. */
  readonly linkId: string | null
}
type Place = Extract<EnrollmentPlace, { kind: 'current' | 'successor' | 'replace' }>

/** Most rounds of comparison with similar patterns of concurrent calls; after that the pattern counts as a replay. */
const LOOKS_MAX = 5

/**
 * Seals the pattern and stores it in its place, if the last one is at least `intervalMs` old. With `linkId`, stores it only
 * while that link is live, and ends the link if this completes the profile. A pattern whose mark resembles a known one is a
 * replay only if it repeats that pattern.
 */
export async function write(
  needs: WriteNeeds,
  admission: Pick<Admission, 'who' | 'account' | 'member'>,
  place: Place,
  candidate: Candidate,
  rules: WriteRules,
): Promise<AddOutcome> {
  const { who, member } = admission
  let { replayMark } = candidate
  for (let look = 0; ; look++) {
    const outcome = await store(needs, admission, place, { ...candidate, replayMark }, rules)
    if (outcome.outcome !== 'replay' || replayMark === null || look === LOOKS_MAX) return outcome
    replayMark = await clearedMark(needs, who.organizationId, member.id, { body: candidate.body, replayMark })
    if (replayMark === null) return outcome
  }
}

async function store(
  needs: WriteNeeds,
  { who, account, member }: Pick<Admission, 'who' | 'account' | 'member'>,
  place: Place,
  { id, sample, mode, replayMark }: Candidate,
  written: WriteRules,
): Promise<AddOutcome> {
  const { organizationId } = who
  const generation = place.kind === 'successor' ? member.generation + 1 : member.generation
  const binding = { accountId: account.id, memberId: member.id, patternId: id, generation }
  const sealed = await needs.vault.seal(organizationId, binding, sample)
  const reference: NewReference = {
    id,
    memberId: member.id,
    generation,
    mode,
    sealed,
    replayMark,
    createdAt: needs.now(),
  }
  const rules = { target: needs.targets.targetRefPatterns, rejectReplay: needs.replay === 'reject', ...written }
  switch (place.kind) {
    case 'current':
      return needs.profiles.add(organizationId, reference, { ...rules, limit: place.limit })
    case 'successor':
      return needs.profiles.addToSuccessor(organizationId, reference, {
        ...rules,
        owner: place.owner,
        asReset: place.asReset,
      })
    case 'replace':
      return needs.profiles.replaceOldest(organizationId, reference, { ...rules, pendingId: place.pendingId })
  }
}
