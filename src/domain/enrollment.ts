import type { Member } from './account.js'
import { biometricStatus, canVerify, ENROLLMENT, outdated, type ProfileTargets } from './biometric-status.js'
import { livePending } from './pending-action.js'

/** A finished profile takes further references only this soon after its owner authenticated in the same session. */
const RECENT_AUTHENTICATION_MS = 5 * 60_000

/** What decides where an enrolled pattern goes: nothing else does. */
export interface EnrollmentInputs {
  readonly member: Member
  readonly session: {
    /** When typing last succeeded in this session, epoch ms. */
    readonly authenticatedAt: number | null
    /** Id of the pending action that this session's bootstrap has reported. */
    readonly reportedAction: string | null
  }
  readonly targets: ProfileTargets
  readonly now: number
}

export type EnrollmentPlace =
  /** The profile is emptied first: a queued RESET that this session has reported. */
  | { readonly kind: 'reset'; readonly pendingId: string }
  /** Beside the references that are there, where they are fewer than `limit`. */
  | { readonly kind: 'current'; readonly limit: number }
  /** Into the generation that will replace this one when it is complete; `asReset` as a reset would. */
  | { readonly kind: 'successor'; readonly owner: string; readonly asReset: boolean }
  /** In place of the oldest reference: a queued UPDATE, after an authenticated typing verify in this session. */
  | { readonly kind: 'replace'; readonly pendingId: string }
  /** Nowhere: the profile is full, and that is no error. */
  | { readonly kind: 'none' }
  /** Nowhere: the profile is complete and nobody has authenticated. */
  | { readonly kind: 'closed' }

/** Where the next enrolled pattern of a member goes, in a session (decisions, Biometric status). */
export function enrollmentPlace({ member, session, targets, now }: EnrollmentInputs): EnrollmentPlace {
  const queued = livePending(member.pending, now)
  const honored = queued !== null && queued.id === session.reportedAction ? queued : null
  if (honored?.action === 'RESET_BIOMETRIC_PROFILE') return { kind: 'reset', pendingId: honored.id }
  if (outdated(member, targets, now)) return { kind: 'successor', owner: ENROLLMENT, asReset: false }
  const status = biometricStatus(member, targets, now)
  // Up to its target only, so that no parallel call slips one past completion.
  if (!canVerify(status)) return { kind: 'current', limit: targets.targetRefPatterns }
  if (honored !== null && session.authenticatedAt !== null) return { kind: 'replace', pendingId: honored.id }
  if (status === 'full') return { kind: 'none' }
  const recent = session.authenticatedAt !== null && now - session.authenticatedAt <= RECENT_AUTHENTICATION_MS
  return recent ? { kind: 'current', limit: targets.fullRefPatterns } : { kind: 'closed' }
}
