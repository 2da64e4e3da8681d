import type { Account, Member } from '../../domain/account.js'
import type { HabitsText } from '../../domain/context/circumstances.js'
import type { ProfileTemplate } from '../../scoring/scoring.js'
import type { Designation } from '../session/person.js'

/** A person as this process last read or wrote them, with the template of their references. */
export interface CachedPerson {
  readonly account: Account
  readonly member: Member
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

/** Approximate bytes of a person without text, habits and template: the entry, its key and the ids. */
export const PERSON_BYTES = 1000
/** Approximate bytes of text and habits of a person who has signed in from several places. */
export const PERSON_TEXT_BYTES = 2000

/**
 * A person as cached. Account and member are JSON text: as objects they take more than twice the memory, and each attempt
 * leaves hundreds of old objects to the garbage collector.
 */
interface Kept extends CachedProfile {
  readonly text: string
  /** Not part of the text, because JSON in JSON escapes each quote. */
  readonly habits: HabitsText
  readonly nth: number
  readonly memberId: string
  readonly generation: number
  readonly profileVersion: number
  readonly rowVersion: number
}

/**
 * Caches the people of nominative accounts that this process has verified, within `bytesMax` bytes. Drops the least recently
 * used first. A cached person may be out of date: a verdict counts only if the commit finds the member's `rowVersion`
 * unchanged. A member whose patterns are blocked is not cached, because the remaining time changes.
 */
export function createPersonCache(bytesMax: number): PersonCache {
  const people = new Map<string, Kept>()
  let held = 0
  const keyOf = ({ organizationId, userRef }: Designation) => `${organizationId} ${userRef}`
  const find = (who: Designation): Kept | null =>
    who.memberRef === null || who.memberRef === who.userRef ? (people.get(keyOf(who)) ?? null) : null
  const drop = (key: string): void => {
    const kept = people.get(key)
    if (kept === undefined) return
    people.delete(key)
    held -= sizeOf(kept)
  }
  return {
    recall(who) {
      const kept = find(who)
      if (kept === null) return null
      // A Map iterates in the order of insertion, so the least recently used comes first.
      const key = keyOf(who)
      people.delete(key)
      people.set(key, kept)
      return parsed(kept)
    },
    profileOf(who, { id, generation, profileVersion }) {
      const kept = find(who)
      const isThis = kept?.memberId === id && kept.generation === generation && kept.profileVersion === profileVersion
      return isThis ? kept : null
    },
    keep(who, person) {
      const { account, member } = person
      const key = keyOf(who)
      const before = people.get(key)
      // With two concurrent attempts, the later commit may get here first.
      if (before?.memberId === member.id && before.rowVersion > member.rowVersion) return
      drop(key)
      if (account.type !== 'nominative' || member.patternsClosedForMs > 0) return
      const kept = serialized(person)
      if (sizeOf(kept) > bytesMax) return
      people.set(key, kept)
      held += sizeOf(kept)
      for (const oldest of people.keys()) {
        if (held <= bytesMax) break
        drop(oldest)
      }
    },
    forget: (who) => drop(keyOf(who)),
    bytes: () => held,
  }
}

function serialized({ account, member, nth, template, references, hasAdaptive }: CachedPerson): Kept {
  const { id: memberId, generation, profileVersion, rowVersion, habits } = member
  const text = JSON.stringify([account, { ...member, habits: '' }])
  return { text, habits, nth, template, references, hasAdaptive, memberId, generation, profileVersion, rowVersion }
}

function parsed({ text, habits, nth, template, references, hasAdaptive }: Kept): CachedPerson {
  // Sound: `serialized` wrote the text from these types, and JSON preserves them: the database stores them as JSON too.
  const [account, member] = JSON.parse(text) as [Account, Member]
  return { account, member: { ...member, habits }, nth, template, references, hasAdaptive }
}

const sizeOf = ({ text, habits, template }: Kept): number =>
  PERSON_BYTES + text.length + habits.length + template.bytes.length
