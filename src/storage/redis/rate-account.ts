import type { RateAccounts } from '../rate-account.js'
import { type Redis, script } from './client.js'

/** Accounts of keys in Redis, by its clock. An account in the past expires. A call is one script and one round trip. */
export const redisRateAccounts = (redis: Redis): RateAccounts => ({
  async spend(organizationId, keyId, spentMs) {
    const ahead = await redis.run(SPEND, [`ks:{${organizationId}:${keyId}}:rate`], [String(spentMs)])
    return Number(ahead)
  },
})

const SPEND = script(`
  local time = redis.call('time')
  local now = time[1] * 1000 + time[2] / 1000
  local ahead = math.max(0, tonumber(redis.call('get', KEYS[1]) or 0) - now) + ARGV[1]
  redis.call('set', KEYS[1], string.format('%.3f', now + ahead), 'px', math.ceil(ahead) + 1)
  return string.format('%.3f', ahead)`)
