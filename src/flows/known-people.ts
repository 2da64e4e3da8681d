import type { Account, Member } from '../domain/account.js'
import type { ProfileTemplate } from '../scoring/scoring.js'
import type { Designation } from './person.js'

/** A person as this process last read or left them, with the template of their references. */
export interface KnownPerson {
  readonly account: Account
  readonly member: Member
  /** Of the member's enrolled references at this `profileVersion`. */
  readonly template: ProfileTemplate
  /** Ids of those. */
  readonly references: readonly string[]
  /** The profile holds adaptive references besides. */
  readonly hasAdaptive: boolean
}

export interface KnownPeople {
  recall(who: Designation): KnownPerson | null
  keep(who: Designation, person: KnownPerson): void
  forget(who: Designation): void
  /** Bytes of what is kept, about. */
  bytes(): number
}

/** An account and a member with their habits as objects, about. */
export const PERSON_BYTES = 5000

/**
 * People of nominative accounts whom this process has verified, the latest `bytesMax` bytes of them. What is remembered may be out of date: a
 * verdict on it counts only where the commit finds the member's `rowVersion` unmoved. Those on whom no pattern is taken
 * for a while are not kept, since that time runs.
 */
export function createKnownPeople(bytesMax: number): KnownPeople {
  const people = new Map<string, KnownPerson>()
  let held = 0
  const keyOf = ({ organizationId, userRef }: Designation) => `${organizationId} ${userRef}`
  const drop = (key: string): void => {
    const person = people.get(key)
    if (person === undefined) return
    people.delete(key)
    held -= sizeOf(person)
  }
  return {
    recall(who) {
      const key = keyOf(who)
      const person = people.get(key)
      if (person === undefined || (who.memberRef !== null && who.memberRef !== who.userRef)) return null
      // The latest stands last.
      people.delete(key)
      people.set(key, person)
      return person
    },
    keep(who, person) {
      const key = keyOf(who)
      const before = people.get(key)?.member
      // Of two attempts at once the later commit may be heard of first.
      if (before?.id === person.member.id && before.rowVersion > person.member.rowVersion) return
      drop(key)
      const { account, member } = person
      if (account.type !== 'nominative' || member.patternsClosedForMs > 0 || sizeOf(person) > bytesMax) return
      people.set(key, person)
      held += sizeOf(person)
      for (const oldest of people.keys()) {
        if (held <= bytesMax) break
        drop(oldest)
      }
    },
    forget: (who) => drop(keyOf(who)),
    bytes: () => held,
  }
}

const sizeOf = ({ template }: KnownPerson): number => PERSON_BYTES + template.bytes.length
