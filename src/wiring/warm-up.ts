import type { Account, Member } from '../domain/account.js'
import { NO_ATTEMPTS } from '../domain/attempts.js'
import { NO_HABITS } from '../domain/context/circumstances.js'
import { DEFAULT_POLICY } from '../domain/policy.js'
import { SAMPLE_FORMAT } from '../domain/sample-format.js'
import { CORE_POOLS, suggestWords } from '../domain/typing-words.js'
import { createPatternMemory } from '../flows/attempt/pattern-memory.js'
import { createPersonCache } from '../flows/attempt/person-cache.js'
import { createVerify, type VerifyFlow } from '../flows/attempt/verify.js'
import type { Settings } from '../flows/organization/settings.js'
import type { Config } from '../process/config.js'
import type { Scoring } from '../scoring/scoring.js'
import type { AccountStore } from '../storage/account.js'
import type { AuthenticationStore } from '../storage/authentication.js'
import type { ComparisonSetStore } from '../storage/comparison-set.js'
import type { ProfileStore, StoredReference } from '../storage/profile.js'
import type { Session, SessionStore } from '../storage/session.js'
import type { Vault } from '../storage/vault.js'
import { type MadeUpPerson, person } from '../typist/made-up-person.js'
import type { Stores } from './stores.js'

/** The first verify of a person is compared with references, the later ones with a cached template. */
const PEOPLE = 8
const VERIFIES_EACH = 8
const REFERENCES = 5

const ORGANIZATION_ID = '00000000-0000-7000-8000-000000000000'
const CACHE_BYTES = 1_000_000
/** The hash of no API key, and a key for replay marks that nobody compares. */
const NO_KEY = new Uint8Array(32)

interface Needs {
  readonly config: Pick<Config, 'targets' | 'replay' | 'contextIndicators'>
  readonly scoring: Scoring
  readonly stores: Pick<
    Stores,
    'accounts' | 'profiles' | 'sessions' | 'authentications' | 'organizations' | 'policies' | 'apiKeys' | 'geography'
  >
  readonly newId: () => string
  readonly now: () => number
}

/** A made-up person with a complete profile. */
interface Enrolled {
  readonly typist: MadeUpPerson
  readonly account: Account
  readonly member: Member
  readonly references: readonly StoredReference[]
}

/**
 * Verifies made-up people, so that before the first caller needs it V8 and the scoring kernels have compiled the path of a
 * verify, and the connections of the stores are open and have prepared its statements. Each statement is asked with an
 * organization that does not exist: it finds nothing and writes nothing. Returns the number of attempts whose typing was
 * recognized, of `PEOPLE * VERIFIES_EACH`. Rejects if a store does not answer.
 */
export async function warmUp(needs: Needs): Promise<number> {
  const people = await Promise.all(Array.from({ length: PEOPLE }, (_, seed) => enrolled(needs, seed)))
  const verify = verifyOf(needs, people)
  let recognized = 0
  for (let nth = 0; nth < VERIFIES_EACH; nth++) {
    const answers = await Promise.all(
      people.map(({ typist, account: { userRef } }) => {
        const who = { organizationId: ORGANIZATION_ID, userRef, memberRef: null }
        const hints = { language: null, acceptLanguage: null }
        return verify(who, userRef, { kind: 'pattern', body: typed(typist, REFERENCES + nth) }, hints)
      }),
    )
    recognized += answers.filter((answer) => answer.recognizedUser).length
  }
  return recognized
}

const typed = (typist: MadeUpPerson, session: number): Uint8Array =>
  Buffer.from(JSON.stringify(typist.types(suggestWords('en', session).join(' '), session)))

async function enrolled({ scoring, newId, now }: Needs, seed: number): Promise<Enrolled> {
  const typist = person(seed)
  const results = await Promise.all(
    Array.from({ length: REFERENCES }, (_, session) =>
      scoring.score({ body: typed(typist, session), references: [], replayKey: NO_KEY }),
    ),
  )
  const references = results.flatMap((result) =>
    result.ok
      ? [{ id: newId(), generation: 0, mode: 'visible', sealed: result.reading.sample, kind: 'enrolled' } as const]
      : [],
  )
  const userRef = `warm-up-${seed}`
  return { typist, account: accountOf(newId(), userRef, now()), member: memberOf(newId(), userRef, now()), references }
}

const accountOf = (id: string, userRef: string, createdAt: number): Account => ({
  id,
  userRef,
  type: 'nominative',
  displayName: null,
  memberSelection: 'ask',
  groups: [],
  tag: {},
  createdAt,
})

const memberOf = (id: string, memberRef: string, at: number): Member => ({
  id,
  memberRef,
  displayName: null,
  generation: 0,
  nPatternsRef: REFERENCES,
  nVisible: REFERENCES,
  nSensitive: 0,
  everReset: false,
  completedAt: at,
  lastSuccessAt: null,
  preferredLanguage: null,
  code: { set: false, temporary: false, expiresAt: null, used: false, version: 0 },
  attempts: NO_ATTEMPTS,
  attemptsVersion: 0,
  rowVersion: 0,
  patternsClosedForMs: 0,
  createdAt: at,
  lastTypedAt: null,
  profileVersion: REFERENCES,
  sampleFormat: SAMPLE_FORMAT,
  successor: null,
  pending: null,
  adaptedAt: null,
  habits: NO_HABITS,
})

/** The flow of a verify that asks each store and goes on with these people, whom no store knows. */
function verifyOf({ config, scoring, stores, newId, now }: Needs, people: readonly Enrolled[]): VerifyFlow {
  const settings = settingsAt(newId(), now())
  const { accounts, profiles, sessions, authentications, organizations, policies, apiKeys } = stores
  return createVerify({
    ...config,
    scoring,
    geography: stores.geography,
    newId,
    now,
    adaptation: false,
    randomSeed: () => 1,
    people: createPersonCache(CACHE_BYTES),
    memory: createPatternMemory(CACHE_BYTES),
    async settingsOf(organizationId) {
      await Promise.all([organizations.find(organizationId), policies.list(organizationId, false)])
      return settings
    },
    accounts: part<AccountStore>({
      async find(organizationId, userRef, memberRef) {
        await accounts.find(organizationId, userRef, memberRef)
        return people.find(({ account }) => account.userRef === userRef) ?? null
      },
    }),
    profiles: part<ProfileStore>({
      async references(organizationId, memberId) {
        await profiles.references(organizationId, memberId)
        return [...(people.find(({ member }) => member.id === memberId)?.references ?? [])]
      },
    }),
    comparisonSets: part<ComparisonSetStore>({ find: async () => null }),
    sessions: part<SessionStore>({
      keepsCarried: false,
      async find(organizationId, userRef, sha256) {
        await Promise.all([apiKeys.resolve(NO_KEY), sessions.find(organizationId, userRef, sha256)])
        return sessionOf(userRef)
      },
      async reserve(organizationId, userRef, ...rest) {
        // The statement of a bootstrap, and that of a reservation.
        await accounts.find(organizationId, userRef, null, { withComparisonSet: true })
        await sessions.reserve(organizationId, userRef, ...rest)
        const found = people.find(({ account }) => account.userRef === userRef)
        const person = found === undefined ? {} : { person: { read: { ...found, comparisonSet: null } } }
        return { outcome: 'reserved', session: sessionOf(userRef), nth: 1, ...person }
      },
      changeWords: async () => null,
    }),
    authentications: part<AuthenticationStore>({
      tested: authentications.tested,
      async record(organizationId, attempt, change) {
        await authentications.record(organizationId, attempt, change)
        return 'recorded'
      },
    }),
    vault: part<Vault>({
      replayKey: async () => NO_KEY,
      seal: async (_organizationId, _binding, plain) => plain,
      open: async (_organizationId, _binding, sealed) => sealed,
      sealFor: async (_organizationId, _purpose, plain) => plain,
    }),
    securityCodes: part({}),
    codeHash: part({}),
    invalidPatterns: part({}),
  })
}

const sessionOf = (userRef: string): Session => ({
  userRef,
  memberRef: userRef,
  memberVersion: null,
  used: { biometric: 1, security_code: 0, typingFailed: false },
  reportedAction: null,
  words: null,
})

const settingsAt = (policyId: string, createdAt: number): Settings => ({
  organization: {
    id: ORGANIZATION_ID,
    name: 'warm-up',
    defaultLanguage: 'en',
    languageMode: 'auto',
    wordsVersion: 0,
    redirectOrigins: [],
    keyRate: null,
    createdAt,
  },
  policy: { id: policyId, policy: DEFAULT_POLICY },
  assigned: [],
  shadow: null,
  words: CORE_POOLS,
})

/** A store with only these methods, because the verify of a typing pattern calls no others. */
const part = <Store>(methods: Partial<Store>): Store => methods as Store
