import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { type RateAccounts, rateAccountsHere } from '../../src/storage/rate-account.js'
import { connectRedis, type Redis } from '../../src/storage/redis/client.js'
import { redisRateAccounts } from '../../src/storage/redis/rate-account.js'

function contract(accounts: () => RateAccounts): void {
  it('adds up what is spent, minus the time that has passed', async () => {
    const key = randomUUID()
    const first = await accounts().spend('o', key, 60_000)
    expect(first).toBeCloseTo(60_000, 3)
    const second = await accounts().spend('o', key, 60_000)
    // The time that has passed is subtracted from the sum.
    expect(second).toBeGreaterThan(60_000)
    expect(second).toBeLessThanOrEqual(120_000)
    expect(await accounts().spend('o', randomUUID(), 0.25)).toBeCloseTo(0.25, 2)
  })

  it('loses no concurrent call', async () => {
    const key = randomUUID()
    const all = await Promise.all(Array.from({ length: 50 }, () => accounts().spend('o', key, 10_000)))
    expect(Math.max(...all)).toBeGreaterThan(50 * 10_000 - 10_000)
    expect(new Set(all.map((ms) => Math.ceil(ms / 10_000))).size).toBe(50)
  })
}

describe('accounts of keys in memory', () => {
  const accounts = rateAccountsHere(() => performance.now())
  contract(() => accounts)
})

describe.skipIf(inject('redisUrl') === null)('accounts of keys in redis', () => {
  let redis: Redis
  beforeAll(async () => {
    redis = await connectRedis({ url: inject('redisUrl') ?? '' })
  })
  afterAll(() => redis.close())
  contract(() => redisRateAccounts(redis))
})
