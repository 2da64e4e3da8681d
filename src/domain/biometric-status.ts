import type { Member } from './account.js'
import { READABLE_SAMPLE_FORMATS } from './sample-format.js'

export const BIOMETRIC_STATUSES = ['not-ready', 'in-progress', 'ok', 'full', 'reset', 'expired'] as const
export type BiometricStatus = (typeof BIOMETRIC_STATUSES)[number]

/** Reference patterns that make a profile complete, and full. */
export interface ProfileTargets {
  readonly targetRefPatterns: number
  readonly fullRefPatterns: number
}
export const DEFAULT_TARGETS: ProfileTargets = { targetRefPatterns: 5, fullRefPatterns: 10 }

/** A complete profile without a typing success for this long is `expired`. */
export const PROFILE_LIFETIME_MS = 365 * 24 * 3600 * 1000

/** Owner of a successor that enroll calls collect to replace an expired generation. */
export const ENROLLMENT = 'enrollment'

type StatusInputs = Pick<
  Member,
  'nPatternsRef' | 'everReset' | 'completedAt' | 'lastTypedAt' | 'sampleFormat' | 'successor'
>

/** The status of a profile: a pure function of its counts and times. `now` is epoch milliseconds. */
export function biometricStatus(member: StatusInputs, targets: ProfileTargets, now: number): BiometricStatus {
  const n = member.nPatternsRef
  if (outdated(member, targets, now)) return member.successor?.owner === ENROLLMENT ? 'in-progress' : 'expired'
  if (n === 0) return member.everReset ? 'reset' : 'not-ready'
  if (n < targets.targetRefPatterns) return 'in-progress'
  return n >= targets.fullRefPatterns ? 'full' : 'ok'
}

/**
 * Whether the current references can no longer verify, so that the next reference starts a new generation: the complete
 * profile was unused for a year, the scorer cannot read its format, or enrollment of the next generation has begun.
 */
export function outdated(
  member: Omit<StatusInputs, 'everReset'>,
  { targetRefPatterns }: ProfileTargets,
  now: number,
): boolean {
  if (member.successor?.owner === ENROLLMENT) return true
  if (member.nPatternsRef === 0) return false
  if (!READABLE_SAMPLE_FORMATS.includes(member.sampleFormat)) return true
  const lastUse = Math.max(member.completedAt ?? 0, member.lastTypedAt ?? 0)
  // `lastUse` is 0 if the profile became complete only because the target was lowered: its year has not begun.
  return lastUse > 0 && member.nPatternsRef >= targetRefPatterns && now - lastUse > PROFILE_LIFETIME_MS
}

/** Typing verify is open in `ok` and `full` only. */
export const canVerify = (status: BiometricStatus): boolean => status === 'ok' || status === 'full'

/** The public view of a profile. While a new generation is enrolled to replace an expired one, it shows the new generation. */
export interface ProfileView {
  readonly biometricStatus: BiometricStatus
  readonly nPatternsRef: number
  readonly nVisible: number
  readonly nSensitive: number
  readonly targetRefPatterns: number
}

/** `member` is null if the person does not exist yet. */
export function profileView(member: Member | null, targets: ProfileTargets, now: number): ProfileView {
  const { targetRefPatterns } = targets
  if (member === null)
    return { biometricStatus: 'not-ready', nPatternsRef: 0, nVisible: 0, nSensitive: 0, targetRefPatterns }
  const { nVisible, nSensitive } = member.successor?.owner === ENROLLMENT ? member.successor : member
  return {
    biometricStatus: biometricStatus(member, targets, now),
    nPatternsRef: nVisible + nSensitive,
    nVisible,
    nSensitive,
    targetRefPatterns,
  }
}

/** State of the references captured in one mode (`refPatternsStatus`). */
type RefPatternsStatus = 'none' | 'in-progress' | 'ok'

export function refPatternsStatus(
  n: number,
  { targetRefPatterns }: Pick<ProfileTargets, 'targetRefPatterns'>,
): RefPatternsStatus {
  if (n === 0) return 'none'
  return n < targetRefPatterns ? 'in-progress' : 'ok'
}
