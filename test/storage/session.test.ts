import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { postgresSessions } from '../../src/storage/postgres/attempt/session.js'
import { postgresRetention } from '../../src/storage/postgres/insight/retention.js'
import { connectRedis, type Redis, script } from '../../src/storage/redis/client.js'
import { attemptsKey, implicitKey, indexKey, redisSessions, sessionKey } from '../../src/storage/redis/session.js'
import { organization, sha256Hex } from '../harness/fixtures.js'
import { sharedDatabase } from '../servers/database.js'
import { sessionContract } from './session.contract.js'

const { database } = await sharedDatabase()
const organizationId = await organization(database)

describe('sessions in postgres', () => {
  const sessions = postgresSessions(database)
  sessionContract(
    () => sessions,
    () => organizationId,
  )

  // Regression: each sign-in deleted some, and scanned all live sessions to find them.
  it('stay after expiry until the sweep, which deletes no live one', async () => {
    const userRef = `user-${sha256Hex()}`
    const stored = () =>
      database.scoped(organizationId, (sql) => sql`select 1 from keystride.session where user_ref = ${userRef}`)
    for (const lifetimeMs of [-1000, -1000, 900_000])
      await sessions.mint(organizationId, { sha256: sha256Hex(), userRef, memberRef: null, lifetimeMs })
    await sessions.mintImplicit(organizationId, { sha256: sha256Hex(), userRef, memberRef: 'bo', lifetimeMs: -1000 })
    await sessions.mintImplicit(organizationId, { sha256: sha256Hex(), userRef, memberRef: 'cy', lifetimeMs: 900_000 })
    expect(await stored()).toHaveLength(5)
    expect(await postgresRetention(database).sweepSessions()).toBe(false)
    expect(await stored()).toHaveLength(2)
  })
})

describe.skipIf(inject('redisUrl') === null)('sessions in redis', () => {
  let redis: Redis
  beforeAll(async () => {
    redis = await connectRedis({ url: inject('redisUrl') ?? '' })
  })
  afterAll(() => redis.close())
  sessionContract(
    () => redisSessions(redis),
    () => '019a0000-0000-7000-8000-000000000001',
  )

  it('leave no key with their user’s name once all are ended', async () => {
    const [org, userRef] = ['019a0000-0000-7000-8000-000000000002', `user-${sha256Hex()}`]
    const sessions = redisSessions(redis)
    const minted = { sha256: sha256Hex(), userRef, memberRef: 'bo', lifetimeMs: 900_000 }
    await sessions.mint(org, minted)
    const implicit = await sessions.mintImplicit(org, { ...minted, sha256: sha256Hex() })
    const keys = [minted, implicit].map(({ sha256 }) => sessionKey(org, userRef, sha256))
    await sessions.reserve(org, userRef, implicit.sha256, { kind: 'biometric', budget: 3 })
    keys.push(indexKey(org, userRef), implicitKey(org, userRef, 'bo'), attemptsKey(org, userRef))
    const exist = script(`return redis.call('exists', unpack(KEYS))`)
    expect(await redis.run(exist, keys, [])).toBe(5)
    await sessions.endAll(org, userRef, null)
    expect(await redis.run(exist, keys, [])).toBe(0)
  })
})

describe('keys in redis', () => {
  it('of one user all have the hash tag of one slot of a cluster', () => {
    const keys = [sha256Hex(), sha256Hex()].map((sha256) => sessionKey('org', 'ada+1@x.y', sha256))
    keys.push(indexKey('org', 'ada+1@x.y'), implicitKey('org', 'ada+1@x.y', 'bo'), attemptsKey('org', 'ada+1@x.y'))
    expect(new Set(keys.map((key) => /\{(.+?)\}/.exec(key)?.[1]))).toEqual(new Set(['org:ada+1@x.y']))
  })
})
