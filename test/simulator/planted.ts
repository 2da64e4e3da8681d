import type { Member } from '../../src/domain/account.js'
import { NO_ATTEMPTS } from '../../src/domain/attempts.js'
import { Refusal } from '../../src/domain/refusal.js'
import type { AccountStore } from '../../src/storage/account.js'
import type { AuthenticationStore } from '../../src/storage/authentication.js'
import type { AddOutcome, ProfileStore } from '../../src/storage/profile.js'
import type { SessionStore } from '../../src/storage/session.js'
import { type MemoryStores, type Stores, TARGETS } from './service.js'
import { keyOf, live } from './stores/tables.js'
import type { Planted, Reach } from './world.js'

/** A bug in methods of one store, each call of which is one transaction. */
const inStore = <Name extends keyof MemoryStores>(
  name: Name,
  changed: (store: MemoryStores[Name], reach: Reach) => Partial<MemoryStores[Name]>,
): Pick<Planted, 'stores'> => ({
  stores: (stores, reach) => ({ [name]: { ...stores[name], ...changed(stores[name], reach) } }),
})
/** A bug in how a process calls one store. */
const inCalls = <Name extends keyof Stores>(
  name: Name,
  changed: (store: Stores[Name]) => Partial<Stores[Name]>,
): Pick<Planted, 'seenAs'> => ({
  seenAs: (stores) => ({ [name]: { ...stores[name], ...changed(stores[name]) } }),
})

/**
 * The first ten are bugs that any such simulator must find. The others break one invariant each that the ten do not.
 */
export const PLANTED: readonly Planted[] = [
  {
    name: 'a naive counter writes back its old value over concurrent changes',
    by: 'I2',
    ...inStore('authentications', (store, { tables }) => ({
      record(organizationId, { rowVersion: _, ...attempt }, change) {
        const row = tables.members.get(keyOf(organizationId, attempt.memberId))
        const { attemptsVersion = 0, generation = 0 } = row?.member ?? {}
        return store.record(organizationId, { ...attempt, attemptsVersion, generation }, change)
      },
    })),
  },
  {
    name: 'a new code resets the failures of codes',
    by: 'I2',
    ...inStore('securityCodes', (store, { tables }) => ({
      set(organizationId, memberId, version, code) {
        const outcome = store.set(organizationId, memberId, version, code)
        const row = live(tables, organizationId, memberId)
        if (outcome.outcome === 'conflict' || row === null) return outcome
        const attempts = { ...row.member.attempts, security_code: NO_ATTEMPTS.security_code }
        row.member = { ...row.member, attempts }
        return { ...outcome, member: row.member }
      },
    })),
  },
  {
    name: 'a session gets its expiry in a second, separate call',
    by: 'sessions',
    ...inCalls('sessions', (store) => ({
      async mint(organizationId, session) {
        await store.mint(organizationId, { ...session, lifetimeMs: Number.POSITIVE_INFINITY })
        await store.mint(organizationId, session)
      },
    })),
  },
  {
    name: 'GET consumes a link',
    by: 'I7',
    flows: ({ linkPage }, { tables }) => ({
      linkPage: {
        ...linkPage,
        async open(key, hints) {
          const page = await linkPage.open(key, hints)
          for (const [place, { kind }] of tables.links) if (kind === page.kind) tables.links.delete(place)
          return page
        },
      },
    }),
  },
  {
    name: 'a success resets both kinds',
    by: 'I2',
    ...inStore('authentications', (store) => ({
      record(organizationId, attempt, change) {
        const { biometric, security_code } = attempt.counters
        const both = { biometric: { ...biometric, streak: 0 }, security_code: { ...security_code, streak: 0 } }
        return store.record(
          organizationId,
          { ...attempt, counters: attempt.authenticated ? both : attempt.counters },
          change,
        )
      },
    })),
  },
  {
    name: 'counters missing after a flush are read as zero',
    by: 'I2',
    stores({ accounts, authentications }, { flushes }) {
      const heldSince = new Map<string, number>()
      return {
        accounts: {
          ...accounts,
          find(organizationId, userRef, memberRef) {
            const found = accounts.find(organizationId, userRef, memberRef)
            const since = heldSince.get(found?.member?.id ?? '') ?? flushes()
            if (found === null || found.member === null || since === flushes()) return found
            return { ...found, member: { ...found.member, attempts: NO_ATTEMPTS } }
          },
        },
        authentications: {
          ...authentications,
          record(organizationId, attempt, change) {
            heldSince.set(attempt.memberId, flushes())
            return authentications.record(organizationId, attempt, change)
          },
        },
      }
    },
  },
  {
    name: 'an organization filter is missing',
    by: 'I9',
    ...inStore('accounts', ({ find }) => ({
      find: (organizationId, userRef, memberRef) =>
        find(organizationId, userRef, memberRef) ??
        find(organizationId === 'acme' ? 'zeta' : 'acme', userRef, memberRef),
    })),
  },
  {
    name: 'an attempt is refunded when its record times out',
    by: 'I1',
    seenAs({ sessions, authentications }) {
      const places = new Map<string, Parameters<SessionStore['release']>>()
      const reserve: SessionStore['reserve'] = (organizationId, userRef, sha256, attempt) => {
        places.set(sha256.slice(0, 16), [organizationId, userRef, sha256, { kind: attempt.kind, words: null }])
        return sessions.reserve(organizationId, userRef, sha256, attempt)
      }
      const record: AuthenticationStore['record'] = (organizationId, attempt, change) =>
        authentications.record(organizationId, attempt, change).catch(async (error: unknown) => {
          const place = places.get(attempt.sessionId)
          if (place !== undefined) await sessions.release(...place)
          throw error
        })
      return { sessions: { ...sessions, reserve }, authentications: { ...authentications, record } }
    },
  },
  {
    name: 'a link completes twice because its check is outside the transaction that ends it',
    by: 'I7',
    ...inStore('profiles', (store) => ({
      add: (organizationId, reference, rules) => store.add(organizationId, reference, { ...rules, linkId: null }),
      addToSuccessor: (organizationId, reference, rules) =>
        store.addToSuccessor(organizationId, reference, { ...rules, linkId: null }),
    })),
  },
  {
    name: 'the status is off by one',
    by: 'I6',
    targets: { ...TARGETS, targetRefPatterns: TARGETS.targetRefPatterns - 1 },
  },
  {
    name: 'a lock ends a minute early',
    by: 'I3',
    ...inStore('accounts', (store) => ({
      find(organizationId, userRef, memberRef) {
        const found = store.find(organizationId, userRef, memberRef)
        if (found === null || found.member === null) return found
        const { biometric, security_code } = found.member.attempts
        const early = <Kind extends { closedUntil: number }>(kind: Kind) => ({
          ...kind,
          closedUntil: kind.closedUntil - 60_000,
        })
        const attempts = { biometric: early(biometric), security_code: early(security_code) }
        return { ...found, member: { ...found.member, attempts } }
      },
    })),
  },
  {
    name: 'a pattern is acknowledged before the store has answered',
    by: 'I4',
    seenAs({ accounts, profiles }) {
      const members = new Map<string, Member>()
      const find: AccountStore['find'] = async (organizationId, userRef, memberRef) => {
        const found = await accounts.find(organizationId, userRef, memberRef)
        if (found !== null && found.member !== null) members.set(found.member.id, found.member)
        return found
      }
      const add: ProfileStore['add'] = (organizationId, reference, rules) =>
        profiles.add(organizationId, reference, rules).catch((error: unknown): AddOutcome => {
          const member = members.get(reference.memberId)
          if (member === undefined) throw error
          return { outcome: 'added', member, completes: false }
        })
      return { accounts: { ...accounts, find }, profiles: { ...profiles, add } }
    },
  },
  {
    name: 'a removed reference is still counted',
    by: 'I5',
    ...inStore('profiles', (_, { tables }) => ({
      removeOne(organizationId, memberId, patternId) {
        const row = live(tables, organizationId, memberId)
        if (row === null || !row.references.some(({ id }) => id === patternId)) return null
        row.references = row.references.filter(({ id }) => id !== patternId)
        return row.member
      },
    })),
  },
  {
    name: 'a sign-in is answered before its record is committed',
    by: 'I10',
    ...inCalls('authentications', (store) => ({
      async record(organizationId, attempt, change) {
        store.record(organizationId, attempt, change).catch((error: unknown) => {
          if (!(error instanceof Refusal)) throw error
        })
        return 'recorded'
      },
    })),
  },
  {
    name: 'a temporary code is shown again on the next call',
    by: 'I11',
    flows({ securityCodes }) {
      const given = new Map<string, string>()
      return {
        securityCodes: {
          ...securityCodes,
          async issue(who, token) {
            const place = `${who.organizationId} ${who.userRef} ${who.memberRef}`
            const code = given.get(place) ?? (await securityCodes.issue(who, token))
            given.set(place, code)
            return code
          },
        },
      }
    },
  },
  {
    name: 'a reservation does not use up the words of its session',
    by: 'words',
    ...inCalls('sessions', (store) => ({
      async reserve(...place) {
        const reserved = await store.reserve(...place)
        const [organizationId, userRef, sha256, { kind }] = place
        const words = reserved?.session.words ?? null
        if (kind === 'biometric' && words !== null && words.used > 0)
          await store.changeWords(organizationId, userRef, sha256, {
            from: words,
            to: { ...words, used: words.used - 1 },
          })
        return reserved
      },
    })),
  },
  {
    name: 'an attempt that is refused after its reservation is counted',
    by: 'free',
    ...inCalls('sessions', () => ({ release: async () => {} })),
  },
  {
    name: 'a reset does not end the sessions',
    by: 'sessions',
    ...inCalls('sessions', () => ({ endAll: async () => {} })),
  },
  {
    name: 'a verdict on outdated references is recorded',
    by: 'verdict',
    ...inStore('authentications', (store, { tables }) => ({
      record(organizationId, { rowVersion: _, ...attempt }, change) {
        const row = tables.members.get(keyOf(organizationId, attempt.memberId))
        return store.record(organizationId, { ...attempt, attemptsVersion: row?.member.attemptsVersion ?? 0 }, change)
      },
    })),
  },
  {
    name: 'the habits of a success are not stored',
    by: 'belief',
    ...inStore('authentications', (store) => ({
      record: (organizationId, attempt, change) => store.record(organizationId, { ...attempt, habits: null }, change),
    })),
  },
]
