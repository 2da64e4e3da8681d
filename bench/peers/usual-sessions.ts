import type { Redis } from 'ioredis'
import type { Session, SessionStore, SessionWords } from '../../src/storage/session.js'

/** A session that was not read. */
const UNREAD: Session = {
  userRef: '',
  memberRef: null,
  memberVersion: null,
  used: { biometric: 0, security_code: 0, typingFailed: false },
  reportedAction: null,
  words: null,
}

/** The session operations of a sign-in. */
export type UsualSessions = Pick<
  SessionStore,
  'mint' | 'find' | 'reserve' | 'release' | 'changeWords' | 'markTypingFailed'
>

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
    const fields = await redis.hmget(key, 'member', 'version', 'typed', 'coded', 'failed', 'words')
    const [memberRef, version, typed, coded, failed, text] = fields
    if (memberRef === null || memberRef === undefined) return null
    const used = { biometric: Number(typed), security_code: Number(coded), typingFailed: failed === '1' }
    // Sound: `keepWords` writes it.
    const words = text === null || text === undefined ? null : (JSON.parse(text) as SessionWords)
    const memberVersion = version ? Number(version) : null
    return { userRef, memberRef, used, memberVersion, reportedAction: null, words }
  }
  async function keepWords(key: string, words: SessionWords): Promise<SessionWords> {
    await redis.hset(key, 'words', JSON.stringify(words))
    return words
  }
  return {
    async mint(organizationId, { userRef, memberRef, memberVersion, sha256, lifetimeMs, words }) {
      const key = keyOf(organizationId, userRef, sha256)
      const issued = words ? { words: JSON.stringify({ issued: words, used: 0 }) } : {}
      await redis.hset(key, { member: memberRef ?? '', version: memberVersion ?? '', typed: 0, coded: 0, ...issued })
      await redis.pexpire(key, lifetimeMs)
    },
    find: (organizationId, userRef, sha256) => find(keyOf(organizationId, userRef, sha256), userRef),
    async reserve(organizationId, userRef, sha256, { kind, budget, withPerson = false }) {
      // The usual session brings no person, so the flow reads session and person first, and reserves then.
      if (withPerson) return { outcome: 'empty', session: UNREAD }
      const key = keyOf(organizationId, userRef, sha256)
      const session = await find(key, userRef)
      if (session === null) return null
      const n = await redis.hincrby(key, FIELD[kind], 1)
      if (n <= budget) {
        const nth = await countAttempt(organizationId, userRef)
        const words =
          session.words === null || kind !== 'biometric'
            ? session.words
            : await keepWords(key, { ...session.words, used: session.words.used + 1 })
        return { outcome: 'reserved', session: { ...session, words, used: { ...session.used, [kind]: n } }, nth }
      }
      await redis.hincrby(key, FIELD[kind], -1)
      return { outcome: 'exhausted', session }
    },
    async release(organizationId, userRef, sha256, { kind }) {
      await redis.hincrby(keyOf(organizationId, userRef, sha256), FIELD[kind], -1)
    },
    changeWords: async (organizationId, userRef, sha256, { to }) => ({
      changed: true,
      words: await keepWords(keyOf(organizationId, userRef, sha256), to),
    }),
    async markTypingFailed(organizationId, userRef, sha256) {
      await redis.hset(keyOf(organizationId, userRef, sha256), 'failed', '1')
    },
  }
}
