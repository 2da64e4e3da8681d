import type { ProfileTargets } from '../../domain/biometric-status.js'
import type { EnrollmentPlace } from '../../domain/enrollment.js'
import { linkUnknown, profileLocked, Refusal } from '../../domain/refusal.js'
import type { PatternReading } from '../../scoring/scoring.js'
import type { AddOutcome, NewReference, ProfileStore } from '../../storage/profile.js'
import { clearedMark, type ReplayCheckNeeds } from '../attempt/replay-check.js'
import type { Settings } from '../organization/settings.js'
import type { Designation, Person } from '../session/person.js'

interface Needs extends ReplayCheckNeeds {
  readonly profiles: Pick<ProfileStore, 'add' | 'addToSuccessor' | 'replaceOldest'>
  readonly targets: ProfileTargets
  readonly replay: 'reject' | 'flag'
}

/** A pattern that may become a reference; `replayMark` is null if the replay index already has it as this member's. */
export type Candidate = Pick<PatternReading, 'sample' | 'mode'> & {
  readonly id: string
  readonly replayMark: PatternReading['replayMark'] | null
  /** As received, for comparison with known patterns whose marks are similar. */
  readonly body: Uint8Array
}

interface Storing extends Person {
  readonly who: Designation
  readonly place: Extract<EnrollmentPlace, { kind: 'current' | 'successor' | 'replace' }>
  readonly candidate: Candidate
  readonly intervalMs: number
  /** Null if the pattern is enrolled without a link. */
  readonly linkId: string | null
}

const HOUR_MS = 3600 * 1000

/** Least time between two reference patterns of an enrollment. */
export const intervalOf = ({ policy }: Settings): number => policy.policy.enrollment.minHoursBetween * HOUR_MS

/** Most rounds of comparison with similar patterns of concurrent calls; after that the pattern counts as a replay. */
const ROUNDS_MAX = 5

/**
 * Seals the pattern and stores it in its place, if the last one is at least `intervalMs` old. With `linkId`, stores it only
 * while that link is live, and ends the link if this completes the profile. A pattern whose mark resembles a known one is a
 * replay only if it repeats that pattern.
 */
export async function storeReference(needs: Needs, storing: Storing): Promise<AddOutcome> {
  const { who, member, candidate } = storing
  let { replayMark } = candidate
  for (let round = 0; ; round++) {
    const outcome = await sealAndStore(needs, { ...storing, candidate: { ...candidate, replayMark } })
    if (outcome.outcome !== 'replay' || replayMark === null || round === ROUNDS_MAX) return outcome
    replayMark = await clearedMark(needs, who.organizationId, member.id, { body: candidate.body, replayMark })
    if (replayMark === null) return outcome
  }
}

async function sealAndStore(
  needs: Needs,
  { who: { organizationId }, account, member, place, candidate, intervalMs, linkId }: Storing,
): Promise<AddOutcome> {
  const { id, sample, mode, replayMark } = candidate
  const generation = place.kind === 'successor' ? member.generation + 1 : member.generation
  const binding = { accountId: account.id, memberId: member.id, patternId: id, generation }
  const sealed = await needs.vault.seal(organizationId, binding, sample)
  const memberId = member.id
  const reference: NewReference = { id, memberId, generation, mode, sealed, replayMark, createdAt: needs.now() }
  const target = needs.targets.targetRefPatterns
  const rules = { target, rejectReplay: needs.replay === 'reject', intervalMs, linkId }
  switch (place.kind) {
    case 'current':
      return needs.profiles.add(organizationId, reference, { ...rules, limit: place.limit })
    case 'successor': {
      const { owner, asReset } = place
      return needs.profiles.addToSuccessor(organizationId, reference, { ...rules, owner, asReset })
    }
    case 'replace':
      return needs.profiles.replaceOldest(organizationId, reference, { ...rules, pendingId: place.pendingId })
  }
}

/** Whether the pattern has been seen before. */
export async function isReplay(
  needs: ReplayCheckNeeds,
  { who, member }: Pick<Storing, 'who' | 'member'>,
  { body, replayMark }: Candidate,
): Promise<boolean> {
  if (replayMark === null) return false
  const within = { now: needs.now(), most: 1 }
  const similar = await needs.authentications.resembling(who.organizationId, member.id, replayMark, within)
  return similar.length > 0 && (await clearedMark(needs, who.organizationId, member.id, { body, replayMark })) === null
}

/** The refusal of a pattern that was not stored. */
export function notStored(refused: Exclude<AddOutcome, { outcome: 'added' | 'closed' }>, now: number): Refusal {
  const { outcome } = refused
  if (outcome === 'too-soon')
    return new Refusal(
      'too-soon',
      `the policy asks for time between the patterns of an enrollment: the next one from ${new Date(refused.at).toISOString()}`,
      Math.ceil((refused.at - now) / 1000),
    )
  if (outcome === 'replay') return new Refusal('replay-detected', 'this typing has been seen before')
  if (outcome === 'link-ended') return linkUnknown()
  if (outcome === 'locked') return profileLocked()
  return new Refusal('user-not-found', 'the account was deleted meanwhile')
}
