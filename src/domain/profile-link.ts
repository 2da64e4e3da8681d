import type { Member } from './account.js'
import { biometricStatus, canVerify, ENROLLMENT, outdated, type ProfileTargets } from './biometric-status.js'
import type { EnrollmentPlace } from './enrollment.js'

export const LINK_KINDS = ['create-profile', 'reset-profile', 'complete-profile'] as const
export type LinkKind = (typeof LINK_KINDS)[number]

/** Lifetime of a link, seconds. */
export const LINK_VALIDITY_S = { least: 60, most: 604_800, fallback: 86_400 } as const

/** The task of a link. */
export interface LinkTask {
  readonly id: string
  readonly kind: LinkKind
  /** Number of references to reach, complete or full; fixed when the link is created. */
  readonly aim: 'target' | 'full'
}

/** All inputs of a link's progress, and of the decision about the place of its next pattern. */
export interface LinkInputs {
  readonly link: LinkTask
  readonly member: Member
  readonly targets: ProfileTargets
  readonly now: number
}

export type LinkPlace = Extract<EnrollmentPlace, { kind: 'current' | 'successor' | 'none' }>

/**
 * The aim of a new link of this kind; null if there is nothing to do: the profile to create is complete, or the profile to
 * complete is full. Our choice: a `complete-profile` link fills a profile that is `ok`.
 */
export function linkAim(kind: LinkKind, inputs: Omit<LinkInputs, 'link'>): LinkTask['aim'] | null {
  const status = biometricStatus(inputs.member, inputs.targets, inputs.now)
  if (kind === 'reset-profile' || !canVerify(status)) return 'target'
  return kind === 'complete-profile' && status === 'ok' ? 'full' : null
}

/** Owner of a reset link's patterns, which are never mixed with those of another link. */
export const linkOwner = (linkId: string): string => `link:${linkId}`

/** Where the next pattern is stored. The old profile of a reset stays in use until the new one is complete. */
export function linkPlace({ link, member, targets, now }: LinkInputs): LinkPlace {
  if (link.kind === 'reset-profile') return { kind: 'successor', owner: linkOwner(link.id), asReset: true }
  if (outdated(member, targets, now)) return { kind: 'successor', owner: ENROLLMENT, asReset: false }
  const limit = limitOf(link, targets)
  return member.nPatternsRef < limit ? { kind: 'current', limit } : { kind: 'none' }
}

export interface LinkProgress {
  /** References collected so far. */
  readonly nPatterns: number
  readonly targetPatterns: number
}

export function linkProgress(inputs: LinkInputs): LinkProgress {
  const { link, member, targets } = inputs
  const place = linkPlace(inputs)
  if (place.kind !== 'successor') return { nPatterns: member.nPatternsRef, targetPatterns: limitOf(link, targets) }
  const collected = member.successor?.owner === place.owner ? member.successor : { nVisible: 0, nSensitive: 0 }
  return { nPatterns: collected.nVisible + collected.nSensitive, targetPatterns: targets.targetRefPatterns }
}

const limitOf = ({ aim }: LinkTask, { targetRefPatterns, fullRefPatterns }: ProfileTargets): number =>
  aim === 'full' ? fullRefPatterns : targetRefPatterns
