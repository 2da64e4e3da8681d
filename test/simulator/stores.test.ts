import { v7 as uuid } from 'uuid'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { seededRandom } from '../../src/calibration/random.js'
import { Refusal } from '../../src/domain/refusal.js'
import { postgresAttemptLocks } from '../../src/storage/postgres/attempt/attempt-lock.js'
import { postgresAuthentications } from '../../src/storage/postgres/attempt/authentication.js'
import { postgresInvalidPatterns } from '../../src/storage/postgres/attempt/invalid-patterns.js'
import { postgresRefusedPatterns } from '../../src/storage/postgres/attempt/refused-patterns.js'
import { postgresSessions } from '../../src/storage/postgres/attempt/session.js'
import { connectPostgres, type Database } from '../../src/storage/postgres/connection/client.js'
import { postgresAccounts } from '../../src/storage/postgres/person/account.js'
import { postgresPendingActions } from '../../src/storage/postgres/person/pending-action.js'
import { postgresProfiles } from '../../src/storage/postgres/person/profile.js'
import { postgresProfileLinks } from '../../src/storage/postgres/person/profile-link.js'
import { postgresSecurityCodes } from '../../src/storage/postgres/person/security-code.js'
import { connectRedis, type Redis } from '../../src/storage/redis/client.js'
import { redisSessions } from '../../src/storage/redis/session.js'
import type { SessionStore } from '../../src/storage/session.js'
import { until } from '../patience.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'
import { organization } from '../storage/fixtures.js'
import { sessionContract } from '../storage/session.contract.js'
import { randomOn } from './scheduler.js'
import { memoryStores } from './service.js'
import { type Call, MEMBERS, memberCalls, sessionCalls } from './stores/calls.js'
import { memorySessions } from './stores/session.js'
import { createTables, type Immediate } from './stores/tables.js'

/** Random sequences of calls that run against memory and against the real server. */
const SEQUENCES = Number(process.env.SIMULATOR_SEQUENCES ?? 15)
const CALLS = 60
const PATIENCE_MS = Math.max(60_000, SEQUENCES * 4_000)

const now = () => Date.now()

/** The same store with asynchronous methods. */
function later<Store extends object>(store: Immediate<Store>): Store {
  const methods = Object.entries(store as Record<string, (...args: unknown[]) => unknown>)
  // Sound: each method has the same name and arguments and answers later.
  return Object.fromEntries(
    methods.map(([name, work]) => [name, async (...args: unknown[]) => work(...args)]),
  ) as unknown as Store
}

describe('the in-memory sessions of the simulator', () => {
  const store = later<SessionStore>(memorySessions(now))
  sessionContract(
    () => store,
    () => 'acme',
  )
})

type AnyStores = Readonly<Record<string, Readonly<Record<string, (...args: unknown[]) => unknown>>>>

/**
 * The result of a call, or the kind of its refusal. Durations that the servers measure become true if any is left.
 * Throws if a server did not answer in time.
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

/**
 * Plays `SEQUENCES` seeds to their end. A sequence that a loaded machine broke off is skipped, because the effect of
 * its last call is unknown.
 */
async function inSequences(play: (seed: number) => Promise<void>): Promise<void> {
  for (let seed = 1, played = 0; played < SEQUENCES; seed++) {
    try {
      await play(seed)
      played++
    } catch (error) {
      const late = error instanceof Refusal && error.kind === 'degraded'
      if (!late || seed > 3 * SEQUENCES) throw error
    }
  }
}

let fresh: FreshDatabase
let database: Database
beforeAll(async () => {
  fresh = await freshDatabase()
  database = connectPostgres({ url: fresh.url, max: 4, patience: 10 })
})
afterAll(async () => {
  await database.close()
  await fresh.drop()
})

describe('the in-memory members of the simulator', () => {
  it(
    `behave like PostgreSQL, in ${SEQUENCES} sequences of ${CALLS} calls on accounts, profiles, attempts, codes and links`,
    async () => {
      const real = {
        accounts: postgresAccounts(database),
        profiles: postgresProfiles(database),
        profileLinks: postgresProfileLinks(database),
        pendingActions: postgresPendingActions(database),
        authentications: postgresAuthentications(database),
        attemptLocks: postgresAttemptLocks(database),
        invalidPatterns: postgresInvalidPatterns(database),
        refusedPatterns: postgresRefusedPatterns(database),
        securityCodes: postgresSecurityCodes(database),
      }
      let done = 0
      await inSequences(async (seed) => {
        const tables = createTables(now)
        const memory = memoryStores(tables, memorySessions(now))
        const calls = memberCalls(randomOn(seededRandom(seed)), tables, await organization(database))
        // Sound: the calls are generated from the names and types of these methods.
        done += await sameOf(memory as unknown as AnyStores, real as unknown as AnyStores, calls, CALLS)
      })
      expect(done).toBeGreaterThan((SEQUENCES * CALLS) / 2)
    },
    PATIENCE_MS,
  )
})

describe.each([
  { name: 'PostgreSQL', withRedis: false },
  { name: 'Redis', withRedis: true },
])('the sessions of the simulator and of $name', ({ withRedis }) => {
  let redis: Redis | null = null
  beforeAll(async () => {
    if (withRedis && inject('redisUrl') !== null) redis = await connectRedis({ url: inject('redisUrl') ?? '' })
  })
  afterAll(() => redis?.close())

  it.skipIf(withRedis && inject('redisUrl') === null)(
    `behave the same in ${SEQUENCES} sequences of ${CALLS} calls`,
    async () => {
      const real = redis === null ? postgresSessions(database) : redisSessions(redis)
      await inSequences(async (seed) => {
        const memory = later<SessionStore>(memorySessions(now))
        const random = randomOn(seededRandom(seed))
        const org = withRedis ? uuid() : await organization(database)
        const both = [{ sessions: memory }, { sessions: real }] as unknown as [AnyStores, AnyStores] // as above
        const calls = sessionCalls(random, org)
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
      })
    },
    PATIENCE_MS,
  )
})
