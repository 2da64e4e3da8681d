import type { Member } from '../../domain/account.js'
import { createExpiringCache } from './expiring-cache.js'
import { bytesOfKnown, type KnownPatterns, type Sketched, withPatterns } from './known-patterns.js'

export interface PatternMemory {
  find(member: Member): KnownPatterns | null
  /** Whether any patterns of the member are cached, of whatever version. */
  has(memberId: string): boolean
  keep(memberId: string, known: KnownPatterns): void
  forget(memberId: string): void
}

/** Known patterns by member, in at most `bytesMax`, for 15 minutes after they last changed. Biometric data in plain. */
export function createPatternMemory(bytesMax: number): PatternMemory {
  const members = createExpiringCache<KnownPatterns>(bytesMax, bytesOfKnown)
  return {
    find({ id, generation, profileVersion }) {
      const known = members.get(id)
      return known?.generation === generation && known.profileVersion === profileVersion ? known : null
    },
    has: (memberId) => members.has(memberId),
    keep: (memberId, known) => void members.set(memberId, known),
    forget: (memberId) => void members.delete(memberId),
  }
}

/** Adds the pattern of a recorded attempt, unless another attempt was recorded in between. */
export function remember(
  memory: PatternMemory,
  { id, attemptsVersion }: Member,
  known: KnownPatterns,
  { nInTail, ...pattern }: Sketched & Pick<KnownPatterns, 'nInTail'>,
): void {
  if (known.attemptsVersion + 1 !== attemptsVersion) return
  memory.keep(id, { ...withPatterns(known, [pattern]), attemptsVersion, nInTail })
}
