import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { connectPostgres, type Database } from '../../src/storage/postgres/client.js'
import { postgresSessions } from '../../src/storage/postgres/session.js'
import { connectRedis, type Redis } from '../../src/storage/redis/client.js'
import { indexKey, redisSessions, sessionKey } from '../../src/storage/redis/session.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'
import { organization, sha256Hex } from './fixtures.js'
import { sessionContract } from './session.contract.js'

describe('sessions in postgres', () => {
  let fresh: FreshDatabase
  let database: Database
  let organizationId: string
  beforeAll(async () => {
    fresh = await freshDatabase()
    database = connectPostgres({ url: fresh.url, max: 4 })
    organizationId = await organization(database)
  })
  afterAll(async () => {
    await database.close()
    await fresh.drop()
  })
  sessionContract(
    () => postgresSessions(database),
    () => organizationId,
  )
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
})

describe('keys in redis', () => {
  it('of one user all carry the tag that puts them into one slot of a cluster', () => {
    const keys = [sha256Hex(), sha256Hex()].map((sha256) => sessionKey('org', 'ada+1@x.y', sha256))
    keys.push(indexKey('org', 'ada+1@x.y'))
    expect(new Set(keys.map((key) => /\{(.+?)\}/.exec(key)?.[1]))).toEqual(new Set(['org:ada+1@x.y']))
  })
})
