import type { Member } from './account.js'
import { biometricStatus, canVerify, ENROLLMENT, outdated, type ProfileTargets } from './biometric-status.js'
import { livePending } from './pending-action.js'

/** A complete profile accepts further references only within this time after a typing success in the same session. */
const RECENT_AUTHENTICATION_MS = 5 * 60_000

/** All inputs of the decision about the place of an enrolled pattern. */
export interface EnrollmentInputs {
  readonly member: Member
  readonly session: {
    /** When typing last succeeded in this session, epoch ms; null if never. */
    readonly authenticatedAt: number | null
    /** Id of the pending action that this session's bootstrap has reported; null if none. */
    readonly reportedAction: string | null
  }
  readonly targets: ProfileTargets
  readonly now: number
}

export type EnrollmentPlace =
  /** The profile is emptied first, by a queued RESET that this session has reported. */
  | { readonly kind: 'reset'; readonly pendingId: string }
  /** Added to the current references if they are fewer than `limit`. */
  | { readonly kind: 'current'; readonly limit: number }
  /** Added to the next generation, which replaces this one when it is complete. With `asReset`, the replacement counts as a reset. */
  | { readonly kind: 'successor'; readonly owner: string; readonly asReset: boolean }
  /** Replaces the oldest reference, for a queued UPDATE, after typing succeeded in this session. */
  | { readonly kind: 'replace'; readonly pendingId: string }
  /** Not stored, because the profile is full; this is not an error. */
  | { readonly kind: 'none' }
  /** Refused: the profile is complete and no recent authentication exists. */
  | { readonly kind: 'closed' }

/** Where the next enrolled pattern of a member is stored. */
export function enrollmentPlace({ member, session, targets, now }: EnrollmentInputs): EnrollmentPlace {
  const queued = livePending(member.pending, now)
  const honored = queued !== null && queued.id === session.reportedAction ? queued : null
  if (honored?.action === 'RESET_BIOMETRIC_PROFILE') return { kind: 'reset', pendingId: honored.id }
  if (outdated(member, targets, now)) return { kind: 'successor', owner: ENROLLMENT, asReset: false }
  const status = biometricStatus(member, targets, now)
  // The limit is the target, so that concurrent calls cannot exceed it.
  if (!canVerify(status)) return { kind: 'current', limit: targets.targetRefPatterns }
  if (honored !== null && session.authenticatedAt !== null) return { kind: 'replace', pendingId: honored.id }
  if (status === 'full') return { kind: 'none' }
  const recent = session.authenticatedAt !== null && now - session.authenticatedAt <= RECENT_AUTHENTICATION_MS
  return recent ? { kind: 'current', limit: targets.fullRefPatterns } : { kind: 'closed' }
}
