import { SESSION_LIFETIME_MS } from '../../src/flows/session/bootstrap.js'
import type { Designation } from '../../src/flows/session/person.js'
import { ANY, type Kind, MOODS } from './moods.js'
import type { HeldLink, Request } from './request.js'
import type { Random, Scheduler } from './scheduler.js'
import { CODE_LENGTH, ORGANIZATIONS, TARGETS } from './service.js'
import { keyOf, type MemberRow, type Tables } from './stores/tables.js'
import { type Quality, type Typing, typed, typing, typingOf } from './typists.js'

const USERS = ['ann', 'bob', 'desk']
export const MEMBERS = ['eve', 'fay']
/** Most items of each kind that a client keeps; the oldest goes first. */
const KEPT = 4

interface HeldToken {
  readonly token: string
  /** Start of the session, ms. */
  readonly at: number
}

/** The items that clients hold of one user. */
interface Held {
  readonly tokens: HeldToken[]
  /** Tokens of sessions that have ended. */
  readonly ended: string[]
  readonly links: HeldLink[]
  readonly bodies: Uint8Array[]
  /** Words that an answer has shown. */
  readonly words: (readonly string[])[]
  readonly patterns: string[]
}

export interface ClientNeeds {
  readonly random: Random
  readonly scheduler: Scheduler
  readonly tables: Tables
  readonly codeOf: (hash: string | null) => string | null
}

/** Adds an item and drops the oldest above `KEPT`. */
export const keep = <T>(list: T[], one: T) => {
  list.push(one)
  if (list.length > KEPT) list.shift()
}

/** The state that clients hold, and the random parts of their calls. */
export function createDraws({ random, scheduler, tables, codeOf }: ClientNeeds) {
  const held = new Map<string, Held>()
  let nth = 0
  let mood = ANY
  let focus: readonly string[] = USERS
  let organizations: readonly string[] = ORGANIZATIONS
  let right = 0.5

  const heldOf = ({ organizationId, userRef }: Designation): Held => {
    const place = keyOf(organizationId, userRef)
    const there = held.get(place) ?? { tokens: [], ended: [], links: [], bodies: [], words: [], patterns: [] }
    held.set(place, there)
    return there
  }
  const accountOf = ({ organizationId, userRef }: Designation) => tables.accounts.get(keyOf(organizationId, userRef))
  const memberOf = (who: Designation): MemberRow | undefined => {
    const row = accountOf(who)
    const memberRef = who.memberRef ?? who.userRef
    return row?.members.find(({ member, archivedAt }) => archivedAt === null && member.memberRef === memberRef)
  }
  const personOf = ({ organizationId, userRef, memberRef }: Designation): number =>
    1 +
    ORGANIZATIONS.indexOf(organizationId) * 16 +
    USERS.indexOf(userRef) * 4 +
    (memberRef === null || memberRef === userRef ? 0 : 1 + MEMBERS.indexOf(memberRef))

  const quality = (): Quality => {
    if (random.chance(mood.unreadable)) return 'unreadable'
    const roll = random.next()
    if (roll < 0.5) return 'clean'
    return roll < 0.87 ? 'plain' : roll < 0.96 ? 'weak' : 'bot'
  }
  const body = (who: Designation, share: number): Uint8Array => {
    const before = heldOf(who).bodies
    const other = before.length > 0 && random.chance(0.06) ? random.pick(before) : null
    if (other !== null && random.chance(0.5)) return other
    const person = random.chance(share) ? personOf(who) : 1 + random.below(32)
    const mode: Typing['mode'] = random.chance(0.7) ? 'visible' : 'sensitive'
    const memberRef = random.chance(0.03) ? 'somebody-else' : null
    const fresh = typed(
      { person, nth: ++nth, mode, quality: quality(), memberRef },
      other === null ? null : typingOf(other),
    )
    keep(before, fresh)
    return fresh
  }
  /** A pattern that types words that were shown, the latest most often. */
  const ofWords = (who: Designation, share: number): Uint8Array => {
    const { words } = heldOf(who)
    return typing(body(who, share), random.chance(0.8) ? words.at(-1) : random.pick([...words, undefined]))
  }
  const digits = () => Array.from({ length: CODE_LENGTH }, () => random.below(10)).join('')
  const code = (who: Designation): string => {
    const row = memberOf(who) ?? accountOf(who)?.members[0]
    return (random.chance(right) ? codeOf(row?.codeHash ?? null) : null) ?? digits()
  }
  /** A token, sometimes of an ended session or of another user; null if none. */
  const token = (who: Designation): string | null => {
    const roll = random.next()
    if (roll < 0.02) return random.pick(random.pick([...held.values()])?.tokens ?? [])?.token ?? null
    const { tokens, ended } = heldOf(who)
    if (roll < 0.03) return random.pick(ended) ?? null
    const fresh = tokens.filter(({ at }) => scheduler.now() - at < SESSION_LIFETIME_MS)
    return (roll < 0.8 ? fresh.at(-1) : random.pick(roll < 0.98 ? fresh : tokens))?.token ?? null
  }
  const whom = (): Designation => {
    const userRef = random.pick(focus)
    const organizationId = random.pick(organizations)
    const row = accountOf({ organizationId, userRef, memberRef: null })
    const there =
      row?.members.filter(({ archivedAt }) => archivedAt === null).map(({ member }) => member.memberRef) ?? []
    const shared = row === undefined ? userRef === 'desk' : row.account.type === 'generic'
    if (!shared)
      return { organizationId, userRef, memberRef: random.chance(0.05) ? random.pick([userRef, ...MEMBERS]) : null }
    const memberRef = random.chance(0.9) && there.length > 0 ? random.pick(there) : random.pick([...MEMBERS, null])
    return { organizationId, userRef, memberRef }
  }
  /** The call that must come before `kind`, or `kind` itself; one in ten ignores the order. */
  const first = (kind: Kind, who: Designation): Kind => {
    if (random.chance(0.1)) return kind
    if (memberOf(who) === undefined && !['bootstrap', 'change', 'members', 'delete', 'legacy verify'].includes(kind))
      return 'create'
    const complete = (memberOf(who)?.member.nPatternsRef ?? 0) >= TARGETS.targetRefPatterns
    if (kind === 'verify code' && memberOf(who)?.codeHash === null) return 'choose'
    if (kind === 'enroll' && complete && random.chance(0.6)) return 'verify'
    if ((kind === 'verify' || kind === 'verify code') && !complete && random.chance(0.5)) return 'enroll'
    return kind
  }
  const endsOf = (who: Designation): Pick<Request, 'ends'> => {
    const type = accountOf(who)?.account.type
    if (who.memberRef !== null) return { ends: { memberRef: who.memberRef } }
    return type === 'nominative' ? { ends: { memberRef: who.userRef } } : {}
  }
  const kind = (): Kind => {
    const all = Object.entries(mood.calls) as [Kind, number][]
    let roll = random.next() * all.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [kind, weight] of all) {
      roll -= weight
      if (roll < 0) return kind
    }
    return 'bootstrap'
  }

  return {
    random,
    tables,
    now: scheduler.now,
    ...{ heldOf, accountOf, memberOf, body, ofWords, digits, code, token, whom, first, endsOf, kind },
    /** Share of attempts by the right person in this mood. */
    right: () => right,
    /** Forgets a session or a link that the service refused as unknown. */
    missed({ who, token, link }: Request, kind: string) {
      const { tokens, ended, links } = heldOf(who)
      const at = tokens.findIndex((one) => one.token === token)
      if (kind === 'session-missing' && token !== undefined && at >= 0) {
        tokens.splice(at, 1)
        keep(ended, token)
      }
      if (kind === 'link-unknown' && link !== undefined && links.includes(link) && random.chance(0.7))
        links.splice(links.indexOf(link), 1)
    },
    /** An attempt was refused because its session is used up: a quarter of the clients drop that session. */
    usedUp({ who, token }: Request) {
      const { tokens } = heldOf(who)
      const at = tokens.findIndex((one) => one.token === token)
      if (at >= 0 && random.chance(0.25)) tokens.splice(at, 1)
    },
    /** Changes the mood. */
    turn() {
      mood = random.pick(MOODS)
      focus = mood.one || random.chance(0.7) ? [random.pick(USERS)] : USERS
      organizations = mood.one ? [random.pick(ORGANIZATIONS)] : ORGANIZATIONS
      right = random.pick(mood.right)
    },
    /** Pause before the next call, ms; mostly 0. */
    pause: (): number => (random.chance(mood.wait) ? random.pick(mood.waits) * 1000 : 0),
  }
}
export type Draws = ReturnType<typeof createDraws>
