import { hash } from '@node-rs/argon2'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type AttemptCounters, type AttemptKind, afterFailure, NO_ATTEMPTS } from '../../src/domain/attempts.js'
import { postgresAuthentications } from '../../src/storage/postgres/attempt/authentication.js'
import { connectPostgres } from '../../src/storage/postgres/connection/client.js'
import { deployment } from '../harness/deployment.js'
import { stranger } from '../harness/enrolled.js'
import { metric } from '../harness/fault.js'
import { figure, LONG } from '../harness/figure.js'
import { attempt, person } from '../harness/fixtures.js'
import { type FlushedRedis, startFlushedRedis } from '../harness/flushed-redis.js'
import { type Answer, client } from '../harness/load.js'
import { until } from '../harness/patience.js'
import { type ServiceProcess, startProcess } from '../harness/service-process.js'
import { ownBackEnds } from '../harness/two-services.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'
import { type FalseClock, falseClock, whyNoFalseClock } from '../servers/faketime.js'

const why = whyNoFalseClock()
if (why !== null) console.warn(`\n*** ${why} ***\n`)

const LOCKED = LONG ? 1000 : 24
const SESSIONS = LONG ? 1000 : 10
const LINKS = LONG ? 200 : 5
/** Number of 90 s jumps, each of which the service must detect and answer with refusals. */
const FOUND = LONG ? 20 : 2
const [HOUR_S, DAY_S] = [3600, 86_400]
/** The tenth failure in a row locks for this time. */
const LOCK_S = 900

/** Locks of 15 minutes and of an hour. */
const LOCKS: readonly { readonly kind: AttemptKind; readonly failures: number }[] = [
  { kind: 'biometric', failures: 10 },
  { kind: 'biometric', failures: 15 },
  { kind: 'security_code', failures: 3 },
  { kind: 'security_code', failures: 6 },
]

const backEnds = LONG ? ownBackEnds : ownBackEnds.slice(-1)

describe.skipIf(why !== null).each(backEnds)(
  'a service on $name whose clock',
  { timeout: LONG ? 900_000 : 300_000 },
  ({ withRedis }) => {
    let fresh: FreshDatabase
    let redis: FlushedRedis | null = null
    let clock: FalseClock
    let service: ServiceProcess
    let ask: ReturnType<typeof client>
    let links: ReturnType<typeof client>
    let sql: pg.Client
    let people: readonly { readonly userRef: string; readonly kind: AttemptKind }[]
    const timestamps: number[] = []

    const status = async (): Promise<string> => (await ask('status', 'GET', '/status')).json.status
    const get = async (...of: Parameters<typeof ask>): Promise<Answer> => {
      const answer = await ask(...of)
      timestamps.push(Date.parse(answer.json.timestamp))
      return answer
    }
    const bodyOf = (kind: AttemptKind) => (kind === 'biometric' ? stranger() : { securityCode: '749205' })
    /** Makes one attempt in a new session. Returns its answer, or the refusal if the status is NOK. */
    async function tries({ userRef, kind }: { userRef: string; kind: AttemptKind }): Promise<Answer> {
      for (;;) {
        const { session } = await get('bootstrap', 'GET', `/users/${userRef}`)
        const answer = await get('verify', 'POST', `/users/${userRef}/verify`, { session, body: bodyOf(kind) })
        // On a loaded machine a store may be late; the loop ends only if the status is then NOK.
        if (answer.status === 200 || (await status()) === 'NOK') return answer
      }
    }
    const judged = (answers: readonly Answer[]) =>
      answers.filter(({ status, json }) => status === 200 && json.action !== 'refused').length
    async function all<T, R>(of: readonly T[], work: (one: T) => Promise<R>): Promise<R[]> {
      const done: R[] = []
      for (const one of of) done.push(await work(one))
      return done
    }
    async function members(prefix: string, count: number, counters: (n: number) => AttemptCounters) {
      const database = connectPostgres({ url: fresh.url, max: 4, patience: 10 })
      const organizationId = made.organizationId
      const cheapHash = await hash('nobody types this', { memoryCost: 8, timeCost: 1, parallelism: 1 })
      for (let n = 0; n < count; n++) {
        const somebody = await person(database, organizationId, `${prefix}-${n}`)
        const recorded = attempt(somebody, { counters: counters(n), replayMark: null, patternId: null, sealed: null })
        expect(await postgresAuthentications(database).record(organizationId, recorded)).toBe('recorded')
      }
      await sql.query(
        'update keystride.member set n_visible = 5, completed_at = now(), code_hash = $1 where member_ref like $2',
        [cheapHash, `${prefix}-%`],
      )
      await database.close()
      return Array.from({ length: count }, (_, n) => ({ userRef: `${prefix}-${n}`, kind: lockOf(n).kind }))
    }
    const lockOf = (n: number) => LOCKS[n % LOCKS.length] as (typeof LOCKS)[number]
    let made: Awaited<ReturnType<typeof deployment>>

    beforeAll(async () => {
      fresh = await freshDatabase()
      redis = withRedis ? await startFlushedRedis() : null
      made = await deployment(fresh.url)
      clock = falseClock()
      const env = { ...made.env, ...(redis === null ? {} : { REDIS_URL: redis.url }), ...clock.env }
      service = await startProcess(env)
      ask = client(service.core, made.apikey)
      links = client(service.core.replace('/core', '/auth'), made.apikey)
      sql = new pg.Client({ connectionString: fresh.url })
      await sql.connect()
      await sql.query('set role keystride_system')
      people = await members('locked', LOCKED, (n) => {
        const { kind, failures } = lockOf(n)
        let counters = NO_ATTEMPTS
        for (let i = 0; i < failures; i++) counters = afterFailure(counters, kind, Date.now())
        return counters
      })
    })
    afterAll(async () => {
      ask?.end()
      links?.end()
      await sql?.end()
      await service?.kill()
      clock?.remove()
      await redis?.stop()
      await fresh?.drop()
    })

    // A failed test may leave the clock wrong.
    beforeEach(async () => {
      clock.set(0)
      await until(async () => (await status()) === 'OK')
    })

    it('jumps ends no lock early and extends none, whether made before or after the jump', async () => {
      const some = people.slice(0, LOCKED / 4)
      let freed = judged(await all(some, tries))
      let asked = some.length
      for (const offS of [50, -50]) {
        const open = await members(`open${offS}`, 4, () => {
          let counters = NO_ATTEMPTS
          for (let i = 0; i < 9; i++) counters = afterFailure(counters, 'biometric', Date.now() - HOUR_S * 1000)
          return counters
        })
        clock.set(offS)
        const fallers = open.map(({ userRef }) => ({ userRef, kind: 'biometric' as const }))
        const failed = await all(fallers, tries)
        expect(judged(failed)).toBe(fallers.length)
        for (const { json } of failed) expect(json.nextAttempt.retryAfterSeconds).toBeLessThanOrEqual(LOCK_S)
        clock.set(0)
        const again = await all(fallers, tries)
        freed += judged(again)
        asked += again.length
        for (const { json } of again) expect(json.nextAttempt.retryAfterSeconds).toBeLessThanOrEqual(LOCK_S)
        clock.set(offS)
        freed += judged(await all(some, tries))
        asked += some.length
      }
      for (const offS of [HOUR_S, -2 * HOUR_S, DAY_S, -DAY_S]) {
        clock.set(offS)
        freed += judged(await all(some, tries))
        asked += some.length
      }
      clock.set(0)
      await until(async () => (await status()) === 'OK')
      const after = await all(people, tries)
      freed += judged(after)
      asked += after.length
      expect(after.filter((answer) => answer.status !== 200)).toEqual([])
      let backwards = 0
      for (const [n, at] of timestamps.entries()) if (n > 0 && at < (timestamps[n - 1] ?? 0)) backwards += 1
      figure(
        'F15',
        `${freed} of ${asked} attempts of locked members judged; ${backwards} of ${timestamps.length} times in answers went back`,
        `0 of ${LOCKED}; 0`,
        freed === 0 && backwards === 0,
      )
    })

    it('is behind keeps no session or link alive past its end, and ends none early', async () => {
      const { rows } = await sql.query('select user_ref from keystride.account order by user_ref limit 1')
      const userRef: string = rows[0]?.user_ref
      clock.set(0)
      const [begun, link] = [
        () => ask('bootstrap', 'GET', `/users/${userRef}`),
        (n: number) => links('link', 'POST', `/api/links/reset-profile/locked-${n}`, { body: {} }),
      ]
      const sessions = (await all(Array.from({ length: SESSIONS }), begun)).map(({ session }) => session)
      const keys = (await all([...Array(LINKS).keys()], link)).map(({ json }) => String(json.key))
      const live = async (offS: number) => {
        clock.set(offS)
        const echoed = await all(sessions, (session) => ask('bootstrap', 'GET', `/users/${userRef}`, { session }))
        const pages = await all(keys, pageStatus)
        return {
          sessions: echoed.filter((answer, n) => answer.session === sessions[n]).length,
          links: pages.filter((one) => one === 200).length,
        }
      }
      const pageStatus = async (key: string) =>
        (await fetch(`${service.core.replace('/core', '/auth')}/b/${key}`)).status
      expect(await live(50)).toEqual({ sessions: SESSIONS, links: LINKS })
      if (redis === null)
        await sql.query("update keystride.session set expires_at = clock_timestamp() - interval '1 s'")
      else await redis.expireAll(1)
      await sql.query("update keystride.profile_link set expires_at = clock_timestamp() - interval '1 s'")
      const left = await live(-50)
      clock.set(0)
      figure(
        'F15',
        `${left.sessions} of ${SESSIONS} sessions and ${left.links} of ${LINKS} links live past their end`,
        '0, 0',
        left.sessions === 0 && left.links === 0,
      )
    })

    it('is off reports it, and refuses all requests beyond a minute', async () => {
      let nok = 0
      for (let n = 0; n < FOUND; n++) {
        await until(async () => (await status()) === 'OK')
        clock.set(n % 2 === 0 ? 90 : -90)
        await until(async () => (await status()) === 'NOK')
        const refused = await ask('bootstrap', 'GET', '/users/anybody')
        if (refused.status === 503) nok += 1
        clock.set(0)
      }
      await until(async () => (await status()) === 'OK')
      clock.set(8)
      await until(async () => /^[78](\.|$)/.test(String(await metric(service, 'keystride_clock_skew_seconds'))))
      expect(await status()).toBe('OK')
      clock.set(0)
      expect(service.output()).toContain("a clock is off the database's")
      expect(service.output()).toContain("the clock of this machine is 90 s off the database's")
      figure('F16', `${nok} of ${FOUND} jumps by 90 s found`, `${FOUND} of ${FOUND}`, nok === FOUND)
    })
  },
)
