import type { AttemptKind } from '../../domain/attempts.js'
import type { Session, SessionStore, SessionWords } from '../session.js'
import { type Redis, script } from './client.js'

/**
 * Sessions in Redis. A session is a hash that expires by itself. Its fields are `m` (member), `b` and `c` (attempts used), `f` (typing
 * has failed), `p` (pending action reported), `v` (the member's row version), `w` (words issued), `x` (number of words used up), `r`
 * (the carried person) and `n` (number of recent reservations when the session was minted). Per account, a sorted set indexes the sessions, and a number counts recent reservations. Per member, a key names the implicit session.
 * All keys of a user have one hash tag, so that a script works on one node of a cluster. Every method is one script, which is atomic
 * and takes one round trip.
 */
export function redisSessions(redis: Redis): SessionStore {
  return {
    keepsCarried: true,

    async mint(organizationId, session) {
      const { sha256, userRef, memberRef, memberVersion = null, lifetimeMs, words = null, carried = null } = session
      const keys = [sessionKey(organizationId, userRef, sha256), indexKey(organizationId, userRef)]
      const args = [sha256, memberRef ?? '', String(lifetimeMs), String(memberVersion ?? ''), words ?? '']
      if (carried === null) await redis.run(MINT, keys, args)
      else {
        const all = [...keys, attemptsKey(organizationId, userRef)]
        await redis.run(MINT, all, [...args, Buffer.from(carried)], { fewer: keys })
      }
    },

    async mintImplicit(organizationId, { sha256, userRef, memberRef, lifetimeMs }) {
      const keys = [implicitKey(organizationId, userRef, memberRef), indexKey(organizationId, userRef)]
      const args = [sessionKey(organizationId, userRef, ''), sha256, memberRef, String(lifetimeMs)]
      const reply = await redis.run(MINT_IMPLICIT, keys, args)
      const [held, remainingMs, ...row] = reply as [string, number, ...Row]
      return { ...toSession(userRef, row), sha256: held, remainingMs }
    },

    async find(organizationId, userRef, sha256) {
      const row = await redis.run(FIND, [sessionKey(organizationId, userRef, sha256)], [])
      return row === null ? null : toSession(userRef, row as Row)
    },

    async designate(organizationId, userRef, sha256, memberRef) {
      return (await redis.run(DESIGNATE, [sessionKey(organizationId, userRef, sha256)], [memberRef])) === 1
    },

    async reserve(organizationId, userRef, sha256, { kind, budget, withPerson = false }) {
      const key = sessionKey(organizationId, userRef, sha256)
      const keys = [key, attemptsKey(organizationId, userRef)]
      const args = [FIELD[kind], String(budget), withPerson ? '1' : '']
      const reply = await redis.run(RESERVE, keys, args, { fewer: [key], inBytes: withPerson })
      if (reply === null) return null
      const [nth, ...row] = reply as [number, ...(string | Buffer | null)[]]
      const session = toSession(userRef, row.slice(0, FIELDS).map(textOf))
      if (nth < 0) return { outcome: 'empty', session }
      if (nth === 0) return { outcome: 'exhausted', session }
      const [sealed, before] = row.slice(FIELDS)
      const person = sealed instanceof Buffer ? { person: { sealed, nth: Number(before) } } : {}
      return { outcome: 'reserved', session, nth, ...person }
    },

    async release(organizationId, userRef, sha256, { kind, words }) {
      const key = sessionKey(organizationId, userRef, sha256)
      await redis.run(RELEASE, [key], [FIELD[kind], ...argumentsOf(words)])
    },

    async changeWords(organizationId, userRef, sha256, { from, to }) {
      const key = sessionKey(organizationId, userRef, sha256)
      const reply = await redis.run(CHANGE_WORDS, [key], [...argumentsOf(from), ...argumentsOf(to)])
      if (reply === null) return null
      const [changed, issued, used] = reply as [number, string | null, string | null]
      return { changed: changed === 1, words: toWords(issued, used) }
    },

    async markTypingFailed(organizationId, userRef, sha256) {
      await redis.run(MARK, [sessionKey(organizationId, userRef, sha256)], ['f', '1'])
    },

    async markReported(organizationId, userRef, sha256, actionId) {
      await redis.run(MARK, [sessionKey(organizationId, userRef, sha256)], ['p', actionId])
    },

    async end(organizationId, userRef, sha256) {
      const keys = [indexKey(organizationId, userRef)]
      const prefixes = [sessionKey(organizationId, userRef, ''), implicitKey(organizationId, userRef, '')]
      await redis.run(END, keys, [...prefixes, sha256])
    },

    async endAll(organizationId, userRef, memberRef, except) {
      const keys = [indexKey(organizationId, userRef)]
      const prefixes = [sessionKey(organizationId, userRef, ''), implicitKey(organizationId, userRef, '')]
      const attempts = attemptsKey(organizationId, userRef)
      await redis.run(END_ALL, keys, [...prefixes, memberRef ?? '', except ?? '', attempts])
    },
  }
}

/** Deletes the sessions and rate accounts of an organization, or of all. Scans all keys, a thousand at a time. */
export const endEverySession = (redis: Redis, organizationId = ''): Promise<void> =>
  redis.onEveryMaster(async (run) => {
    let cursor = '0'
    do cursor = String(await run(END_SOME, [cursor, `ks:{${organizationId}*`]))
    while (cursor !== '0')
  })

/** The prefix with the hash tag. Only the text in braces decides a key's slot. A userRef contains no brace. */
const tag = (organizationId: string, userRef: string) => `ks:{${organizationId}:${userRef}}:`
export const sessionKey = (organizationId: string, userRef: string, sha256: string) =>
  `${tag(organizationId, userRef)}session:${sha256}`
export const indexKey = (organizationId: string, userRef: string) => `${tag(organizationId, userRef)}sessions`
export const attemptsKey = (organizationId: string, userRef: string) => `${tag(organizationId, userRef)}attempts`
export const implicitKey = (organizationId: string, userRef: string, memberRef: string) =>
  `${tag(organizationId, userRef)}implicit:${memberRef}`

const FIELD: Record<AttemptKind, string> = { biometric: 'b', security_code: 'c' }

const argumentsOf = (words: SessionWords | null): string[] => [words?.issued ?? '', String(words?.used ?? 0)]

/** Number of fields in a `Row`. */
const FIELDS = 8

const textOf = (value: string | Buffer | null): string | null => value?.toString() ?? null

/** Fields m, b, c, f, p, v, w and x. An empty member, action, version or words stand for null. */
type Row = (string | null)[]

const toWords = (issued: string | null | undefined, used: string | number | null | undefined): SessionWords | null =>
  issued ? { issued, used: Number(used) } : null

function toSession(userRef: string, [member, biometric, code, failed, reported, version, issued, used]: Row): Session {
  return {
    userRef,
    memberRef: member || null,
    memberVersion: version ? Number(version) : null,
    used: { biometric: Number(biometric), security_code: Number(code), typingFailed: failed === '1' },
    reportedAction: reported || null,
    words: toWords(issued, used),
  }
}

// A session without `m` does not exist, so no script below may recreate an expired one.

/** Lua: creates a session and adds it to the index. */
const MINTING = `
  local function mint(key, index, sha256, member, lifetime, version, words)
    redis.call('hset', key, 'm', member, 'b', 0, 'c', 0, 'f', '', 'p', '', 'v', version, 'w', words, 'x', 0)
    redis.call('pexpire', key, lifetime)
    local time = redis.call('time')
    local now = time[1] * 1000 + math.floor(time[2] / 1000)
    redis.call('zremrangebyscore', index, '-inf', now)
    redis.call('zadd', index, now + lifetime, sha256)
    if redis.call('pttl', index) < lifetime then redis.call('pexpire', index, lifetime) end
  end`

const END_SOME = `
  local found = redis.call('scan', ARGV[1], 'match', ARGV[2], 'count', 1000)
  for _, key in ipairs(found[2]) do redis.call('unlink', key) end
  return found[1]`

const MINT = script(`${MINTING}
  mint(KEYS[1], KEYS[2], ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5])
  if KEYS[3] then redis.call('hset', KEYS[1], 'r', ARGV[6], 'n', redis.call('get', KEYS[3]) or 0) end
  return 1`)

const MINT_IMPLICIT = script(`${MINTING}
  local held = redis.call('get', KEYS[1])
  if not held or redis.call('exists', ARGV[1] .. held) == 0 then
    held = ARGV[2]
    mint(ARGV[1] .. held, KEYS[2], held, ARGV[3], tonumber(ARGV[4]), '', '')
    redis.call('set', KEYS[1], held, 'px', ARGV[4])
  end
  local row = redis.call('hmget', ARGV[1] .. held, 'm', 'b', 'c', 'f', 'p', 'v', 'w', 'x')
  return {held, redis.call('pttl', ARGV[1] .. held), unpack(row)}`)

const FIND = script(`
  local row = redis.call('hmget', KEYS[1], 'm', 'b', 'c', 'f', 'p', 'v', 'w', 'x')
  if not row[1] then return nil end
  return row`)

const DESIGNATE = script(`
  local member = redis.call('hget', KEYS[1], 'm')
  if member == ARGV[1] then return 1 end
  if member ~= '' then return 0 end
  redis.call('hset', KEYS[1], 'm', ARGV[1])
  return 1`)

const RESERVE = script(`
  local row = redis.call('hmget', KEYS[1], 'm', 'b', 'c', 'f', 'p', 'v', 'w', 'x')
  if not row[1] then return nil end
  if ARGV[3] ~= '' and redis.call('hexists', KEYS[1], 'r') == 0 then return {-1, unpack(row)} end
  local nth = 0
  local kind = ARGV[1] == 'b' and 2 or 3
  if tonumber(row[kind]) < tonumber(ARGV[2]) then
    row[kind] = redis.call('hincrby', KEYS[1], ARGV[1], 1)
    if kind == 2 and row[7] and row[7] ~= '' then row[8] = redis.call('hincrby', KEYS[1], 'x', 1) end
    nth = 1
    if KEYS[2] then
      nth = redis.call('incr', KEYS[2])
      if nth == 1 then redis.call('pexpire', KEYS[2], redis.call('pttl', KEYS[1])) end
    end
  end
  if nth == 0 then return {nth, unpack(row)} end
  if ARGV[3] ~= '' then
    local carried = redis.call('hmget', KEYS[1], 'r', 'n')
    row[9], row[10] = carried[1], carried[2]
  end
  -- The attempt changes the person, so what the session carries is used once, and takes memory only until then.
  if kind == 2 then redis.call('hdel', KEYS[1], 'r') end
  return {nth, unpack(row)}`)

const RELEASE = script(`
  local used = redis.call('hget', KEYS[1], ARGV[1])
  if used and tonumber(used) > 0 then redis.call('hincrby', KEYS[1], ARGV[1], -1) end
  local words = redis.call('hmget', KEYS[1], 'w', 'x')
  local isSame = ARGV[2] ~= '' and words[1] == ARGV[2] and words[2] == ARGV[3]
  if isSame and ARGV[1] == 'b' and tonumber(ARGV[3]) > 0 then redis.call('hincrby', KEYS[1], 'x', -1) end
  return 1`)

const CHANGE_WORDS = script(`
  local row = redis.call('hmget', KEYS[1], 'm', 'w', 'x')
  if not row[1] then return nil end
  local issued = row[2] or ''
  if issued ~= ARGV[1] or (issued ~= '' and row[3] ~= ARGV[2]) then return {0, row[2], row[3]} end
  redis.call('hset', KEYS[1], 'w', ARGV[3], 'x', ARGV[4])
  return {1, ARGV[3], ARGV[4]}`)

const MARK = script(`
  if redis.call('exists', KEYS[1]) == 1 then redis.call('hset', KEYS[1], ARGV[1], ARGV[2]) end
  return 1`)

// Scripts that get a prefix of keys use keys outside of KEYS. The common hash tag allows it, because all keys are in the slot of the
// index. While that slot moves to another node of a cluster, some keys may not have arrived. A session that is in the index but not
// on this node still exists, and must not count as ended.

/** Lua: ends a session, and deletes its member's implicit key if it names this session. */
const ENDING = `
  local time = redis.call('time')
  local lives = time[1] * 1000 + math.floor(time[2] / 1000) + 10
  local function away(index, sha256)
    return tonumber(redis.call('zscore', index, sha256) or 0) > lives
  end
  local AWAY = redis.error_reply('TRYAGAIN a session is being moved')
  local function finish(index, sessions, implicits, sha256, member)
    redis.call('del', sessions .. sha256)
    redis.call('zrem', index, sha256)
    if member and redis.call('get', implicits .. member) == sha256 then redis.call('del', implicits .. member) end
  end`

const END = script(`${ENDING}
  local member = redis.call('hget', ARGV[1] .. ARGV[3], 'm')
  if not member and away(KEYS[1], ARGV[3]) then return AWAY end
  finish(KEYS[1], ARGV[1], ARGV[2], ARGV[3], member)
  return 1`)

const END_ALL = script(`${ENDING}
  local index = redis.call('zrange', KEYS[1], 0, -1)
  local members = {}
  -- All sessions are checked before one ends, so that a refused call has ended none.
  for _, sha256 in ipairs(index) do
    local member = redis.call('hget', ARGV[1] .. sha256, 'm')
    if not member and away(KEYS[1], sha256) then return AWAY end
    members[sha256] = member
  end
  for _, sha256 in ipairs(index) do
    local member = members[sha256]
    if sha256 ~= ARGV[4] and (ARGV[3] == '' or not member or member == '' or member == ARGV[3]) then
      finish(KEYS[1], ARGV[1], ARGV[2], sha256, member)
    end
  end
  redis.call('del', ARGV[5])
  return 1`)
