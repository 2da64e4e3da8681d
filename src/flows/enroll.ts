import type { Account, Member } from '../domain/account.js'
import { type BiometricStatus, biometricStatus, DEFAULT_TARGETS } from '../domain/biometric-status.js'
import { Refusal, sessionMissing } from '../domain/refusal.js'
import { normalizeUserRef } from '../domain/user-ref.js'
import type { PatternReading, Scoring } from '../scoring/scoring.js'
import type { AccountStore } from '../storage/account.js'
import type { InvalidPatternStore } from '../storage/invalid-patterns.js'
import type { ProfileStore } from '../storage/profile.js'
import type { SessionStore } from '../storage/session.js'
import type { Vault } from '../storage/vault.js'
import { limitInvalidPatterns } from './invalid-patterns.js'
import {
  bindSession,
  type Designation,
  findPerson,
  type LiveSession,
  type Presented,
  requireSession,
} from './person.js'
import type { Settings } from './settings.js'
import { type LanguageHints, type SuggestedWords, suggestedWords } from './words.js'

interface Needs {
  readonly accounts: AccountStore
  readonly profiles: ProfileStore
  readonly invalidPatterns: InvalidPatternStore
  readonly sessions: SessionStore
  readonly vault: Vault
  readonly scoring: Scoring
  readonly settingsOf: (organizationId: string) => Promise<Settings>
  readonly newId: () => string
  readonly now: () => number
  readonly randomSeed: () => number
  /** `reject` refuses a replayed pattern; `flag` lets it through. */
  readonly replay: 'reject' | 'flag'
}

export interface Enrolled {
  readonly account: Account
  readonly member: Member
  /** The reference pattern that this call stored; null where it stored none. */
  readonly patternId: string | null
  readonly biometricStatus: BiometricStatus
  readonly words: SuggestedWords
}

/** A finished profile takes further references only this soon after its owner authenticated in the same session. */
const RECENT_AUTHENTICATION_MS = 5 * 60_000

export type EnrollFlow = (
  who: Designation,
  token: Presented,
  body: Uint8Array,
  hints: LanguageHints,
) => Promise<Enrolled>

/** Stores one reference pattern. Acknowledged only after it is committed. */
export function createEnroll(needs: Needs): EnrollFlow {
  return async (who, token, body, hints) => {
    const session = await requireSession(needs.sessions, who, token)
    const { account, member } = await findPerson(needs.accounts, {
      ...who,
      memberRef: who.memberRef ?? session.memberRef,
    })
    await bindSession(needs.sessions, who, session, { account, member })
    const refuseInvalid = limitInvalidPatterns(needs.invalidPatterns, who.organizationId, member)
    const reading = await readPattern(needs, who, member, body).catch(refuseInvalid)
    const candidate = { ...reading, id: needs.newId() }
    return admit(needs, { who, session, account, member, hints }, candidate).catch(refuseInvalid)
  }
}

/** Whose profile a candidate is for, and in which session. */
export interface Admission {
  readonly who: Designation
  readonly session: LiveSession
  readonly account: Account
  readonly member: Member
  readonly hints: LanguageHints
}

/** A pattern that may become a reference; `replayMark` null where the replay index knows it as this member's already. */
export type Candidate = Pick<PatternReading, 'sample' | 'mode'> & {
  readonly id: string
  readonly replayMark: PatternReading['replayMark'] | null
}

/** Stores a pattern that was read as a reference, where the profile takes one more; every reference goes through here. */
export async function admit(
  needs: Pick<Needs, 'profiles' | 'vault' | 'settingsOf' | 'replay' | 'now' | 'randomSeed'>,
  { who, session, account, member, hints }: Admission,
  candidate: Candidate,
): Promise<Enrolled> {
  const status = biometricStatus(member, DEFAULT_TARGETS, needs.now())
  const settings = await needs.settingsOf(who.organizationId)
  const answer = (state: Member, patternId: string | null): Enrolled => ({
    account,
    member: state,
    patternId,
    biometricStatus: biometricStatus(state, DEFAULT_TARGETS, needs.now()),
    words: suggestedWords(settings, state, hints, needs.randomSeed()),
  })
  if (status === 'full') return answer(member, null)
  if (status === 'ok') refuseUnlessRecentlyAuthenticated(session.authenticatedAt, needs.now())
  // Our choice: an expired profile verifies nobody, so its references go before the first new one is stored.
  const current = status === 'expired' ? await emptied(needs, who, member) : member
  const { after, patternId } = await store(needs, who.organizationId, account.id, current, candidate)
  return answer(after, patternId)
}

async function readPattern(needs: Needs, who: Designation, member: Member, body: Uint8Array): Promise<PatternReading> {
  const replayKey = await needs.vault.replayKey(who.organizationId)
  const result = await needs.scoring.score({ body, references: [], replayKey })
  if (!result.ok) throw new Refusal('pattern-invalid', result.message)
  const refusal = otherMember(result.reading, member)
  if (refusal !== null) throw refusal
  if (result.reading.bot) throw new Refusal('bot-detected', 'the typing pattern was made by a machine')
  return result.reading
}

/** A `member_ref` in the pattern must name the member whom the call is about; null where it does, or is absent. */
export function otherMember(reading: PatternReading, member: Member): Refusal | null {
  if (reading.memberRef === null || normalizeUserRef(reading.memberRef) === member.memberRef) return null
  return new Refusal('member-mismatch', 'member_ref of the body is not the member of this call')
}

function refuseUnlessRecentlyAuthenticated(authenticatedAt: number | null, now: number): void {
  if (authenticatedAt !== null && now - authenticatedAt <= RECENT_AUTHENTICATION_MS) return
  throw new Refusal(
    'profile-complete',
    'the biometric profile is complete: verify in this session first, or reset the profile',
  )
}

async function emptied(needs: Pick<Needs, 'profiles' | 'now'>, who: Designation, member: Member): Promise<Member> {
  const reset = await needs.profiles.reset(who.organizationId, member.id, needs.now())
  if (reset === null) throw sessionMissing()
  return reset.member
}

/** The member afterwards; `patternId` null where a parallel call filled the profile first. */
async function store(
  needs: Pick<Needs, 'profiles' | 'vault' | 'replay' | 'now'>,
  organizationId: string,
  accountId: string,
  member: Member,
  { id, sample, mode, replayMark }: Candidate,
): Promise<{ after: Member; patternId: string | null }> {
  const binding = { accountId, memberId: member.id, patternId: id, generation: member.generation }
  const sealed = await needs.vault.seal(organizationId, binding, sample)
  const outcome = await needs.profiles.add(
    organizationId,
    {
      id,
      memberId: member.id,
      generation: member.generation,
      mode,
      sealed,
      replayMark,
      createdAt: needs.now(),
    },
    {
      target: DEFAULT_TARGETS.targetRefPatterns,
      limit: limitFor(member),
      rejectReplay: needs.replay === 'reject',
    },
  )
  switch (outcome.outcome) {
    case 'added':
      return { after: outcome.member, patternId: id }
    case 'closed':
      return { after: outcome.member, patternId: null }
    case 'replay':
      throw new Refusal('replay-detected', 'this typing has been seen before')
    case 'absent':
      throw new Refusal('user-not-found', 'the account was deleted meanwhile')
  }
}

/** An unfinished profile takes references up to its target, so that no parallel call slips one past completion. */
const limitFor = (member: Member): number =>
  member.nPatternsRef < DEFAULT_TARGETS.targetRefPatterns
    ? DEFAULT_TARGETS.targetRefPatterns
    : DEFAULT_TARGETS.fullRefPatterns
