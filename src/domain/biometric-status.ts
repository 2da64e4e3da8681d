import type { Member } from './account.js'

export const BIOMETRIC_STATUSES = ['not-ready', 'in-progress', 'ok', 'full', 'reset', 'expired'] as const
export type BiometricStatus = (typeof BIOMETRIC_STATUSES)[number]

/** How many reference patterns complete a profile, and how many fill it. */
export interface ProfileTargets {
  readonly targetRefPatterns: number
  readonly fullRefPatterns: number
}
export const DEFAULT_TARGETS: ProfileTargets = { targetRefPatterns: 5, fullRefPatterns: 10 }

/** A complete profile without a success for this long is `expired`. */
export const PROFILE_LIFETIME_MS = 365 * 24 * 3600 * 1000

type StatusInputs = Pick<Member, 'nPatternsRef' | 'everReset' | 'completedAt' | 'lastSuccessAt'>

/** The status of a profile: a pure function of its counts and times. `now` is epoch milliseconds. */
export function biometricStatus(member: StatusInputs, targets: ProfileTargets, now: number): BiometricStatus {
  const n = member.nPatternsRef
  if (n === 0) return member.everReset ? 'reset' : 'not-ready'
  if (n < targets.targetRefPatterns) return 'in-progress'
  const lastUse = Math.max(member.completedAt ?? 0, member.lastSuccessAt ?? 0)
  if (now - lastUse > PROFILE_LIFETIME_MS) return 'expired'
  return n >= targets.fullRefPatterns ? 'full' : 'ok'
}

/** Typing verify is open in `ok` and `full` only. */
export const canVerify = (status: BiometricStatus): boolean => status === 'ok' || status === 'full'

/** State of the references captured in one mode (`refPatternsStatus`). */
export type RefPatternsStatus = 'none' | 'in-progress' | 'ok'

export function refPatternsStatus(n: number, targets: ProfileTargets): RefPatternsStatus {
  if (n === 0) return 'none'
  return n < targets.targetRefPatterns ? 'in-progress' : 'ok'
}
