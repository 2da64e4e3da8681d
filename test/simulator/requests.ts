import { LINK_KINDS, type LinkKind } from '../../src/domain/profile-link.js'
import { USER_ACTIONS } from '../../src/domain/user-action.js'
import { sha256 } from '../../src/flows/process/tokens.js'
import { SESSION_LIFETIME_MS } from '../../src/flows/session/bootstrap.js'
import type { Designation } from '../../src/flows/session/person.js'
import { ANY, type Kind, MOODS, type Weights } from './moods.js'
import type { Random, Scheduler } from './scheduler.js'
import { CODE_LENGTH, type Flows, ORGANIZATIONS, TARGETS } from './service.js'
import { keyOf, type MemberRow, type Tables } from './stores/tables.js'
import { type Quality, type Typing, typed, typingOf } from './typists.js'

/** A link as its recipient knows it. */
interface HeldLink {
  readonly id: string
  readonly key: string
  readonly sha256: Uint8Array
  readonly kind: LinkKind
  readonly memberId: string
  /** `memberRef` when the link was made. */
  readonly memberRef: string
}

/** One call, with the state at its beginning. */
export interface Request {
  readonly kind: Kind
  readonly process: number
  readonly who: Designation
  readonly token?: string
  /** The security code in the call. */
  readonly code?: string
  readonly link?: HeldLink
  readonly accountId?: string
  /** The member whose sessions the call ends; null: all members of the account. */
  readonly ends?: { readonly memberRef: string | null }
  readonly beganAt: number
  readonly at: number
  readonly run: (flows: Flows) => Promise<object>
}

const USERS = ['ann', 'bob', 'desk']
const MEMBERS = ['eve', 'fay']
const HINTS = { language: null, acceptLanguage: null }
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
  readonly patterns: string[]
}

interface Needs {
  readonly random: Random
  readonly scheduler: Scheduler
  readonly tables: Tables
  readonly codeOf: (hash: string | null) => string | null
}

const keep = <T>(list: T[], one: T) => {
  list.push(one)
  if (list.length > KEPT) list.shift()
}

/**
 * The clients of the service, legitimate and hostile. Most of this function is `make`, which has one entry for each
 * kind of call.
 */
export function createClients({ random, scheduler, tables, codeOf }: Needs) {
  const held = new Map<string, Held>()
  let nth = 0
  let mood = ANY
  let focus: readonly string[] = USERS
  let organizations: readonly string[] = ORGANIZATIONS
  let right = 0.5

  const heldOf = ({ organizationId, userRef }: Designation): Held => {
    const place = keyOf(organizationId, userRef)
    const there = held.get(place) ?? { tokens: [], ended: [], links: [], bodies: [], patterns: [] }
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

  type Made = Omit<Request, 'kind' | 'process' | 'who' | 'beganAt' | 'at'> & Partial<Pick<Request, 'who' | 'kind'>>
  const bootstrap = (who: Designation, presented: string | null): Made => ({
    ...(presented === null ? {} : { token: presented }),
    async run(flows) {
      const begun = await flows.bootstrap(who, presented, HINTS)
      const { tokens } = heldOf(who)
      if (!tokens.some(({ token }) => token === begun.sessionToken))
        keep(tokens, { token: begun.sessionToken, at: scheduler.now() })
      return begun
    },
  })
  const withToken = (who: Designation, run: (flows: Flows, token: string) => Promise<object>): Made => {
    const presented = token(who)
    if (presented === null) return { ...bootstrap(who, null), kind: 'bootstrap' }
    return { token: presented, run: (flows) => run(flows, presented) }
  }
  const make: Record<Kind, (who: Designation) => Made | null> = {
    bootstrap: (who) => bootstrap(who, random.chance(0.4) ? token(who) : null),
    create: (who) => ({
      run: (flows) =>
        flows.accounts.create(who, {
          type: who.userRef === 'desk' ? 'generic' : null,
          displayName: random.chance(0.5) ? 'Somebody' : null,
          withCode: random.chance(0.4),
        }),
    }),
    enroll: (who) => withToken(who, (flows, token) => flows.enroll(who, token, body(who, 0.97), HINTS)),
    verify: (who) =>
      withToken(who, async (flows, token) => {
        const answer = await flows.verify(who, token, { kind: 'pattern', body: body(who, right) }, HINTS)
        const { patternId } = answer.authentication ?? {}
        if (patternId) keep(heldOf(who).patterns, patternId)
        return answer
      }),
    'verify code'(who) {
      const tried = code(who)
      return {
        code: tried,
        ...withToken(who, (flows, token) => flows.verify(who, token, { kind: 'code', code: tried }, HINTS)),
      }
    },
    'legacy verify'(who) {
      const presented = random.chance(0.3) ? token(who) : null
      const tried = random.chance(0.4) ? code(who) : null
      const attempt =
        tried === null
          ? ({ kind: 'pattern', body: body(who, right) } as const)
          : ({ kind: 'code', code: tried } as const)
      return {
        ...(presented === null ? {} : { token: presented }),
        ...(tried === null ? {} : { code: tried }),
        run: (flows) =>
          flows.legacyVerify({ who, token: presented, enrolls: random.chance(0.5), attempt, hints: HINTS }),
      }
    },
    'legacy link'(who) {
      const presented = random.chance(0.6) ? token(who) : null
      const tested = random.chance(0.7) ? random.pick(heldOf(who).patterns) : undefined
      return {
        ...(presented === null ? {} : { token: presented }),
        run: (flows) =>
          tested === undefined
            ? flows.legacyLink.link(who, presented, body(who, 0.97))
            : flows.legacyLink.linkTested(who, presented, tested),
      }
    },
    choose(who) {
      const chosen = digits()
      const made = withToken(who, async (flows, token) => {
        await flows.securityCodes.choose(who, token, chosen)
        return {}
      })
      return made.kind === undefined ? { ...made, ...endsOf(who), code: chosen } : made
    },
    issue(who) {
      const made = withToken(who, async (flows, token) => ({ code: await flows.securityCodes.issue(who, token) }))
      return made.kind === undefined ? { ...made, ...endsOf(who) } : made
    },
    clear(who) {
      const made = withToken(who, async (flows, token) => {
        await flows.securityCodes.clear(who, token)
        return {}
      })
      return made.kind === undefined ? { ...made, ...endsOf(who) } : made
    },
    reset: (who) => ({ ...endsOf(who), run: (flows) => flows.profiles.reset(who) }),
    'remove one'(who) {
      const reference = random.pick(memberOf(who)?.references ?? [])
      return reference === undefined ? null : { run: (flows) => flows.profiles.removeOne(who, reference.id) }
    },
    queue: (who) => ({
      run: (flows) =>
        random.chance(0.2)
          ? flows.pendingActions.clear(who)
          : flows.pendingActions.queue(
              who,
              random.chance(0.4) ? 'RESET_BIOMETRIC_PROFILE' : 'UPDATE_BIOMETRIC_PROFILE',
            ),
    }),
    'make link'(who) {
      const complete = (memberOf(who)?.member.nPatternsRef ?? 0) >= TARGETS.targetRefPatterns
      const kind = complete && random.chance(0.7) ? 'reset-profile' : random.pick(LINK_KINDS)
      const validityS = random.pick([60, 3600, 86_400])
      return {
        async run(flows) {
          const { key } = await flows.profileLinks.make(who, kind, { redirectUri: null, validityS })
          const hash = sha256(key)
          for (const { id, sha256, of, organizationId } of tables.links.values())
            if (organizationId === who.organizationId && Buffer.from(hash).equals(sha256))
              keep(heldOf(who).links, { id, key, sha256, kind, memberId: of.member.id, memberRef: of.member.memberRef })
          return {}
        },
      }
    },
    'open link'(who) {
      const link = random.pick(heldOf(who).links)
      return link === undefined ? null : { link, run: (flows) => flows.linkPage.open(link.key, HINTS) }
    },
    'link step'(who) {
      const link = heldOf(who).links.at(random.chance(0.8) ? -1 : 0)
      if (link === undefined) return make['make link'](who)
      const typist = { ...who, memberRef: link.memberRef }
      return { link, run: (flows) => flows.linkPage.step(link.key, body(typist, 1), HINTS) }
    },
    'revoke links': (who) => ({
      async run(flows) {
        await flows.profileLinks.revoke(who)
        return {}
      },
    }),
    delete(given) {
      const who = random.chance(0.5) ? { ...given, memberRef: null } : given
      const row = accountOf(who)
      const ofShared = row?.account.type === 'generic' && who.memberRef !== null
      return {
        who,
        ends: { memberRef: ofShared ? who.memberRef : null },
        ...(ofShared || row === undefined ? {} : { accountId: row.account.id }),
        run: (flows) => flows.accounts.remove(who),
      }
    },
    change(who) {
      const generic = accountOf(who)?.account.type === 'generic'
      const change = random.pick([
        { groups: ['staff'] },
        { type: 'nominative' as const },
        generic ? { memberRef: random.pick(MEMBERS) } : { type: 'generic' as const, memberRef: random.pick(MEMBERS) },
      ])
      return { run: (flows) => flows.accounts.change(who, change) }
    },
    members: (who) => ({ run: (flows) => flows.accounts.members(who) }),
    unlock: (who) => ({ run: (flows) => flows.unlock.unlock(who) }),
    act(who) {
      const action = random.pick(USER_ACTIONS)
      const ends = ['lock', 'reset-profile', 'clear-security-code'].includes(action) ? endsOf(who) : {}
      return { ...ends, run: (flows) => flows.userActions.perform(who, action, { apiKeyId: 'key', requestId: 'call' }) }
    },
  }

  const kindOf = (weights: Weights): Kind => {
    const all = Object.entries(weights) as [Kind, number][]
    let roll = random.next() * all.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [kind, weight] of all) {
      roll -= weight
      if (roll < 0) return kind
    }
    return 'bootstrap'
  }

  return {
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
    /** The next call, to one of `processes` processes; null if the drawn call is not possible. */
    next(processes: number): Request | null {
      const who = whom()
      const kind = first(kindOf(mood.calls), who)
      const made = make[kind](who)
      if (made === null) return null
      const process = random.below(processes)
      return { kind, process, who, beganAt: scheduler.step(), at: scheduler.now(), ...made }
    },
  }
}
