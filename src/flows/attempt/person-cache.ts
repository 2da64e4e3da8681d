import type { Account, Member } from '../../domain/account.js'
import type { HabitsText } from '../../domain/context/circumstances.js'
import type { ProfileTemplate } from '../../scoring/scoring.js'
import type { Designation } from '../session/person.js'

/** A person as this process last read or left them, with the template of their references. */
export interface KnownPerson {
  readonly account: Account
  readonly member: Member
  /** Which of the user's attempts they were last met in, as its reservation had it. */
  readonly nth: number
  /** Of the member's enrolled references at this `profileVersion`. */
  readonly template: ProfileTemplate
  /** Ids of those. */
  readonly references: readonly string[]
  /** The profile holds adaptive references besides. */
  readonly hasAdaptive: boolean
}

/** What of a person an attempt is compared with. */
type KnownProfile = Pick<KnownPerson, 'template' | 'references' | 'hasAdaptive'>

export interface KnownPeople {
  recall(who: Designation): KnownPerson | null
  /** Null where the profile is not known as `member` has it. */
  profileOf(who: Designation, member: Member): KnownProfile | null
  keep(who: Designation, person: KnownPerson): void
  forget(who: Designation): void
  /** Bytes of what is kept, about. */
  bytes(): number
}

/** Of a person, beside their text, habits and template: the entry, its key and the ids, about. */
export const PERSON_BYTES = 1000
/** Text and habits of somebody who has signed in from here and there, about. */
export const PERSON_TEXT_BYTES = 2000

/**
 * A person at rest. Account and member as text: as objects they would take twice the room and more, and each attempt would
 * leave hundreds of old ones to the collector.
 */
interface Kept extends KnownProfile {
  readonly text: string
  /** Left out of the text, in which each of its quotes would be escaped. */
  readonly habits: HabitsText
  readonly nth: number
  readonly memberId: string
  readonly generation: number
  readonly profileVersion: number
  readonly rowVersion: number
}

/**
 * People of nominative accounts whom this process has verified, the latest `bytesMax` bytes of them. What is remembered may be out of date: a
 * verdict on it counts only where the commit finds the member's `rowVersion` unmoved. Those on whom no pattern is taken
 * for a while are not kept, since that time runs.
 */
export function createKnownPeople(bytesMax: number): KnownPeople {
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
      // The latest stands last.
      const key = keyOf(who)
      people.delete(key)
      people.set(key, kept)
      return opened(kept)
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
      // Of two attempts at once the later commit may be heard of first.
      if (before?.memberId === member.id && before.rowVersion > member.rowVersion) return
      drop(key)
      if (account.type !== 'nominative' || member.patternsClosedForMs > 0) return
      const kept = atRest(person)
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

function atRest({ account, member, nth, template, references, hasAdaptive }: KnownPerson): Kept {
  const { id: memberId, generation, profileVersion, rowVersion, habits } = member
  const text = JSON.stringify([account, { ...member, habits: '' }])
  return { text, habits, nth, template, references, hasAdaptive, memberId, generation, profileVersion, rowVersion }
}

function opened({ text, habits, nth, template, references, hasAdaptive }: Kept): KnownPerson {
  // Sound: atRest wrote it of these, and both are kept as JSON in the database, too.
  const [account, member] = JSON.parse(text) as [Account, Member]
  return { account, member: { ...member, habits }, nth, template, references, hasAdaptive }
}

const sizeOf = ({ text, habits, template }: Kept): number =>
  PERSON_BYTES + text.length + habits.length + template.bytes.length
