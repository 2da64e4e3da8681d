import type { Redis } from 'ioredis'
import type { SessionStore } from '../../src/storage/session.js'

/** The session operations of a verify. */
export type UsualSessions = Pick<SessionStore, 'mint' | 'find' | 'reserve' | 'release' | 'markTypingFailed'>

const ATTEMPTS_KEPT_S = 900
const FIELD = { biometric: 'typed', security_code: 'coded' } as const

/** Sessions as hashes that expire, with sequential commands. */
export function usualSessions(redis: Redis): UsualSessions {
  const keyOf = (organizationId: string, userRef: string, sha256: string) =>
    `peer:${organizationId}:${userRef}:${sha256}`
  async function countAttempt(organizationId: string, userRef: string): Promise<number> {
    const key = keyOf(organizationId, userRef, 'attempts')
    const [nth] = await Promise.all([redis.incr(key), redis.expire(key, ATTEMPTS_KEPT_S)])
    return nth
  }
  async function find(key: string, userRef: string) {
    const [memberRef, typed, coded, failed] = await redis.hmget(key, 'member', 'typed', 'coded', 'failed')
    if (memberRef === null || memberRef === undefined) return null
    const used = { biometric: Number(typed), security_code: Number(coded), typingFailed: failed === '1' }
    return { userRef, memberRef, used, memberVersion: null, reportedAction: null, words: null }
  }
  return {
    async mint(organizationId, { userRef, memberRef, sha256, lifetimeMs }) {
      const key = keyOf(organizationId, userRef, sha256)
      await redis.hset(key, { member: memberRef ?? '', typed: 0, coded: 0 })
      await redis.pexpire(key, lifetimeMs)
    },
    find: (organizationId, userRef, sha256) => find(keyOf(organizationId, userRef, sha256), userRef),
    async reserve(organizationId, userRef, sha256, kind, budget) {
      const key = keyOf(organizationId, userRef, sha256)
      const session = await find(key, userRef)
      if (session === null) return null
      const n = await redis.hincrby(key, FIELD[kind], 1)
      if (n <= budget) {
        const nth = await countAttempt(organizationId, userRef)
        return { outcome: 'reserved', session: { ...session, used: { ...session.used, [kind]: n } }, nth }
      }
      await redis.hincrby(key, FIELD[kind], -1)
      return { outcome: 'exhausted', session }
    },
    async release(organizationId, userRef, sha256, kind) {
      await redis.hincrby(keyOf(organizationId, userRef, sha256), FIELD[kind], -1)
    },
    async markTypingFailed(organizationId, userRef, sha256) {
      await redis.hset(keyOf(organizationId, userRef, sha256), 'failed', '1')
    },
  }
}
