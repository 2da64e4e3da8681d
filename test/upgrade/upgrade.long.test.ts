import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../../src/storage/postgres/embedded/embedded-running.js'
import { shippedSchema } from '../../src/storage/postgres/schema/shipped-schema.js'
import { audit } from '../harness/audit.js'
import { type FlushedRedis, redisIsHere, startFlushedRedis } from '../harness/flushed-redis.js'
import { type Answer, client, type Load, newPerson, startLoad } from '../harness/load.js'
import { until } from '../harness/patience.js'
import { type ServiceProcess, startProcess } from '../harness/service-process.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'
import { type Haproxy, startHaproxy, whyNoHaproxy } from '../servers/haproxy.js'
import { type Callable, callables, lost } from './functions.js'
import { builtPrevious, describePrevious, previousKeystride, whyNoPrevious } from './previous-version.js'

const why = whyNoHaproxy() ?? whyNoPrevious() ?? (redisIsHere() ? null : 'NO REDIS: upgrades are SKIPPED')
if (why !== null) console.warn(`\n*** ${why} ***\n`)

type Version = 'previous' | 'current'

/** Least number of judged attempts, and of completed profiles, that every mixture of versions sees under load. */
const VERIFIES = 10
const PROFILES = 1
const CODE = '749205'
/** The first run after a change of a migration builds the previous version, which takes minutes on a loaded machine. */
const BUILT_MS = 900_000
/** A person is sometimes rejected and types again. */
const TRIES = 5

/** Answers that a person gets without a fault: typing that is taken for a machine's, or for a copy, is typed again. */
const EXPECTED =
  /^(create 201|bootstrap 200|enroll 200|enroll 422 detection-bot|verify 200( detection-bot| fraud-detected)?|code 200|link 200|page 200)$/
/**
 * A store is late on a loaded machine, and the previous version has no STORE_PATIENCE. The work of a call that was refused as late
 * may be done; the next call then gets one of these answers.
 */
const LATE_STORE = /^(try again later: the (session store|database) |the service is degraded)/
const isLate = ({ json }: Answer): boolean => LATE_STORE.test(json?.message)
const DONE_BEFORE = /^(create 200|enroll 409|code 422)/

describe.skipIf(why !== null)('an upgrade of two processes behind haproxy, one after the other', () => {
  const folder = mkdtempSync(join(tmpdir(), 'keystride-upgrade-'))
  let previous: string
  let fresh: FreshDatabase
  let redis: FlushedRedis
  let env: Record<string, string>
  let apikey: string
  let services: [ServiceProcess, ServiceProcess]
  const running: [Version, Version] = ['previous', 'previous']
  let haproxy: Haproxy
  let direct: pg.Client
  let before: readonly Callable[]

  beforeAll(async () => {
    previous = await builtPrevious()
    ;[fresh, redis] = await Promise.all([freshDatabase({ empty: true }), startFlushedRedis()])
    env = {
      DATABASE_URL: fresh.url,
      REDIS_URL: redis.url,
      ENCRYPTION_KEY: Buffer.alloc(32, 11).toString('base64'),
      KEYSTRIDE_DATA: folder,
      STOP_LEAD_S: '2',
      DATABASE_POOL: '5',
    }
    await previousKeystride(previous, env, 'migrate')
    const id = await previousKeystride(previous, env, 'organization', 'create', 'Upgrades')
    apikey = await previousKeystride(previous, env, 'key', 'issue', id)
    direct = new pg.Client({ connectionString: fresh.url })
    await direct.connect()
    before = await callables(direct)
    await direct.query('set role keystride_system')
    const start = async () => startProcess({ ...env, PORT: String(await freePort()) }, previous)
    services = await Promise.all([start(), start()])
    const [one, two] = services.map(({ core }) => Number(new URL(core).port))
    haproxy = await startHaproxy([one ?? 0, two ?? 0])
  }, BUILT_MS)
  afterAll(async () => {
    await haproxy?.close()
    await Promise.all(services?.map((service) => service.kill()) ?? [])
    await direct?.end()
    await fresh?.drop()
    await redis?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const answers: Answer[] = []
  let load: Load
  /** People of each mixture of versions, with a profile, a code and a link. */
  const residents: Resident[] = []

  it('fails no request and loses nothing that was acknowledged, also on the way back and forward again', {
    timeout: 900_000,
  }, async () => {
    const base = `http://127.0.0.1:${haproxy.port}`
    load = await startLoad(`${base}/core`, apikey)
    try {
      for (const to of ['previous', 'current', 'previous', 'current'] as const)
        for (const on of [0, 1] as const) {
          if (residents.length > 0 && running[on] === to) continue
          await roll(on, to)
          await works()
          residents.push(await settle(base))
          for (const resident of residents) await resident.returns()
        }
    } finally {
      await load.stop()
    }

    const all = [...load.answers, ...answers]
    const outcomeOf = ({ what, status, json }: Answer) => `${what} ${status} ${json?.reason || ''}`.trim()
    const late = all.filter(isLate)
    const odd = all.filter((answer) => !isLate(answer) && !EXPECTED.test(outcomeOf(answer)))
    const unexpected = late.length === 0 ? odd : odd.filter((answer) => !DONE_BEFORE.test(outcomeOf(answer)))
    expect(unexpected.map((one) => `${outcomeOf(one)}: ${one.json?.message}`)).toEqual([])
    const enrolled = new Map([...load.enrolled, ...residents.map((one) => [one.userRef, one.counted] as const)])
    const audited = await audit({ name: 'upgrade', databaseUrl: () => fresh.url }, { ...load, enrolled })
    const created: string[] = all
      .filter(({ what, status }) => what === 'create' && status < 300)
      .map(({ json }) => json.userRef)
    const { rows } = await direct.query<{ user_ref: string }>('select user_ref from keystride.account')
    const present = new Set(rows.map((row) => row.user_ref))
    expect(created.filter((userRef) => !present.has(userRef))).toEqual([])
    console.log(
      `upgrade from ${describePrevious()}, way back and upgrade again: 0 of ${all.length} requests failed, ${late.length} late; ${audited}`,
    )
  })

  it('leaves every function as the previous version calls it, and no process of that version changed one', async () => {
    expect(before.length).toBeGreaterThan(50)
    await direct.query('reset role')
    expect(lost(before, await callables(direct))).toEqual([])
    const recorded = await direct.query('select name, sha256 from keystride_history.function')
    const found = new Map(recorded.rows.map(({ name, sha256 }) => [name, sha256]))
    const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
    expect(found).toEqual(new Map(shippedSchema().functions.map(({ name, text }) => [name, sha256(text)])))
  })

  /** Restarts a process as this version, unless it is of this version. */
  async function roll(on: 0 | 1, to: Version): Promise<void> {
    if (running[on] === to) return
    const PORT = new URL(services[on].core).port
    const { status } = await services[on].stop()
    expect(status).toBe(0)
    running[on] = to
    services[on] = await startProcess({ ...env, PORT }, to === 'previous' ? previous : undefined)
    await until(async () => (await haproxy.up()) === 2)
  }

  /** Waits until the load has made progress. */
  async function works(): Promise<void> {
    const profiles = () => [...load.enrolled.values()].filter(({ acknowledged }) => acknowledged >= 5).length
    const [judged, complete] = [load.judged.size, profiles()]
    await until(async () => load.judged.size >= judged + VERIFIES && profiles() >= complete + PROFILES)
  }

  type Resident = Awaited<ReturnType<typeof settle>>

  /** Enrolls a person, with a code and a link. */
  async function settle(base: string) {
    const who = newPerson()
    const { userRef, counted } = who
    const noting = (path: string) => {
      const raw = client(base + path, apikey)
      return async (...call: Parameters<typeof raw>) => {
        const answer = await raw(...call)
        answers.push(answer)
        return answer
      }
    }
    /** Repeats a call that is refused as late. */
    const patiently = async (call: () => Promise<Answer>): Promise<Answer> => {
      const heard: Answer[] = []
      await until(async () => {
        heard.push(await call())
        return !isLate(heard.at(-1) as Answer)
      })
      return heard.at(-1) as Answer
    }
    const [core, links] = [noting('/core'), noting('/auth')]
    const begin = async () => (await patiently(() => core('bootstrap', 'GET', `/users/${userRef}`))).session
    /** One attempt in a new session. */
    const verify = async (bodyOf: () => unknown) => {
      const attempt = async () =>
        core('verify', 'POST', `/users/${userRef}/verify`, { session: await begin(), body: bodyOf() })
      return (await patiently(attempt)).json
    }
    await who.enroll(core)
    const body = { securityCode: CODE }
    const session = await begin()
    await patiently(() => core('code', 'PUT', `/users/${userRef}/security-code`, { session, body }))
    const link = () => links('link', 'POST', `/api/links/complete-profile/${userRef}`, { body: {} })
    const { key } = (await patiently(link)).json
    return {
      userRef,
      counted,
      /** Signs in by typing, then by code, and opens the link. */
      async returns(): Promise<void> {
        let passed = false
        for (let tries = 0; tries < TRIES && !passed; tries++)
          passed = (await verify(who.next)).authentication?.authenticated === true
        expect(passed, `${userRef} signs in by typing`).toBe(true)
        expect(await verify(() => body)).toMatchObject({
          action: 'verified',
          authentication: { authMethod: 'security_code' },
        })
        await patiently(async () => {
          const opened = await page(`${base}/auth/b/${key}`)
          answers.push(opened)
          return opened
        })
      },
    }
  }
})

async function page(address: string): Promise<Answer> {
  const askedAt = performance.now()
  const { status } = await fetch(address)
  // A page has no JSON: it says this to a person, in the language of the browser.
  const json = status === 503 ? { message: 'the service is degraded' } : null
  return { what: 'page', status, askedAt, ms: performance.now() - askedAt, retryAfter: null, session: '', json }
}
