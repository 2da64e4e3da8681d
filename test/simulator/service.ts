import type { ProfileTargets } from '../../src/domain/biometric-status.js'
import { DEFAULT_POLICY, type Policy } from '../../src/domain/policy.js'
import { coreWords } from '../../src/domain/typing-words.js'
import { createAccountFlows } from '../../src/flows/account/accounts.js'
import { createSecurityCodeFlows } from '../../src/flows/account/security-code.js'
import { createUnlock } from '../../src/flows/account/unlock.js'
import { forgetPerson } from '../../src/flows/attempt/forget-person.js'
import { createPatternMemory } from '../../src/flows/attempt/pattern-memory.js'
import { createPersonCache, PERSON_BYTES, PERSON_TEXT_BYTES } from '../../src/flows/attempt/person-cache.js'
import { createSettings } from '../../src/flows/organization/settings.js'
import { createPendingActionFlows } from '../../src/flows/profile/pending-action.js'
import { createProfileLinkFlows } from '../../src/flows/profile/profile-links.js'
import { createProfileFlows } from '../../src/flows/profile/profiles.js'
import { createUserActions } from '../../src/flows/profile/user-actions.js'
import { createBootstrap } from '../../src/flows/session/bootstrap.js'
import type { CodeHash } from '../../src/storage/code-hash.js'
import type { Vault } from '../../src/storage/vault.js'
import { createPatternFlows } from '../../src/wiring/pattern-flows.js'
import type { Stores as ServiceStores } from '../../src/wiring/stores.js'
import type { Scheduler } from './scheduler.js'
import { memoryAccounts } from './stores/account.js'
import { memoryAuthentications } from './stores/authentication.js'
import {
  memoryAttemptLocks,
  memoryComparisonSets,
  memoryInvalidPatterns,
  memoryPendingActions,
  memoryRefusedPatterns,
  memorySecurityCodes,
} from './stores/member-stores.js'
import { memoryProfiles } from './stores/profile.js'
import { memoryProfileLinks } from './stores/profile-link.js'
import type { MemorySessions } from './stores/session.js'
import type { Immediate, Tables } from './stores/tables.js'
import { standInScoring } from './typists.js'

type Used =
  | 'accounts'
  | 'profiles'
  | 'profileLinks'
  | 'pendingActions'
  | 'authentications'
  | 'comparisonSets'
  | 'attemptLocks'
  | 'sessions'
type AlsoUsed = 'invalidPatterns' | 'refusedPatterns' | 'securityCodes' | 'userLog'
/** The stores that the flows use. */
export interface Stores extends Pick<ServiceStores, Used | AlsoUsed> {
  readonly organizations: Pick<ServiceStores['organizations'], 'find'>
  readonly policies: Pick<ServiceStores['policies'], 'list'>
  readonly typingWords: Pick<ServiceStores['typingWords'], 'list'>
}
export type MemoryStores = { readonly [Name in keyof Stores]: Immediate<Stores[Name]> }

/** Smaller targets than the defaults, so that a profile completes in fewer steps. */
export const TARGETS: ProfileTargets = { targetRefPatterns: 2, fullRefPatterns: 4 }
/** Long enough that no two codes are equal by chance and that a text with a code is recognised. */
export const CODE_LENGTH = 12

export const ORGANIZATIONS = ['acme', 'zeta']
const fallbackOf: Readonly<Record<string, Policy['security_code_fallback']>> = {
  acme: { ...DEFAULT_POLICY.security_code_fallback, code_length: CODE_LENGTH },
  zeta: {
    ...DEFAULT_POLICY.security_code_fallback,
    code_length: CODE_LENGTH,
    max_biometric_attempts: 2,
    max_code_attempts: 2,
    require_biometric_first: true,
  },
}
export const policyOf = (organizationId: string): Policy => ({
  ...DEFAULT_POLICY,
  security_code_fallback: fallbackOf[organizationId] ?? DEFAULT_POLICY.security_code_fallback,
})

export function memoryStores(tables: Tables, sessions: MemorySessions): MemoryStores {
  const { flush: _, loseLatest: __, durable: ___, of: ____, oldest: _____, ...sessionStore } = sessions
  return {
    accounts: memoryAccounts(tables),
    profiles: memoryProfiles(tables),
    profileLinks: memoryProfileLinks(tables),
    pendingActions: memoryPendingActions(tables),
    authentications: memoryAuthentications(tables),
    comparisonSets: memoryComparisonSets(tables),
    attemptLocks: memoryAttemptLocks(tables),
    invalidPatterns: memoryInvalidPatterns(tables),
    refusedPatterns: memoryRefusedPatterns(tables),
    securityCodes: memorySecurityCodes(tables),
    sessions: sessionStore,
    ...fixedSettings(),
    // No test here reads the user log.
    userLog: {
      record: () => {},
      recordDone: () => {},
      actions: () => ({ entries: [], count: 0 }),
      entries: () => ({ entries: [], count: 0 }),
    },
  }
}

const fixedSettings = (): Pick<MemoryStores, 'organizations' | 'policies' | 'typingWords'> => ({
  organizations: {
    find: (id) => ({
      ...{ id, name: id, defaultLanguage: 'en', languageMode: 'auto' },
      ...{ wordsVersion: 0, redirectOrigins: [], keyRate: null, createdAt: 0 },
    }),
  },
  policies: {
    list: (organizationId) => [
      {
        ...{ id: `policy of ${organizationId}`, policy: policyOf(organizationId), groups: [], isDefault: true },
        ...{ isShadow: false, createdAt: 0, updatedAt: null, archivedAt: null },
      },
    ],
  },
  typingWords: { list: () => [] },
})

interface Needs {
  readonly scheduler: Scheduler
  readonly stores: MemoryStores
  /** A planted bug's replacement of stores as this process sees them. */
  readonly seenAs: (stores: Stores) => Stores
  readonly targets: ProfileTargets
  readonly vault: Vault
  readonly codeHash: CodeHash
  /** A new id or token at each call. */
  readonly fresh: (kind: string) => string
  readonly randomDigits: (count: number) => string
}

/** People in the cache of a process: fewer than exist, so that entries are evicted. */
const REMEMBERED = 2
/** One list for all languages: long enough that a session's suggestions differ. */
const WORDS = coreWords('en').slice(0, 150)
const POOLS = { en: WORDS, fr: WORDS, de: WORDS, es: WORDS, it: WORDS, pt: WORDS, nl: WORDS }

/** An id as a UUID: the flows keep the ids of known patterns as bytes. */
const uuidOf = (id: string) => `01900000-0000-7000-8000-${id.replace(/\D/g, '').padStart(12, '0')}`

/** The shipped flows of one process, with a cache of its own. */
export function startProcess(needs: Needs, process: number) {
  const { scheduler, stores, fresh } = needs
  // Sound: each store keeps its name and its methods, which answer later.
  const through = Object.fromEntries(
    Object.entries(stores).map(([name, store]) => [name, scheduler.through<object>(process, name, store)]),
  ) as unknown as Stores
  const seen = needs.seenAs(through)
  const memory = createSettings({ ...seen, monotonicMs: scheduler.now })
  const given = {
    ...seen,
    scoring: standInScoring,
    vault: needs.vault,
    codeHash: needs.codeHash,
    memory: createPatternMemory(REMEMBERED * 20_000),
    people: createPersonCache(REMEMBERED * (PERSON_BYTES + PERSON_TEXT_BYTES)),
    settingsOf: async (organizationId: string) => ({ ...(await memory.settingsOf(organizationId)), words: POOLS }),
    targets: needs.targets,
    newId: () => uuidOf(fresh('id')),
    newToken: () => fresh('token'),
    now: scheduler.now,
    randomSeed: () => Number(fresh('seed').slice('seed-'.length)),
    randomDigits: needs.randomDigits,
    replay: 'reject' as const,
    adaptation: true,
    geography: { locate: () => ({ network: null, place: null, anonymizer: null }) },
    contextIndicators: [],
  }
  const securityCodes = createSecurityCodeFlows(given)
  const accounts = createAccountFlows({
    ...given,
    securityCodes,
    ssoArtifacts: { endAll: async () => {} },
    forgetPerson: async (person) => forgetPerson(given, person),
  })
  const profileFlows = createProfileFlows(given)
  const pendingActionFlows = createPendingActionFlows(given)
  return {
    bootstrap: createBootstrap(given),
    accounts,
    ...createPatternFlows({ ...given, create: accounts.create }),
    securityCodes,
    profiles: profileFlows,
    pendingActions: pendingActionFlows,
    profileLinks: createProfileLinkFlows({ ...given, createAccount: accounts.create }),
    unlock: createUnlock(given),
    userActions: createUserActions({
      ...given,
      profileFlows,
      pendingActionFlows,
      ssoArtifacts: { endAll: async () => {} },
    }),
  }
}
export type Flows = ReturnType<typeof startProcess>
