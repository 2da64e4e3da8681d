import { createHash, randomBytes } from 'node:crypto'
import { v7 as uuid } from 'uuid'
import { afterFailure, afterSuccess } from '../../../src/domain/attempts.js'
import { writeHabits } from '../../../src/domain/context/circumstances.js'
import { LINK_KINDS } from '../../../src/domain/profile-link.js'
import type { AccountPlan } from '../../../src/storage/account.js'
import { attempt, mark, sha256Hex } from '../../harness/fixtures.js'
import type { Random } from '../scheduler.js'
import { keyOf, type MemberRow, type Tables } from './tables.js'

/** One call of a store. */
export type Call = readonly [store: string, method: string, ...args: unknown[]]

const USERS = ['ann', 'desk']
export const MEMBERS = ['eve', 'fay']

const now = () => Date.now()

/** Random calls, most of which fit the state of `tables` at that moment. */
export function memberCalls(random: Random, tables: Tables, org: string): () => Call {
  const rules = { target: 2, rejectReplay: true }
  const gone: string[] = []
  const marks = [mark()]
  const keys: Uint8Array[] = []
  const rows = () => [...tables.members.values()]
  const shaOf = () => createHash('sha256').update(randomBytes(8)).digest()

  const reference = (row: MemberRow, ahead: number) => ({
    id: random.chance(0.1) ? (random.pick(row.references)?.id ?? uuid()) : uuid(),
    memberId: row.member.id,
    generation: row.member.generation + (random.chance(0.1) ? 1 - ahead : ahead),
    mode: random.chance(0.5) ? 'visible' : 'sensitive',
    sealed: randomBytes(20),
    replayMark: random.chance(0.2) ? null : random.chance(0.15) ? random.pick(marks) : fresh(),
    createdAt: now(),
  })
  const fresh = () => {
    const made = mark()
    marks.push(made)
    return made
  }
  const linkOf = (row: MemberRow) => {
    const link = random.pick([...tables.links.values()])
    return random.chance(0.3) && link !== undefined && (link.of === row || random.chance(0.3)) ? link.id : null
  }
  const plan = (): AccountPlan => ({
    settings: random.chance(0.4) ? { groups: ['staff'] } : {},
    move: random.chance(0.3)
      ? { kind: 'none' }
      : random.chance(0.6)
        ? { kind: 'add', memberRef: random.pick(MEMBERS) }
        : { kind: 'to-nominative' },
    newMember: { id: uuid(), displayName: null, createdAt: now() },
  })

  const ofAccount = (): Call => {
    const userRef = random.pick(USERS)
    const account = tables.accounts.get(keyOf(org, userRef))
    const member = { id: uuid(), memberRef: userRef, displayName: 'Somebody', createdAt: now() }
    const roll = random.next()
    if (account === undefined) {
      const type = userRef === 'desk' ? 'generic' : 'nominative'
      const first = type === 'nominative' ? member : random.chance(0.5) ? { ...member, memberRef: 'eve' } : null
      const account = { id: uuid(), userRef, type, displayName: null, member: first, createdAt: member.createdAt }
      return ['accounts', 'create', org, account]
    }
    if (roll < 0.3) {
      const memberRef = random.pick([null, userRef, ...MEMBERS])
      return ['accounts', 'find', org, userRef, memberRef, { withComparisonSet: random.chance(0.7) }]
    }
    if (roll < 0.45) return ['accounts', 'roster', org, userRef]
    if (roll < 0.55) return ['accounts', 'archiveMember', org, userRef, random.pick(MEMBERS), now()]
    if (roll < 0.62) {
      gone.push(...account.members.map(({ member: { id } }) => id))
      return ['accounts', 'remove', org, userRef]
    }
    const { type } = account.account
    const living = account.members.filter(({ archivedAt }) => archivedAt === null)
    const there = living.map(({ member: { memberRef } }) => memberRef)
    const made = plan()
    if (type === 'nominative') {
      const shared = { kind: 'to-generic', memberRef: random.pick(MEMBERS) }
      const move = random.chance(0.5) ? shared : { kind: 'none' }
      return ['accounts', 'change', org, userRef, () => ({ ...made, move })]
    }
    const { move } = made
    const taken = move.kind === 'add' && there.includes(move.memberRef)
    const crowded = move.kind === 'to-nominative' && there.length > 1
    return ['accounts', 'change', org, userRef, () => (taken || crowded ? { ...made, move: { kind: 'none' } } : made)]
  }

  const ofProfile = (row: MemberRow): Call => {
    const { id, profileVersion, pending } = row.member
    const roll = random.next()
    const linkId = linkOf(row)
    if (roll < 0.4) return ['profiles', 'add', org, reference(row, 0), { ...rules, limit: random.pick([2, 4]), linkId }]
    if (roll < 0.65) {
      const owner = random.chance(0.8) ? `link:${linkId ?? 'x'}` : 'enrollment'
      const next = { ...rules, owner, asReset: random.chance(0.5), linkId }
      return ['profiles', 'addToSuccessor', org, reference(row, 1), next]
    }
    if (roll < 0.72) {
      const pendingId = pending?.id ?? uuid()
      return ['profiles', 'replaceOldest', org, reference(row, 0), { ...rules, pendingId, linkId }]
    }
    if (roll < 0.8) {
      const { replayMark: _, ...learned } = reference(row, 0)
      const [intervalMs, version] = [random.pick([0, 1e9]), profileVersion - (random.chance(0.1) ? 1 : 0)]
      return ['profiles', 'adapt', org, learned, { profileVersion: version, max: 2, intervalMs }]
    }
    if (roll < 0.88) return ['profiles', 'removeOne', org, id, random.pick(row.references)?.id ?? uuid()]
    if (roll < 0.9) return ['comparisonSets', 'find', org, id]
    if (roll < 0.91) {
      const { generation, attemptsVersion } = row.member
      const version = profileVersion - (random.chance(0.2) ? 1 : 0)
      const versions = { generation, profileVersion: version, attemptsVersion }
      const set = { memberId: id, ...versions, hasAdaptive: false, oldestAt: now(), base: randomBytes(2500) }
      return ['comparisonSets', 'put', org, set]
    }
    if (roll < 0.93)
      return ['profiles', 'reset', org, id, now(), ...(random.chance(0.5) ? [pending?.id ?? uuid()] : [])]
    return ['profiles', 'references', org, id]
  }

  const ofAttempt = (row: MemberRow): Call => {
    const { member, of } = row
    const { userRef } = of.account
    const roll = random.next()
    if (roll < 0.1) return ['authentications', 'list', org, userRef, 3]
    if (roll < 0.2) {
      const { id = uuid() } = random.pick(tables.authentications.get(keyOf(org, userRef)) ?? []) ?? {}
      return ['authentications', 'find', org, id]
    }
    if (roll < 0.3) {
      const { patternId } = random.pick(tables.authentications.get(keyOf(org, userRef)) ?? []) ?? {}
      return ['authentications', 'findByPattern', org, userRef, patternId ?? uuid()]
    }
    if (roll < 0.4) {
      const session = { userRef, memberId: member.id, sessionId: '0123456789abcdef', since: now() - 60_000 }
      return ['authentications', 'typedInSession', org, session]
    }
    if (roll < 0.5) {
      const attempted = tables.authentications.get(keyOf(org, userRef)) ?? []
      const known = [random.pick(attempted)?.patternId, random.pick(attempted)?.patternId].filter((id) => id != null)
      const [since, limit] = [now() - 60_000, random.pick([2, 50])]
      return [
        'authentications',
        'tested',
        org,
        { userRef, memberId: member.id, since, limits: { confirmed: limit, failed: Math.min(limit, 2) }, known },
      ]
    }
    if (roll < 0.6) {
      const replayMark = random.chance(0.3) ? random.pick(marks) : fresh()
      const { id: memberId, generation } = member
      const pattern = {
        id: uuid(),
        memberId,
        generation,
        sealed: randomBytes(20),
        replayMark,
        createdAt: now(),
        entry: randomBytes(9),
      }
      return ['refusedPatterns', 'remember', org, pattern]
    }
    const person = { organizationId: org, accountId: of.account.id, memberId: member.id, userRef }
    const method = random.chance(0.6) ? 'biometric' : 'security_code'
    const authenticated = random.chance(0.5)
    const { attempts, attemptsVersion, generation, rowVersion, memberRef } = member
    const counters = authenticated ? afterSuccess(attempts, method) : afterFailure(attempts, method, now())
    const made = {
      ...{ ...attempt(person), createdAt: now(), memberRef, method, authenticated, counters },
      habits: random.chance(0.3) ? writeHabits({ n: 1 }) : null,
      attemptsVersion: attemptsVersion - (random.chance(0.1) ? 1 : 0),
      generation: generation + (random.chance(0.05) ? 1 : 0),
      ...(random.chance(0.6) ? { rowVersion: rowVersion - (random.chance(0.1) ? 1 : 0) } : {}),
      replayMark: random.chance(0.3) ? null : random.chance(0.15) ? random.pick(marks) : fresh(),
    }
    const change = random.pick([
      null,
      { kind: 'append', entry: randomBytes(9) },
      { kind: 'replace', base: randomBytes(2500), hasAdaptive: random.chance(0.5), oldestAt: now() },
    ])
    return ['authentications', 'record', org, made, change]
  }

  const ofCode = ({ member: { id, code } }: MemberRow): Call => {
    const roll = random.next()
    if (roll < 0.25) return ['securityCodes', 'find', org, id]
    if (roll < 0.35) return ['securityCodes', 'clear', org, id]
    const expiresAt = random.chance(0.5) ? now() + 86_400_000 : null
    const issued = random.chance(0.5) ? [now()] : []
    const made = { hash: `hash ${uuid()}`, expiresAt, issued, setAt: now() }
    return ['securityCodes', 'set', org, id, code.version - (random.chance(0.1) ? 1 : 0), made]
  }

  const ofLink = ({ member: { id } }: MemberRow): Call => {
    const roll = random.next()
    if (roll < 0.4) {
      const sha256 = shaOf()
      keys.push(sha256)
      const validityS = random.chance(0.2) ? -1 : 3600
      const [kind, aim] = [random.pick(LINK_KINDS), random.pick(['target', 'full'])]
      const link = { id: uuid(), memberId: id, kind, aim, sha256, redirectUri: null, validityS }
      return ['profileLinks', 'make', org, link]
    }
    if (roll < 0.8) return ['profileLinks', 'find', random.pick(keys) ?? shaOf()]
    return roll < 0.9 ? ['profileLinks', 'revoke', org, [id]] : ['profileLinks', 'sweep', org]
  }

  const ofMember = ({ member: { id } }: MemberRow): Call => {
    const roll = random.next()
    if (roll < 0.15) return ['attemptLocks', random.pick(['clear', 'close']), org, id]
    if (roll < 0.6) {
      const action = random.pick(['RESET_BIOMETRIC_PROFILE', 'UPDATE_BIOMETRIC_PROFILE'])
      const event = random.chance(0.2) ? { kind: 'clear' } : { kind: 'queue', id: uuid(), action }
      return ['pendingActions', 'change', org, id, event, now()]
    }
    return ['invalidPatterns', 'count', org, id]
  }

  return () => {
    const row = random.pick(rows())
    if (row === undefined || random.chance(0.15)) return ofAccount()
    if (gone.length > 0 && random.chance(0.03)) return ['profiles', 'references', org, random.pick(gone)]
    const of = random.pick([ofProfile, ofProfile, ofAttempt, ofAttempt, ofCode, ofLink, ofMember])
    return of(row)
  }
}

/** Random calls on a few sessions of two users. */
export function sessionCalls(random: Random, org: string, carries: boolean) {
  const known = Array.from({ length: 5 }, () => ({ sha256: sha256Hex(), userRef: random.pick(USERS) }))
  const next = (): Call => {
    const { sha256, userRef } = random.pick(known)
    const memberRef = random.pick(MEMBERS)
    const kind = random.pick(['biometric', 'security_code'])
    const lifetimeMs = 900_000
    const at = [org, userRef, sha256] as const
    const words = random.pick([
      null,
      ...['a b|c d|en', 'e f|fr'].flatMap((issued) => [0, 1].map((used) => ({ issued, used }))),
    ])
    const roll = random.below(14)
    if (roll < 3) {
      const fresh = { sha256: sha256Hex(), userRef }
      known.push(fresh)
      if (roll > 0) return ['sessions', 'mintImplicit', org, { ...fresh, memberRef, lifetimeMs }]
      const shown = {
        memberRef: random.pick([null, memberRef]),
        memberVersion: random.pick([null, 3]),
        words: words?.issued ?? null,
        carried: carries && random.chance(0.5) ? randomBytes(40) : null,
      }
      return ['sessions', 'mint', org, { ...fresh, ...shown, lifetimeMs }]
    }
    if (roll < 4) return ['sessions', 'designate', ...at, memberRef]
    if (roll < 7) return ['sessions', 'reserve', ...at, { kind, budget: 2, withPerson: carries && random.chance(0.5) }]
    if (roll < 8) return ['sessions', 'release', ...at, { kind, words }]
    if (roll > 11)
      return ['sessions', 'changeWords', ...at, { from: words, to: { issued: 'a b|c d|en', used: random.below(2) } }]
    const either = random.chance(0.5)
    if (roll < 9) return either ? ['sessions', 'markTypingFailed', ...at] : ['sessions', 'markReported', ...at, uuid()]
    if (roll > 9) return ['sessions', 'find', ...at]
    if (either) return ['sessions', 'end', ...at]
    return ['sessions', 'endAll', org, userRef, random.pick([null, memberRef]), sha256]
  }
  return { next, endSoon: () => known.slice(0, 2) }
}
