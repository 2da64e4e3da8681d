import { v7 as uuid } from 'uuid'
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { seededRandom } from '../../src/calibration/random.js'
import { Refusal } from '../../src/domain/refusal.js'
import { postgresAttemptLocks } from '../../src/storage/postgres/attempt/attempt-lock.js'
import { postgresAuthentications } from '../../src/storage/postgres/attempt/authentication.js'
import { postgresInvalidPatterns } from '../../src/storage/postgres/attempt/invalid-patterns.js'
import { postgresRefusedPatterns } from '../../src/storage/postgres/attempt/refused-patterns.js'
import { postgresSessions } from '../../src/storage/postgres/attempt/session.js'
import { connectPostgres, type Database } from '../../src/storage/postgres/connection/client.js'
import { postgresAccounts } from '../../src/storage/postgres/person/account.js'
import { postgresComparisonSets } from '../../src/storage/postgres/person/comparison-set.js'
import { postgresPendingActions } from '../../src/storage/postgres/person/pending-action.js'
import { postgresProfiles } from '../../src/storage/postgres/person/profile.js'
import { postgresProfileLinks } from '../../src/storage/postgres/person/profile-link.js'
import { postgresSecurityCodes } from '../../src/storage/postgres/person/security-code.js'
import { connectRedis } from '../../src/storage/redis/client.js'
import { redisSessions } from '../../src/storage/redis/session.js'
import type { SessionStore } from '../../src/storage/session.js'
import { organization } from '../harness/fixtures.js'
import { until } from '../harness/patience.js'
import { sharedDatabase } from '../servers/database.js'
import { randomOn } from './scheduler.js'
import { memoryStores } from './service.js'
import { type Call, MEMBERS, memberCalls, sessionCalls } from './stores/calls.js'
import { memorySessions } from './stores/session.js'
import { createTables, type Immediate } from './stores/tables.js'

const CALLS = 60
/** Multiplies the limits of the servers' answers: a late answer would leave the effect of its call unknown. */
const PATIENCE = 200

const now = () => Date.now()

/** The same store with asynchronous methods. */
function later<Store extends object>(store: Immediate<Store>): Store {
  const methods = Object.entries(store as Record<string, (...args: unknown[]) => unknown>)
  // Sound: each method has the same name and arguments and answers later.
  return Object.fromEntries(
    methods.map(([name, work]) => [
      name,
      typeof work === 'function' ? async (...args: unknown[]) => work(...args) : work,
    ]),
  ) as unknown as Store
}

type AnyStores = Readonly<Record<string, Readonly<Record<string, (...args: unknown[]) => unknown>>>>

/**
 * The result of a call, or the kind of its refusal. Durations that the servers measure become true if any is left.
 */
async function given(stores: AnyStores, [store, method, ...args]: Call): Promise<unknown> {
  try {
    return plain(await stores[store]?.[method]?.(...args))
  } catch (error) {
    if (error instanceof Refusal && error.kind !== 'degraded') return error.kind
    throw error
  }
}
const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value ?? null, (key, one) => {
      if (key === 'patternsClosedForMs' || key === 'remainingMs' || key === 'nth') return one > 0
      return one?.type === 'Buffer' ? Buffer.from(one.data).toString('hex') : one instanceof Uint8Array ? hex(one) : one
    }),
  )
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

/**
 * Compares both stores call by call; a difference is reported with the calls before it. Returns the number of calls
 * that had an effect or a result.
 */
async function sameOf(memory: AnyStores, real: AnyStores, calls: () => Call, n: number): Promise<number> {
  const before: string[] = []
  let done = 0
  for (let i = 0; i < n; i++) {
    const call = calls()
    before.push(
      JSON.stringify(
        call.map((one) => (one instanceof Uint8Array ? hex(one) : one)),
        (_, one) => (typeof one === 'bigint' ? String(one) : one),
      ),
    )
    const [expected, found] = [await given(real, call), await given(memory, call)]
    expect(found, `after\n${before.slice(-12).join('\n')}`).toEqual(expected)
    if (expected !== null && expected !== false) done++
  }
  return done
}

/** Plays random sequences of calls against memory and against the real servers, with a database at the URL. */
export function comparesStores(sequences: number, databaseUrl = async () => (await sharedDatabase()).url): void {
  const seeds = Array.from({ length: sequences }, (_, i) => i + 1)
  let database: Database
  beforeAll(async () => {
    database = connectPostgres({ url: await databaseUrl(), max: 4, patience: PATIENCE })
  })
  afterAll(() => database.close())

  describe('the in-memory members of the simulator', () => {
    it(`behave like PostgreSQL, in ${sequences} sequences of calls on accounts, profiles, attempts, codes and links`, async () => {
      const real = {
        accounts: postgresAccounts(database),
        profiles: postgresProfiles(database),
        profileLinks: postgresProfileLinks(database),
        pendingActions: postgresPendingActions(database),
        authentications: postgresAuthentications(database),
        comparisonSets: postgresComparisonSets(database),
        attemptLocks: postgresAttemptLocks(database),
        invalidPatterns: postgresInvalidPatterns(database),
        refusedPatterns: postgresRefusedPatterns(database),
        securityCodes: postgresSecurityCodes(database),
      }
      let done = 0
      for (const seed of seeds) {
        const tables = createTables(now)
        const memory = memoryStores(tables, memorySessions(now))
        const calls = memberCalls(randomOn(seededRandom(seed)), tables, await organization(database))
        // Sound: the calls are generated from the names and types of these methods.
        done += await sameOf(memory as unknown as AnyStores, real as unknown as AnyStores, calls, CALLS)
      }
      expect(done).toBeGreaterThan((sequences * CALLS) / 2)
    })
  })

  describe.each([
    { name: 'PostgreSQL', withRedis: false },
    { name: 'Redis', withRedis: true },
  ])('the sessions of the simulator and of $name', ({ withRedis }) => {
    const url = inject('redisUrl')
    it.skipIf(withRedis && url === null)(`behave the same in ${sequences} sequences of calls`, async () => {
      const redis = withRedis && url !== null ? await connectRedis({ url, patience: PATIENCE }) : null
      onTestFinished(() => redis?.close())
      const real = redis === null ? postgresSessions(database) : redisSessions(redis)
      for (const seed of seeds) {
        const memory = later<SessionStore>(memorySessions(now))
        const random = randomOn(seededRandom(seed))
        const org = withRedis ? uuid() : await organization(database)
        const both = [{ sessions: memory }, { sessions: real }] as unknown as [AnyStores, AnyStores] // Sound, as above.
        const calls = sessionCalls(random, org, withRedis)
        await sameOf(...both, calls.next, CALLS / 2)
        for (const { sha256, userRef } of calls.endSoon()) {
          const session = { sha256, userRef, memberRef: random.pick(MEMBERS), lifetimeMs: 1 }
          await Promise.all([memory.mintImplicit(org, session), real.mintImplicit(org, session)])
          for (const store of [memory, real]) {
            await store.markTypingFailed(org, userRef, sha256)
            await until(async () => (await store.find(org, userRef, sha256)) === null)
          }
        }
        await sameOf(...both, calls.next, CALLS / 2)
      }
    })
  })
}
