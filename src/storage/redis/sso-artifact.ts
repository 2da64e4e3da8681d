import type { NewSsoArtifact, SsoArtifact, SsoArtifactStore } from '../sso-artifact.js'
import { type Redis, script } from './client.js'

/**
 * Artifacts of single sign-on in Redis. An artifact is a hash that expires by itself, with the fields `s` (sealed, in base64) and `c`
 * (set once it is used). Sorted sets list the live artifacts of a uid, a grant and a person by expiry. All keys of an organization
 * have one hash tag.
 */
export const redisSsoArtifacts = (redis: Redis): SsoArtifactStore => ({
  async put(organizationId, artifact) {
    const { kind, sha256, sealed, lifetimeMs } = artifact
    const keys = [artifactKey(organizationId, kind, sha256), ...indexesOf(organizationId, artifact)]
    await redis.run(PUT, keys, [Buffer.from(sealed).toString('base64'), String(Math.ceil(lifetimeMs))])
  },
  find: async (organizationId, kind, sha256) =>
    artifactOf(await redis.run(FIND, [artifactKey(organizationId, kind, sha256)], [])),
  findByUid: async (organizationId, kind, uidSha256) =>
    artifactOf(await redis.run(FIND_LISTED, [indexKey(organizationId, `uids:${kind}`, uidSha256)], [])),
  consume: async (organizationId, kind, sha256) =>
    (await redis.run(CONSUME, [artifactKey(organizationId, kind, sha256)], [])) === 1,
  async end(organizationId, kind, sha256) {
    await redis.run(END, [artifactKey(organizationId, kind, sha256)], [])
  },
  async endGrant(organizationId, grantSha256) {
    await redis.run(END_LISTED, [indexKey(organizationId, 'grants', grantSha256)], [])
  },
  async endAll(organizationId, userRef) {
    await redis.run(END_LISTED, [indexKey(organizationId, 'users', userRef)], [])
  },
})

/** The artifact in a script's reply: key, sealed bytes, and the mark of a used one. */
function artifactOf(reply: unknown): SsoArtifact | null {
  if (reply === null) return null
  const [key, sealed, mark] = reply as [string, string, string | null]
  return {
    sha256: key.slice(key.lastIndexOf(':') + 1),
    sealed: new Uint8Array(Buffer.from(sealed, 'base64')),
    consumed: mark !== null && mark !== undefined,
  }
}

const tag = (organizationId: string) => `ks:{${organizationId}:sso}:`
const artifactKey = (organizationId: string, kind: string, sha256: string) =>
  `${tag(organizationId)}artifact:${kind}:${sha256}`
const indexKey = (organizationId: string, of: string, value: string) => `${tag(organizationId)}${of}:${value}`

const indexesOf = (organizationId: string, { kind, uidSha256, grantSha256, userRef }: NewSsoArtifact): string[] =>
  [
    uidSha256 === null ? null : indexKey(organizationId, `uids:${kind}`, uidSha256),
    grantSha256 === null ? null : indexKey(organizationId, 'grants', grantSha256),
    userRef === null ? null : indexKey(organizationId, 'users', userRef),
  ].filter((key) => key !== null)

const PUT = script(`
  redis.call('hset', KEYS[1], 's', ARGV[1])
  redis.call('pexpire', KEYS[1], ARGV[2])
  local time = redis.call('time')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  for i = 2, #KEYS do
  redis.call('zremrangebyscore', KEYS[i], '-inf', now)
  redis.call('zadd', KEYS[i], now + ARGV[2], KEYS[1])
  if redis.call('pttl', KEYS[i]) < tonumber(ARGV[2]) then redis.call('pexpire', KEYS[i], ARGV[2]) end
  end
  return 1`)

const FIND = script(`
  local row = redis.call('hmget', KEYS[1], 's', 'c')
  if not row[1] then return nil end
  return {KEYS[1], row[1], row[2]}`)

// The scripts below use keys that a sorted set lists. Their common hash tag allows it.
const FIND_LISTED = script(`
  for _, key in ipairs(redis.call('zrange', KEYS[1], 0, -1)) do
  local row = redis.call('hmget', key, 's', 'c')
  if row[1] then return {key, row[1], row[2]} end
  end
  return nil`)

const CONSUME = script(`
  if redis.call('exists', KEYS[1]) == 0 then return 0 end
  return redis.call('hsetnx', KEYS[1], 'c', '1')`)

const END = script(`return redis.call('unlink', KEYS[1])`)

const END_LISTED = script(`
  for _, key in ipairs(redis.call('zrange', KEYS[1], 0, -1)) do redis.call('unlink', key) end
  return redis.call('unlink', KEYS[1])`)
