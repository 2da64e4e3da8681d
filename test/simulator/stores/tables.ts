import type { Account, Member } from '../../../src/domain/account.js'
import { type AttemptCounters, FAILURES_PER_DAY, type KindCounters, NO_ATTEMPTS } from '../../../src/domain/attempts.js'
import { linkOwner } from '../../../src/domain/profile-link.js'
import type { ReplayMark } from '../../../src/domain/replay.js'
import type { NewMember } from '../../../src/storage/account.js'
import type { AttemptRecord, Authentication } from '../../../src/storage/authentication.js'
import type { StoredComparisonSet } from '../../../src/storage/comparison-set.js'
import type { StoredReference } from '../../../src/storage/profile.js'
import type { NewLink } from '../../../src/storage/profile-link.js'
import type { RefusedPattern } from '../../../src/storage/refused-patterns.js'
import { member as newMember } from '../../domain/members.js'

/** A store with synchronous methods, each one isolated transaction. A property that is no method is the same. */
export type Immediate<Store> = {
  readonly [Method in keyof Store]: Store[Method] extends (...args: infer Args) => Promise<infer Result>
    ? (...args: Args) => Result
    : Store[Method]
}

export interface AccountRow {
  readonly organizationId: string
  account: Account
  /** Includes archived members. */
  readonly members: MemberRow[]
}

export interface MemberRow {
  readonly organizationId: string
  readonly of: AccountRow
  /** Replaced, never changed. */
  member: Member
  archivedAt: number | null
  codeHash: string | null
  codePreviousHash: string | null
  codeIssued: readonly number[]
  invalidPatterns: readonly number[]
  patternsClosedUntil: number | null
  /** References of all generations, in the order of creation. */
  references: readonly ReferenceRow[]
  /** Oldest first. */
  refused: readonly RefusedPattern[]
  comparisonSet: StoredComparisonSet | null
}

export interface ReferenceRow extends StoredReference {
  readonly createdAt: number
}

export interface LinkRow extends NewLink {
  readonly organizationId: string
  readonly of: MemberRow
  readonly expiresAt: number
}

export interface MarkRow {
  readonly bands: readonly bigint[]
  readonly memberId: string
  readonly seenAt: number
  readonly patternId: string | null
  readonly generation: number
}

type OfMember = { readonly row: MemberRow }

interface Commits {
  member: OfMember
  created: OfMember
  returned: OfMember
  erased: OfMember
  renamed: OfMember & { readonly from: string }
  reset: OfMember
  unlock: OfMember
  lock: OfMember
  'new code': OfMember
  stored: OfMember & { readonly reference: ReferenceRow }
  /** `before` and `codeHash` are the member and the code that the attempt was judged on. */
  attempt: OfMember & {
    readonly before: Member
    readonly codeHash: string | null
    readonly attempt: AttemptRecord
  }
  moved: { readonly row: AccountRow }
  'link-made': { readonly link: LinkRow }
  'link-ended': { readonly link: LinkRow; readonly how: LinkEnd }
}
/** The effect of a commit, for the oracle. */
export type Committed = { [What in keyof Commits]: { readonly what: What } & Commits[What] }[keyof Commits]

export type LinkEnd = 'completed' | 'replaced' | 'revoked' | 'expired' | 'erased' | 'reset'

interface Tombstone {
  readonly memberId: string
  readonly attempts: AttemptCounters
  readonly keptUntil: number
}

/** The tables of PostgreSQL. */
export interface Tables {
  readonly now: () => number
  readonly watch: (committed: Committed) => void
  /** By organization and userRef. */
  readonly accounts: Map<string, AccountRow>
  /** By organization and id. */
  readonly members: Map<string, MemberRow>
  /** By organization and id. */
  readonly links: Map<string, LinkRow>
  /** Marks by organization and exact mark; `bands` has the exact marks of each band. */
  readonly marks: Map<string, MarkRow>
  readonly bands: Map<string, Set<string>>
  /** By organization and userRef, oldest first. */
  readonly authentications: Map<string, Authentication[]>
  /** Attempt counters of erased and renamed members, by organization, userRef and memberRef. */
  readonly tombstones: Map<string, Tombstone>
  /** Ends the sessions of a deleted user if sessions are rows of this database; null otherwise. */
  endSessionsOf: ((organizationId: string, userRef: string) => void) | null
}

export const createTables = (now: () => number, watch: Tables['watch'] = () => {}): Tables => ({
  now,
  watch,
  accounts: new Map(),
  members: new Map(),
  links: new Map(),
  marks: new Map(),
  bands: new Map(),
  authentications: new Map(),
  tombstones: new Map(),
  endSessionsOf: null,
})

export const keyOf = (organizationId: string, one: string, two?: string): string =>
  two === undefined ? `${organizationId} ${one}` : `${organizationId} ${one} ${two}`

const TOMBSTONE_MS = 24 * 3_600_000

/** The member as a query returns it. */
export const read = ({ now }: Tables, { member, patternsClosedUntil }: MemberRow): Member =>
  patternsClosedUntil === null ? member : { ...member, patternsClosedForMs: Math.max(0, patternsClosedUntil - now()) }

/** Updates a member's row once. */
export function update(tables: Tables, row: MemberRow, changes: Partial<Member>): Member {
  const changed = { ...row.member, ...changes, rowVersion: row.member.rowVersion + 1 }
  changed.nPatternsRef = changed.nVisible + changed.nSensitive
  row.member = changed
  const set = row.comparisonSet
  const isOfProfile = set?.generation === changed.generation && set.profileVersion === changed.profileVersion
  // Only a change of the profile deletes a set that is out of date.
  const isSameProfile = changes.generation === undefined && changes.profileVersion === undefined
  if (!isOfProfile && !isSameProfile) row.comparisonSet = null
  tables.watch({ what: 'member', row })
  return read(tables, row)
}

/** Updates an account's row once, which raises the version of its members. */
export function updateAccount(tables: Tables, row: AccountRow, changes: Partial<Account>): void {
  row.account = { ...row.account, ...changes }
  for (const member of row.members) update(tables, member, {})
}

/** The member; null if absent or archived. */
export function live(tables: Tables, organizationId: string, memberId: string): MemberRow | null {
  const row = tables.members.get(keyOf(organizationId, memberId))
  return row === undefined || row.archivedAt !== null ? null : row
}

export const livePeople = ({ members }: AccountRow): MemberRow[] =>
  members
    .filter(({ archivedAt }) => archivedAt === null)
    .sort((a, b) => a.member.createdAt - b.member.createdAt || (a.member.id < b.member.id ? -1 : 1))

/**
 * Adds a person to the account, or restores the archived one with this reference. The counters of an erased one still
 * apply.
 */
export function putMember(tables: Tables, of: AccountRow, { id, memberRef, displayName, createdAt }: NewMember): void {
  const { organizationId } = of
  const attempts = takenOn(tables, of, memberRef, id, NO_ATTEMPTS)
  const there = of.members.find(({ member }) => member.memberRef === memberRef)
  if (there !== undefined) {
    if (there.archivedAt === null) return
    there.archivedAt = null
    update(tables, there, { displayName, createdAt })
    tables.watch({ what: 'returned', row: there })
    return
  }
  const row: MemberRow = {
    organizationId,
    of,
    member: newMember(0, { id, memberRef, displayName, createdAt, attempts }),
    archivedAt: null,
    codeHash: null,
    codePreviousHash: null,
    codeIssued: [],
    invalidPatterns: [],
    patternsClosedUntil: null,
    references: [],
    refused: [],
    comparisonSet: null,
  }
  of.members.push(row)
  tables.members.set(keyOf(organizationId, id), row)
  tables.watch({ what: 'created', row })
  tables.watch({ what: 'member', row })
}

/** Deletes a member's row. Its counters stay for a day unless all are zero. */
export function dropMember(tables: Tables, row: MemberRow): void {
  const { organizationId, of, member } = row
  tables.members.delete(keyOf(organizationId, member.id))
  of.members.splice(of.members.indexOf(row), 1)
  leaveTombstone(tables, row)
  tables.watch({ what: 'erased', row })
}

/** Gives the member another reference of the account. */
export function renameMember(tables: Tables, row: MemberRow, memberRef: string): void {
  const from = row.member.memberRef
  if (from === memberRef) return
  const attempts = takenOn(tables, row.of, memberRef, row.member.id, row.member.attempts)
  leaveTombstone(tables, row)
  update(tables, row, { memberRef, attempts })
  tables.watch({ what: 'renamed', row, from })
}

/**
 * The counters of a member that takes a reference: the stricter of its own and those that an erased or renamed member
 * left, which are removed.
 */
function takenOn({ tombstones, now }: Tables, of: AccountRow, memberRef: string, id: string, own: AttemptCounters) {
  const place = keyOf(of.organizationId, of.account.userRef, memberRef)
  const left = tombstones.get(place)
  if (left === undefined || left.keptUntil <= now()) return own
  tombstones.delete(place)
  return left.memberId === id ? own : stricter(own, left.attempts)
}

const stricter = (one: AttemptCounters, other: AttemptCounters): AttemptCounters => ({
  biometric: stricterKind(one.biometric, other.biometric),
  security_code: stricterKind(one.security_code, other.security_code),
})

const stricterKind = (one: KindCounters, other: KindCounters): KindCounters => ({
  streak: Math.max(one.streak, other.streak),
  closedUntil: Math.max(one.closedUntil, other.closedUntil),
  off: one.off || other.off,
  recentFailures: [...beyond(one.recentFailures, other.recentFailures), ...other.recentFailures]
    .sort((a, b) => a - b)
    .slice(-FAILURES_PER_DAY),
})

/** `numbers` without one occurrence for each equal number in `others`. */
function beyond(numbers: readonly number[], others: readonly number[]): number[] {
  const left = [...others]
  return numbers.filter((number) => {
    const at = left.indexOf(number)
    if (at >= 0) left.splice(at, 1)
    return at < 0
  })
}

function leaveTombstone({ tombstones, now }: Tables, { organizationId, of, member }: MemberRow): void {
  for (const [place, { keptUntil }] of tombstones) {
    if (place.startsWith(`${organizationId} `) && keptUntil <= now()) tombstones.delete(place)
  }
  const { id: memberId, memberRef, attempts } = member
  const kinds = Object.values(attempts)
  if (kinds.some(({ off, streak, recentFailures }) => off || streak > 0 || recentFailures.length > 0)) {
    const keptUntil = now() + TOMBSTONE_MS
    tombstones.set(keyOf(organizationId, of.account.userRef, memberRef), { memberId, attempts, keptUntil })
  }
}

/** Deletes the references, the refused patterns, the replay marks and the links of the member. Returns the number of enrolled references. */
export function dropTyping(tables: Tables, row: MemberRow): number {
  const { organizationId, references, member } = row
  row.references = []
  row.refused = []
  for (const [key, mark] of tables.marks) {
    if (mark.memberId !== member.id) continue
    tables.marks.delete(key)
    for (const band of mark.bands) tables.bands.get(keyOf(organizationId, String(band)))?.delete(key)
  }
  for (const link of linksOf(tables, row)) endLink(tables, link, 'erased')
  return references.filter(({ kind }) => kind === 'enrolled').length
}

export const linksOf = (tables: Tables, row: MemberRow): LinkRow[] =>
  [...tables.links.values()].filter(({ of }) => of === row)

export function endLink(tables: Tables, link: LinkRow, how: LinkEnd): void {
  tables.links.delete(keyOf(link.organizationId, link.id))
  tables.watch({ what: 'link-ended', link, how })
}

/** Also deletes the references that the link has collected for a new profile. */
export function endWithCollected(tables: Tables, link: LinkRow, how: LinkEnd): void {
  endLink(tables, link, how)
  const { of } = link
  if (of.member.successor?.owner !== linkOwner(link.id)) return
  of.references = of.references.filter(({ generation }) => generation <= of.member.generation)
  update(tables, of, { successor: null })
}

/** Whether the replay index has this mark, or one from after `oldest` that this mark of a member resembles. */
export function resembles(
  tables: Tables,
  organizationId: string,
  memberId: string,
  mark: ReplayMark,
  oldest: number,
): boolean {
  const cleared = new Set(mark.cleared?.map((exact) => keyOf(organizationId, Buffer.from(exact).toString('hex'))))
  return marksLike(tables, organizationId, memberId, mark, oldest).some((key) => !cleared.has(key))
}

/** Keys of the marks from after `oldest` that share a band with this one of a member; of another member, two. */
export function marksLike(
  { marks, bands }: Pick<Tables, 'marks' | 'bands'>,
  organizationId: string,
  memberId: string,
  mark: ReplayMark,
  oldest: number,
): string[] {
  const met = mark.bands.flatMap((band) => [...(bands.get(keyOf(organizationId, String(band))) ?? [])])
  return [...new Set(met)].filter((key) => {
    const known = marks.get(key)
    if (known === undefined || known.seenAt <= oldest) return false
    return sharedBands(mark, known) >= (known.memberId === memberId ? 1 : 2)
  })
}

export const sharedBands = ({ bands }: ReplayMark, known: MarkRow | undefined): number =>
  new Set(bands.filter((band) => known?.bands.includes(band))).size

/** Adds the mark; false if an equal one from after `oldest` exists. */
export function enterMark(
  tables: Tables,
  organizationId: string,
  { exact, bands }: ReplayMark,
  owner: Omit<MarkRow, 'bands'>,
  oldest: number,
): boolean {
  const key = keyOf(organizationId, Buffer.from(exact).toString('hex'))
  const there = tables.marks.get(key)
  if (there !== undefined && there.seenAt > oldest) return false
  for (const band of there?.bands ?? []) tables.bands.get(keyOf(organizationId, String(band)))?.delete(key)
  tables.marks.set(key, { bands, ...owner })
  for (const band of bands) {
    const place = keyOf(organizationId, String(band))
    const holders = tables.bands.get(place)
    if (holders === undefined) tables.bands.set(place, new Set([key]))
    else holders.add(key)
  }
  return true
}

/** Adds an entry to the member's comparison set, unless the set is out of date. */
export function addToSet(row: MemberRow, entry: Uint8Array): void {
  const { comparisonSet: set, member } = row
  if (set?.attemptsVersion !== member.attemptsVersion || set.generation !== member.generation) return
  row.comparisonSet = { ...set, attemptsVersion: set.attemptsVersion + 1, tail: Buffer.concat([set.tail, entry]) }
}
