import { v7 as uuid } from 'uuid'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { type AttemptKind, NO_ATTEMPTS } from '../../src/domain/attempts.js'
import { STRANGER_INVALID, STRANGER_LIMITS } from '../../src/domain/stranger-tries.js'
import { postgresAttemptLocks } from '../../src/storage/postgres/attempt/attempt-lock.js'
import { postgresRetention } from '../../src/storage/postgres/insight/retention.js'
import { postgresAccounts } from '../../src/storage/postgres/person/account.js'
import { postgresOneTimePasswords } from '../../src/storage/postgres/sso/one-time-password.js'
import { postgresSsoAccounts } from '../../src/storage/postgres/sso/sso-account.js'
import { postgresSsoArtifacts } from '../../src/storage/postgres/sso/sso-artifact.js'
import { postgresSsoKeys } from '../../src/storage/postgres/sso/sso-key.js'
import { postgresStrangerTries } from '../../src/storage/postgres/sso/stranger-tries.js'
import { connectRedis, type Redis, script } from '../../src/storage/redis/client.js'
import { redisSsoArtifacts } from '../../src/storage/redis/sso-artifact.js'
import type { StrangerOutcome } from '../../src/storage/stranger-tries.js'
import { organization, person, sha256Hex } from '../harness/fixtures.js'
import { until } from '../harness/patience.js'
import { sharedDatabase } from '../servers/database.js'
import { ssoArtifactContract } from './sso-artifact.contract.js'

const { database } = await sharedDatabase()
const organizationId = await organization(database)
const LIMITS = { lifetimeMs: 60_000, tries: 3, sendsPerHour: 5, wrongPerDay: 10 }

describe('single sign-on in postgres', () => {
  const artifacts = postgresSsoArtifacts(database)
  ssoArtifactContract(
    () => artifacts,
    () => organizationId,
  )

  it('deletes expired artifacts in the sweep of sessions, and no live one', async () => {
    const [live, ended] = [sha256Hex(), sha256Hex()]
    const artifact = { kind: 'Code', sealed: new Uint8Array([1]), uidSha256: null, grantSha256: null, userRef: null }
    await artifacts.put(organizationId, { ...artifact, sha256: live, lifetimeMs: 60_000 })
    await artifacts.put(organizationId, { ...artifact, sha256: ended, lifetimeMs: -1000 })
    await postgresRetention(database).sweepSessions()
    const rows = await database.scoped(
      organizationId,
      (sql) => sql`select encode(sha256, 'hex') as sha256 from keystride.sso_artifact`,
    )
    const left = rows.map(({ sha256 }) => sha256)
    expect([left.includes(live), left.includes(ended)]).toEqual([true, false])
  })

  describe('accounts of upstream providers', () => {
    const accounts = postgresSsoAccounts(database)
    const accountOf = (issuer = 'https://up.example.org') => ({ issuer, sha256: sha256Hex() })

    it('have one reference each, and of one issuer a reference has one account', async () => {
      const [ann, eve, elsewhere] = [accountOf(), accountOf(), accountOf('https://other.example.org')]
      const userRef = `user-${uuid()}`
      const standing = (account: typeof ann, ref = userRef) => accounts.standing(organizationId, account, ref)
      const bind = (account: typeof ann, { ref = userRef, alone = true } = {}) =>
        accounts.bind(organizationId, account, ref, alone)
      expect([await accounts.refOf(organizationId, ann), await standing(ann)]).toEqual([null, 'free'])
      expect([await bind(ann), await bind(ann), await bind(ann, { ref: 'another' })]).toEqual([true, true, false])
      expect([await accounts.refOf(organizationId, ann), await standing(ann)]).toEqual([userRef, 'own'])
      expect([await standing(ann, 'another'), await standing(eve), await bind(eve)]).toEqual([null, null, false])
      expect([await standing(elsewhere), await bind(elsewhere)]).toEqual(['elsewhere', false])
      expect([await bind(elsewhere, { alone: false }), await standing(elsewhere)]).toEqual([true, 'own'])
      expect(await accounts.bind(await organization(database), eve, userRef, true)).toBe(true)
      expect(await accounts.release(organizationId, userRef)).toBe(2)
      expect(await bind(eve)).toBe(true)
      expect(await accounts.release(organizationId, null)).toBe(1)
    })

    it('take one reference at once: one of ten gets it, of one issuer or of ten', async () => {
      for (const issuerOf of [() => 'https://up.example.org', (n: number) => `https://${n}.example.org`]) {
        const userRef = `user-${uuid()}`
        const bound = await Promise.all(
          Array.from({ length: 10 }, (_, n) => accounts.bind(organizationId, accountOf(issuerOf(n)), userRef, true)),
        )
        expect(bound.filter((one) => one)).toHaveLength(1)
      }
    })
  })

  describe('a one-time password', () => {
    const passwords = postgresOneTimePasswords(database)
    const issue = (issued = hash()) => passwords.issue(organizationId, userRef, issued, LIMITS)
    const attempted = () => passwords.try(organizationId, userRef, LIMITS)
    const redeem = (one: Uint8Array) => passwords.redeem(organizationId, userRef, one)
    const times = <T>(n: number, call: () => Promise<T>) => Promise.all(Array.from({ length: n }, call))
    const hash = () => new Uint8Array(Buffer.from(sha256Hex(), 'hex'))
    let userRef: string
    beforeEach(() => {
      userRef = `user-${uuid()}`
    })
    const past = (change: string) =>
      database.asSystem((sql) =>
        sql.unsafe(`update keystride.one_time_password set ${change} where user_ref = '${userRef}'`),
      )

    it('has three tries, each counted before it is compared', async () => {
      expect(await issue()).toBeNull()
      const tries = await times(10, attempted)
      expect(tries.filter(({ outcome }) => outcome === 'open')).toHaveLength(3)
      expect(await attempted()).toEqual({ outcome: 'none' })
    })

    it('is redeemed once, by one of concurrent calls, and only with its hash', async () => {
      const issued = hash()
      await issue(issued)
      expect(await redeem(hash())).toBe(false)
      expect((await times(10, () => redeem(issued))).filter((one) => one)).toHaveLength(1)
      expect(await attempted()).toEqual({ outcome: 'none' })
    })

    it('expires', async () => {
      const issued = hash()
      await issue(issued)
      await past("expires_at = now() - interval '1 second'")
      expect(await attempted()).toEqual({ outcome: 'expired' })
      expect(await redeem(issued)).toBe(false)
    })

    it('is replaced by the next one, five times an hour', async () => {
      const first = hash()
      await issue(first)
      for (let n = 1; n < 5; n++) expect(await issue()).toBeNull()
      expect(await redeem(first)).toBe(false)
      const waitMs = await issue()
      expect(waitMs).toBeGreaterThan(3_500_000)
      expect(waitMs).toBeLessThanOrEqual(3_600_000)
      await past("sent_at = array[now() - interval '61 minutes']")
      expect(await issue()).toBeNull()
    })

    it('has at most ten wrong tries a day, also while one is live, and is not sent after them; a right one clears them', async () => {
      const tries: string[] = []
      for (let n = 0; n < 4; n++) {
        await issue()
        for (const { outcome } of await times(3, attempted)) tries.push(outcome)
      }
      // Twelve were possible: the fourth password had three tries of its own.
      expect(tries.filter((one) => one === 'open')).toHaveLength(10)
      expect(await attempted()).toEqual({ outcome: 'wait', waitMs: expect.any(Number) })
      expect(await issue()).toBeGreaterThan(86_000_000)
      await past("wrong_since = now() - interval '25 hours'")
      const issued = hash()
      expect(await issue(issued)).toBeNull()
      await attempted()
      expect(await redeem(issued)).toBe(true)
      await past("sent_at = '{}'")
      expect(await issue()).toBeNull()
    })

    it('has at most ten wrong tries in any 24 hours, not ten before and ten after a midnight', async () => {
      for (let n = 0; n < 3; n++) {
        await issue()
        await times(3, attempted)
        await past("sent_at = '{}', wrong_since = wrong_since - interval '23 hours'")
      }
      await issue()
      const outcomes = (await times(3, attempted)).map(({ outcome }) => outcome)
      expect(outcomes.sort()).toEqual(['open', 'wait', 'wait'])
    })
  })

  describe('the tries of strangers', () => {
    const tries = postgresStrangerTries(database)
    let memberId: string
    let userRef: string
    beforeEach(async () => {
      userRef = `user-${uuid()}`
      memberId = (await person(database, organizationId, userRef)).memberId
      expect(await tries.member(organizationId, userRef)).toEqual({ memberId, ownersFrom: 0 })
    })
    const take = (kind: AttemptKind = 'biometric') => tries.take(organizationId, memberId, kind)
    const look = () => tries.peek(organizationId, memberId, 'biometric')
    const settle = (taken: string | null, outcome: StrangerOutcome) =>
      tries.settle(organizationId, memberId, taken ?? '', outcome)
    const many = (n: number, kind?: AttemptKind) => Promise.all(Array.from({ length: n }, () => take(kind)))
    const left = (taken: readonly { readonly taken: string | null }[]) => taken.flatMap((one) => one.taken ?? [])
    const change = (column: string, value: string) =>
      database.asSystem((sql) =>
        sql.unsafe(`update keystride.${column === 'attempts' ? 'member' : 'sso_stranger'} set ${column} = ${value}
          where ${column === 'attempts' ? 'id' : 'member_id'} = '${memberId}'`),
      )

    it('are three of typing and one of the code in 24 hours, each counted before it is judged', async () => {
      expect(await look()).toBeNull()
      const taken = left(await many(10))
      expect(taken).toHaveLength(STRANGER_LIMITS.biometric.perDay)
      expect(new Set(taken).size).toBe(taken.length)
      expect(left(await many(5, 'security_code'))).toHaveLength(STRANGER_LIMITS.security_code.perDay)
      const closed = await look()
      expect(closed).toEqual({ taken: null, waitMs: expect.any(Number) })
      for (const one of taken) await settle(one, 'failed')
      expect(await look()).not.toBeNull()
      await change('typing', "array[now() - interval '25 hours'] || typing[2:3]")
      expect(left(await many(10))).toHaveLength(1)
      await change('typing', "array[now() - interval '25 hours']")
      expect(left(await many(10))).toHaveLength(3)
    })

    it('are given back if nothing was judged, and end with patterns that are not valid', async () => {
      for (const outcome of ['free', 'invalid'] as const)
        for (let n = 0; n < 5; n++) await settle((await take()).taken, outcome)
      expect(left(await many(3))).toHaveLength(3)
      await change('typing', "'{}'")
      await change('invalid', "'{}'")
      for (let n = 0; n < STRANGER_INVALID.most; n++) await settle((await take()).taken, 'invalid')
      const closed = await take()
      expect(closed).toEqual({ taken: null, waitMs: expect.any(Number) })
      expect((await take('security_code')).taken).not.toBeNull()
    })

    it('are none while the member has failed too often in a row, and end with an unlock and the deletion', async () => {
      const row = JSON.stringify({ ...NO_ATTEMPTS, biometric: { ...NO_ATTEMPTS.biometric, streak: 6 } })
      await change('attempts', `'${row}'`)
      expect(await take()).toEqual({ taken: null, waitMs: null })
      expect((await take('security_code')).taken).not.toBeNull()
      await postgresAttemptLocks(database).clear(organizationId, memberId)
      expect((await tries.member(organizationId, userRef))?.ownersFrom).toBeGreaterThan(0)
      expect(left(await many(10))).toHaveLength(3)
      expect(left([await take('security_code')])).toHaveLength(1)
      await postgresAccounts(database).remove(organizationId, userRef)
      expect([await tries.member(organizationId, userRef), (await take()).taken]).toEqual([null, null])
    })
  })

  it('has one key that follows another, made by one of several processes', async () => {
    const store = postgresSsoKeys(database)
    const key = () => ({ id: uuid(), sealed: new Uint8Array([9]), signsFrom: 1_700_000_000_000 })
    const first = key()
    expect(await store.add(organizationId, first, null)).toBe(true)
    expect(await store.add(organizationId, key(), null)).toBe(false)
    const added = await Promise.all(Array.from({ length: 5 }, () => store.add(organizationId, key(), first.id)))
    expect(added.filter((one) => one)).toHaveLength(1)
    expect((await store.list(organizationId))[0]).toEqual(first)
    await store.remove(organizationId, [first.id])
    expect(await store.list(organizationId)).toHaveLength(1)
  })
})

const redisUrl = inject('redisUrl')
describe.skipIf(redisUrl === null)('single sign-on in redis', () => {
  let redis: Redis
  const organizationId = uuid()
  beforeAll(async () => {
    redis = await connectRedis({ url: redisUrl ?? '' })
  })
  afterAll(async () => redis.close())
  ssoArtifactContract(
    () => redisSsoArtifacts(redis),
    () => organizationId,
  )

  // Regression: the lists kept every artifact of the last 25 hours, and for ever while a person signed in each day.
  it('lists no artifact of a person or a grant that has expired', async () => {
    const store = redisSsoArtifacts(redis)
    const org = uuid()
    const put = async (lifetimeMs: number) => {
      const sha256 = sha256Hex()
      const of = { uidSha256: null, grantSha256: 'grant', userRef: 'ann' }
      await store.put(org, { kind: 'Code', sha256, sealed: new Uint8Array([1]), ...of, lifetimeMs })
      return sha256
    }
    const live = await put(60_000)
    const last = (await Promise.all(Array.from({ length: 20 }, () => put(50)))).at(-1) ?? ''
    await until(async () => (await store.find(org, 'Code', last)) === null)
    const next = await put(60_000)
    expect(await redis.run(LISTED, [`ks:{${org}:sso}:`], [])).toBe(4)
    await store.endAll(org, 'ann')
    expect([await store.find(org, 'Code', live), await store.find(org, 'Code', next)]).toEqual([null, null])
  })
})

/** Number of entries in all lists of an organization. */
const LISTED = script(`
  local n = 0
  for _, key in ipairs(redis.call('keys', KEYS[1] .. '*')) do
    local kind = redis.call('type', key).ok
    if kind == 'set' then n = n + redis.call('scard', key) end
    if kind == 'zset' then n = n + redis.call('zcard', key) end
  end
  return n`)
