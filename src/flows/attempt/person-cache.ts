import type { Member } from '../../domain/account.js'
import type { ProfileTemplate } from '../../scoring/scoring.js'
import type { Designation, Person } from '../session/person.js'
import { createExpiringCache } from './expiring-cache.js'

/** A person as this process last read or wrote them, with the template of their references. */
export interface CachedPerson extends Person {
  /** Number of the user's attempt that cached them, from its reservation. */
  readonly nth: number
  /** Template of the member's enrolled references at this `profileVersion`. */
  readonly template: ProfileTemplate
  /** Ids of the enrolled references. */
  readonly references: readonly string[]
  /** The profile also has adaptive references. */
  readonly hasAdaptive: boolean
}

/** The part of a cached person that an attempt is compared with. */
type CachedProfile = Pick<CachedPerson, 'template' | 'references' | 'hasAdaptive'>

export interface PersonCache {
  recall(who: Designation): CachedPerson | null
  /** Null if the cached profile is not the one that `member` has. */
  profileOf(who: Designation, member: Member): CachedProfile | null
  keep(who: Designation, person: CachedPerson): void
  forget(who: Designation): void
  /** Approximate size, bytes. */
  bytes(): number
}

/** Approximate bytes of a person without the account's text, habits and template: 2.0 kB of objects in a heap of 20,000 people. */
export const PERSON_BYTES = 2000
/** Approximate bytes of the account's text and the habits of a person who has signed in from several places. */
export const PERSON_TEXT_BYTES = 1200

/** A person as cached, with the approximate bytes of the account's own text. */
interface Kept extends CachedPerson {
  readonly accountBytes: number
}

/**
 * Caches people of nominative accounts after their attempts, within `bytesMax` bytes, for 15 minutes after the last one. A person
 * whom the session carried and who succeeded is not cached (`learn`). A cached person may be out of date: a verdict counts only if
 * the commit finds the member's `rowVersion` unchanged. A member whose patterns are blocked is not cached, because the remaining time changes.
 */
export function createPersonCache(bytesMax: number): PersonCache {
  const people = createExpiringCache<Kept>(bytesMax, sizeOf)
  const keyOf = ({ organizationId, userRef }: Designation) => `${organizationId} ${userRef}`
  const find = (who: Designation): Kept | null =>
    who.memberRef === null || who.memberRef === who.userRef ? (people.get(keyOf(who)) ?? null) : null
  return {
    recall: find,
    profileOf(who, { id, generation, profileVersion }) {
      const kept = find(who)
      const { member } = kept ?? {}
      const isThis = member?.id === id && member.generation === generation && member.profileVersion === profileVersion
      return isThis ? kept : null
    },
    keep(who, { account, member, nth, template, references, hasAdaptive }) {
      const key = keyOf(who)
      const before = people.peek(key)
      // With two concurrent attempts, the later commit may get here first.
      if (before?.member.id === member.id && before.member.rowVersion > member.rowVersion) return
      if (account.type !== 'nominative' || member.patternsClosedForMs > 0) {
        people.delete(key)
        return
      }
      const accountBytes = before?.account === account ? before.accountBytes : JSON.stringify(account).length
      people.set(key, { account, member, nth, template, references, hasAdaptive, accountBytes })
    },
    forget: (who) => void people.delete(keyOf(who)),
    bytes: () => people.calculatedSize,
  }
}

const sizeOf = ({ accountBytes, member, template }: Kept): number =>
  PERSON_BYTES + accountBytes + member.habits.length + template.bytes.length
