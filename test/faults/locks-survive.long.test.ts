import { hash } from '@node-rs/argon2'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type AttemptCounters,
  type AttemptKind,
  afterFailure,
  afterSuccess,
  NO_ATTEMPTS,
} from '../../src/domain/attempts.js'
import { connectPostgres, type Database } from '../../src/storage/postgres/connection/client.js'
import { figure, LONG } from '../harness/figure.js'
import { attempt, person } from '../harness/fixtures.js'
import { type FlushedRedis, startFlushedRedis } from '../harness/flushed-redis.js'
import { overConnections, ownBackEnds, startTwo, strangers, type TwoServices } from '../harness/two-services.js'

const LOCKED = LONG ? 1000 : 64
/** Unlocked members of each kind in each round: they show that the test would detect a freed member. */
const FREE = 2
const CONNECTIONS = 32
const AT_ONCE = 8
/** Codes changed over HTTP, each of which takes a hash of 23 ms. The others are changed through the store. */
const CHANGED_OVER_HTTP = LONG ? LOCKED : 16

/** A cheap hash: a code is compared at the cost that its hash names. */
const CHEAP = { memoryCost: 8, timeCost: 1, parallelism: 1 }

interface Lock {
  readonly kind: AttemptKind
  readonly failures: number
  /** Failures between two successes; 0 for no success. */
  readonly successEvery: number
}
const LOCKS: readonly Lock[] = [
  { kind: 'biometric', failures: 10, successEvery: 0 },
  { kind: 'biometric', failures: 15, successEvery: 0 },
  { kind: 'biometric', failures: 50, successEvery: 0 },
  { kind: 'biometric', failures: 20, successEvery: 4 },
  { kind: 'security_code', failures: 3, successEvery: 0 },
  { kind: 'security_code', failures: 6, successEvery: 0 },
  { kind: 'security_code', failures: 20, successEvery: 2 },
  { kind: 'security_code', failures: 10, successEvery: 0 },
]
/** Distance of failures: earlier locks end, and twenty failures fit into a day. */
const APART_MS = 70 * 60_000
/** Index of the lock that turns the code off. Only a new code ends it. */
const DEAD_CODE = LOCKS.length - 1

function countersOf({ kind, failures, successEvery }: Lock): AttemptCounters {
  let counters = NO_ATTEMPTS
  for (let i = 1; i <= failures; i++) {
    counters = afterFailure(counters, kind, Date.now() - (failures - i) * APART_MS)
    if (successEvery > 0 && i % successEvery === 0) counters = afterSuccess(counters, kind)
  }
  return counters
}

interface Somebody {
  readonly userRef: string
  readonly memberId: string
  readonly kind: AttemptKind
  readonly lock: number
}

describe.each(ownBackEnds)(
  `${LOCKED} locked members on $name`,
  { timeout: LONG ? 3_600_000 : 300_000 },
  ({ withRedis }) => {
    let redis: FlushedRedis | null = null
    let two: TwoServices
    let database: Database
    let locked: Somebody[]
    let rounds = 0

    /** Members with a code and a count of five references, but no stored reference, so that no typing matches. */
    async function members(prefix: string, count: number, counters: (lock: number) => AttemptCounters) {
      const made: Somebody[] = []
      const make = async (n: number) => {
        const lock = n % LOCKS.length
        const somebody = await person(database, two.organizationId, `${prefix}-${n}`)
        const recorded = attempt(somebody, {
          counters: counters(lock),
          replayMark: null,
          patternId: null,
          sealed: null,
        })
        expect(await two.stores.authentications.record(two.organizationId, recorded)).toBe('recorded')
        made.push({ ...somebody, kind: LOCKS[lock]?.kind ?? 'biometric', lock })
      }
      for (let n = 0; n < count; n += AT_ONCE) {
        await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => make(n + i)))
      }
      await dressed(prefix)
      return made
    }

    /** Gives these members a code and a count of five references, without stored references. */
    async function dressed(prefix: string) {
      await two.query(
        'update keystride.member set n_visible = 5, completed_at = now(), code_hash = $1 where member_ref like $2',
        [await hash('nobody types this', CHEAP), `${prefix}-%`],
      )
    }

    beforeAll(async () => {
      redis = withRedis ? await startFlushedRedis() : null
      two = await startTwo(redis?.url ?? null)
      database = connectPostgres({ url: two.databaseUrl, max: 4, patience: 10 })
      locked = await members('locked', LOCKED, (lock) => countersOf(LOCKS[lock] as Lock))
    })
    afterAll(async () => {
      await database.close()
      await two.close()
      await redis?.stop()
    })

    /** Tries the locked kind of every member in a new session. Returns the members whose attempt was judged. */
    async function judged(all: readonly Somebody[]): Promise<Somebody[]> {
      const [body] = strangers(1)
      const found: Somebody[] = []
      let next = 0
      await overConnections(two, CONNECTIONS, async (connection) => {
        for (let one = all[next++]; one !== undefined; one = all[next++]) {
          const { userRef, kind } = one
          for (let action = ''; action === ''; ) {
            const { session } = await connection.send(two.bytes('GET', `/users/${userRef}`))
            const given = kind === 'biometric' ? body : { securityCode: '749205' }
            const answer = await connection.send(two.bytes('POST', `/users/${userRef}/verify`, session, given))
            // A loaded machine may answer 503; a verify without a session is then 400. Tries again.
            if (answer.status !== 200) continue
            action = JSON.parse(answer.body).action
            if (action !== 'refused') found.push(one)
          }
        }
      })
      return found
    }

    const records = () => two.recorded('locked-%')

    /** Checks that no locked member gets in, that all unlocked ones do, and that the number of records is `onRecord`. */
    async function holds(all = locked, onRecord = LOCKED) {
      const free = await members(`free-${rounds++}`, FREE * LOCKS.length, () => NO_ATTEMPTS)
      const freed = await judged(all)
      expect(await records()).toBe(onRecord + freed.length)
      expect(await judged(free)).toHaveLength(free.length)
      figure('T10', `${freed.length} of ${all.length} members free`, '0', freed.length === 0)
      return freed.length
    }

    it('stay locked in new sessions and after kill -9 of both processes', async () => {
      await Promise.all([two.restart(0), two.restart(1)])
      await holds()
    })

    it('stay locked when all sessions are lost', async () => {
      const [somebody] = locked
      const userRef = somebody?.userRef ?? ''
      const session = await two.bootstrap(userRef)
      if (redis !== null) await redis.flush()
      else await two.query('delete from keystride.session')
      const body = { securityCode: '749205' }
      expect((await two.call(0, 'POST', `/users/${userRef}/verify`, session, body)).status).toBe(400)
      const freed = await holds()
      if (withRedis) figure('F03', `${freed} of ${LOCKED} locked members free`, '0', freed === 0)
    })

    /** One call for each member over many connections. A loaded machine answers 503 or 429 now and then. */
    async function callAll(
      all: readonly Somebody[],
      call: (userRef: string) => readonly [method: string, body?: unknown],
    ) {
      let next = 0
      await overConnections(two, CONNECTIONS, async (connection) => {
        for (let one = all[next++]; one !== undefined; one = all[next++]) {
          const [method, body] = call(one.userRef)
          for (let status = 0; status < 200 || status > 299; ) {
            status = (await connection.send(two.bytes(method, `/users/${one.userRef}`, '', body))).status
            expect([200, 201, 404, 409, 429, 503]).toContain(status)
            // A call answered with 503 may have been executed; the retry is then 404 or 409.
            if (status === 404 || status === 409) break
          }
        }
      })
    }

    it('stay locked when the account becomes generic and nominative again', async () => {
      await callAll(locked, (userRef) => ['PATCH', { type: 'generic', member_ref: `${userRef}-m` }])
      await callAll(locked, () => ['PATCH', { type: 'nominative' }])
      await holds()
    })

    it('stay locked when the code is changed or cleared; only a new code revives one that was turned off', async () => {
      const { securityCodes } = two.stores
      const fresh = await hash('nor this', CHEAP)
      let next = 0
      await overConnections(two, CONNECTIONS, async (connection) => {
        for (let i = next++; i < locked.length; i = next++) {
          const { userRef, memberId } = locked[i] as Somebody
          if (i < CHANGED_OVER_HTTP) {
            for (let status = 0; status !== 200; ) {
              const bootstrap = await connection.send(two.bytes('GET', `/users/${userRef}`))
              expect([200, 429, 503]).toContain(bootstrap.status)
              if (bootstrap.status !== 200) continue
              const put = two.bytes('PUT', `/users/${userRef}/security-code`, bootstrap.session, {
                securityCode: '749205',
              })
              const executed = status === 503
              status = (await connection.send(put)).status
              expect([200, 429, 503, ...(executed ? [422] : [])]).toContain(status)
              // The call before was executed, though answered with 503: the code is no longer a new one.
              if (status === 422) break
            }
            continue
          }
          if (i % 3 === 0) await securityCodes.clear(two.organizationId, memberId)
          const version = (await securityCodes.find(two.organizationId, memberId))?.version ?? 0
          const code = { hash: fresh, expiresAt: null, issued: [], setAt: Date.now() }
          expect(await securityCodes.set(two.organizationId, memberId, version, code)).toMatchObject({
            outcome: 'changed',
          })
        }
      })
      const dead = locked.filter(({ lock }) => lock === DEAD_CODE)
      const alive = locked.filter(({ lock }) => lock !== DEAD_CODE)
      await holds(alive)
      await judged(dead)
      expect(await records()).toBe(LOCKED + dead.length)
    })

    it('stay locked when the account is deleted and created again, half of them after a rename', async () => {
      const renamed = locked.filter((_, i) => i % 2 === 0)
      await callAll(renamed, (userRef) => ['PATCH', { type: 'generic', member_ref: `${userRef}-m` }])
      await callAll(locked, () => ['DELETE'])
      await callAll(locked, () => ['POST', {}])
      await dressed('locked')
      // Codes that were turned off and revived by a new code are no longer locked.
      const still = locked.filter(({ lock }) => lock !== DEAD_CODE)
      await holds(still, 0)
    })
  },
)
