import type { AttemptKind } from '../../domain/attempts.js'
import type { Session, SessionStore } from '../session.js'
import { type Redis, script } from './client.js'

/**
 * Sessions in Redis. A session is a hash (`m` member, `b` and `c` attempts used, `a` last success) that expires by
 * itself; a sorted set an account tells which there are. All keys of a user carry one hash tag, so that a script works
 * on one node of a cluster. Every method is one script: one round trip, and atomic.
 */
export function redisSessions(redis: Redis): SessionStore {
  return {
    async mint(organizationId, { sha256, userRef, memberRef, lifetimeMs }) {
      const keys = [sessionKey(organizationId, userRef, sha256), indexKey(organizationId, userRef)]
      await redis.run(MINT, keys, [sha256, memberRef ?? '', String(lifetimeMs)])
    },

    async find(organizationId, userRef, sha256) {
      const row = await redis.run(FIND, [sessionKey(organizationId, userRef, sha256)], [])
      return row === null ? null : toSession(userRef, row as Row)
    },

    async designate(organizationId, userRef, sha256, memberRef) {
      return (await redis.run(DESIGNATE, [sessionKey(organizationId, userRef, sha256)], [memberRef])) === 1
    },

    async reserve(organizationId, userRef, sha256, kind, budget) {
      const keys = [sessionKey(organizationId, userRef, sha256)]
      const reply = await redis.run(RESERVE, keys, [FIELD[kind], String(budget)])
      if (reply === null) return null
      const [reserved, ...row] = reply as [number, ...Row]
      return { outcome: reserved === 1 ? 'reserved' : 'exhausted', session: toSession(userRef, row) }
    },

    async release(organizationId, userRef, sha256, kind) {
      await redis.run(RELEASE, [sessionKey(organizationId, userRef, sha256)], [FIELD[kind]])
    },

    async markAuthenticated(organizationId, userRef, sha256, at) {
      await redis.run(MARK, [sessionKey(organizationId, userRef, sha256)], [String(at)])
    },

    async endAll(organizationId, userRef, memberRef, except) {
      const keys = [indexKey(organizationId, userRef)]
      await redis.run(END_ALL, keys, [sessionKey(organizationId, userRef, ''), memberRef ?? '', except ?? ''])
    },
  }
}

/** The hash tag: what stands in braces alone decides a key's slot. A userRef holds no brace. */
const tag = (organizationId: string, userRef: string) => `ks:{${organizationId}:${userRef}}:`
export const sessionKey = (organizationId: string, userRef: string, sha256: string) =>
  `${tag(organizationId, userRef)}session:${sha256}`
export const indexKey = (organizationId: string, userRef: string) => `${tag(organizationId, userRef)}sessions`

const FIELD: Record<AttemptKind, string> = { biometric: 'b', security_code: 'c' }

/** Fields m, b, c and a. An empty member or time stands for null. */
type Row = (string | null)[]

function toSession(userRef: string, [member, biometric, code, authenticatedAt]: Row): Session {
  return {
    userRef,
    memberRef: member || null,
    used: { biometric: Number(biometric), security_code: Number(code) },
    authenticatedAt: authenticatedAt ? Number(authenticatedAt) : null,
  }
}

// A session without `m` does not exist: no script below may create one that has expired.

const MINT = script(`
  local lifetime = tonumber(ARGV[3])
  redis.call('hset', KEYS[1], 'm', ARGV[2], 'b', 0, 'c', 0, 'a', '')
  redis.call('pexpire', KEYS[1], lifetime)
  local time = redis.call('time')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  redis.call('zremrangebyscore', KEYS[2], '-inf', now)
  redis.call('zadd', KEYS[2], now + lifetime, ARGV[1])
  if redis.call('pttl', KEYS[2]) < lifetime then redis.call('pexpire', KEYS[2], lifetime) end
  return 1`)

const FIND = script(`
  local row = redis.call('hmget', KEYS[1], 'm', 'b', 'c', 'a')
  if not row[1] then return nil end
  return row`)

const DESIGNATE = script(`
  local member = redis.call('hget', KEYS[1], 'm')
  if member == ARGV[1] then return 1 end
  if member ~= '' then return 0 end
  redis.call('hset', KEYS[1], 'm', ARGV[1])
  return 1`)

const RESERVE = script(`
  local used = redis.call('hget', KEYS[1], ARGV[1])
  if not used then return nil end
  local reserved = 0
  if tonumber(used) < tonumber(ARGV[2]) then
    redis.call('hincrby', KEYS[1], ARGV[1], 1)
    reserved = 1
  end
  local row = redis.call('hmget', KEYS[1], 'm', 'b', 'c', 'a')
  return {reserved, row[1], row[2], row[3], row[4]}`)

const RELEASE = script(`
  local used = redis.call('hget', KEYS[1], ARGV[1])
  if used and tonumber(used) > 0 then redis.call('hincrby', KEYS[1], ARGV[1], -1) end
  return 1`)

const MARK = script(`
  if redis.call('exists', KEYS[1]) == 1 then redis.call('hset', KEYS[1], 'a', ARGV[1]) end
  return 1`)

// The session keys are not among KEYS, which only their hash tag allows: they lie in the slot of the index.
const END_ALL = script(`
  for _, sha256 in ipairs(redis.call('zrange', KEYS[1], 0, -1)) do
    local key = ARGV[1] .. sha256
    local member = redis.call('hget', key, 'm')
    if sha256 ~= ARGV[3] and (ARGV[2] == '' or not member or member == '' or member == ARGV[2]) then
      redis.call('del', key)
      redis.call('zrem', KEYS[1], sha256)
    end
  end
  return 1`)
