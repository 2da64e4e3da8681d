import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../../src/storage/postgres/embedded/embedded-running.js'
import { shippedSchema } from '../../src/storage/postgres/schema/shipped-schema.js'
import { audit, countBy } from '../faults/fault.js'
import { type FlushedRedis, redisIsHere, startFlushedRedis } from '../faults/flushed-redis.js'
import { type Answer, client, type Load, newPerson, startLoad } from '../faults/load.js'
import { type ServiceProcess, startProcess } from '../faults/service-process.js'
import { until } from '../patience.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'
import { type Haproxy, startHaproxy, whyNoHaproxy } from '../servers/haproxy.js'
import { type Callable, callables, lost } from './functions.js'
import { builtPrevious, previousKeystride, whyNoPrevious } from './previous-version.js'

const why = whyNoHaproxy() ?? whyNoPrevious() ?? (redisIsHere() ? null : 'NO REDIS: upgrades are SKIPPED')
if (why !== null) console.warn(`\n*** ${why} ***\n`)

type Version = 'previous' | 'current'

/** Judged attempts, and completed profiles, that every mixture of versions sees under load at least. */
const VERIFIES = 25
const PROFILES = 2
const CODE = '749205'
/** A person is sometimes rejected and types again. */
const TRIES = 5

/** Answers that a person gets without a fault: typing that is taken for a machine's is typed again. */
const EXPECTED =
  /^(create 201|bootstrap 200|enroll 200|enroll 422 detection-bot|verify 200( detection-bot)?|code 200|link 200|page 200)$/

/**
 * A store is late on a loaded machine. The previous version has no STORE_PATIENCE, so while a process of it runs, answers may say so in
 * one second of ten. Refusals of a lost store are immediate: a short silence may be hundreds of them.
 */
const LATE_STORE = /^(try again later: the (session store|database) |the service is degraded)/
const LATE_SHARE = 1 / 10
const isLate = ({ json }: Answer): boolean => LATE_STORE.test(json?.message)
const AGAIN_AFTER_MS = 100
/** The work of a call that was refused as late may be done. These answers then say so to the next call, as often as such calls at most. */
const DONE_BEFORE: Readonly<Record<string, string>> = { 'create 200': 'create', 'enroll 409': 'enroll' }

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
  }, 240_000)
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

  it('fails no request and loses nothing that was acknowledged, also on the way back and forward again', async () => {
    for (const on of [0, 1] as const) await roll(on, 'previous') // after a first try
    for (const list of [answers, residents]) list.length = 0
    const base = `http://127.0.0.1:${haproxy.port}`
    const from = performance.now()
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
    const late = all.filter((answer) => isLate(answer) && stepOf(answer)?.previous !== false)
    const lateS = secondsOf(late)
    const tookS = (performance.now() - from) / 1000
    // The configuration repeats a test by the message of a refusal.
    expect(lateS, `late in ${lateS} of ${tookS} s: ${late[0]?.json.message}`).toBeLessThanOrEqual(tookS * LATE_SHARE)
    const left = new Map(Object.entries(countBy(late, ({ what }) => what)))
    const wasDone = (answer: Answer): boolean => {
      const what = DONE_BEFORE[`${answer.what} ${answer.status}`]
      const more = what === undefined ? 0 : (left.get(what) ?? 0)
      if (what !== undefined) left.set(what, more - 1)
      return more > 0
    }
    const excused = new Set(late)
    const unexpected = all.filter(
      (answer) => !EXPECTED.test(outcomeOf(answer)) && !excused.has(answer) && !wasDone(answer),
    )
    // As the message, because an array is printed cut: the configuration repeats a test by what its error says.
    const odd = unexpected.map((one) => `${outcomeOf(one)}: ${one.json?.message}, ${whenOf(one)}`)
    expect(odd, odd.join('\n')).toEqual([])
    const enrolled = new Map([...load.enrolled, ...residents.map((one) => [one.userRef, one.counted] as const)])
    const audited = await audit({ name: 'upgrade', databaseUrl: () => fresh.url }, { ...load, enrolled })
    const created: string[] = all
      .filter(({ what, status }) => what === 'create' && status < 300)
      .map(({ json }) => json.userRef)
    const { rows } = await direct.query<{ user_ref: string }>('select user_ref from keystride.account')
    const present = new Set(rows.map((row) => row.user_ref))
    expect(created.filter((userRef) => !present.has(userRef))).toEqual([])
    const slowest = all.reduce((most, one) => (one.ms > most.ms ? one : most))
    console.log(
      `upgrade, way back and upgrade again: 0 of ${all.length} requests failed, ${late.length} found a store late, in ${lateS} s; slowest: ${outcomeOf(slowest)}, ${whenOf(slowest)}; ` +
        `accounts ${created.length} of ${created.length}, reference patterns ${audited.enrolments}, attempts ${audited.attempts}`,
    )
  }, 240_000)

  it('leaves every function as the previous version calls it, and no process of that version changed one', async () => {
    expect(before.length).toBeGreaterThan(50)
    await direct.query('reset role')
    expect(lost(before, await callables(direct))).toEqual([])
    const recorded = await direct.query('select name, sha256 from keystride_history.function')
    const found = new Map(recorded.rows.map(({ name, sha256 }) => [name, sha256]))
    const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
    expect(found).toEqual(new Map(shippedSchema().functions.map(({ name, text }) => [name, sha256(text)])))
  })

  /** The steps so far, as performance.now(); `previous`: a process of the previous version runs during the step. */
  const steps: { readonly at: number; readonly what: string; readonly previous: boolean }[] = []
  const step = (what: string) =>
    void steps.push({ at: performance.now(), what, previous: running.includes('previous') })
  const stepOf = ({ askedAt }: Answer) => steps.findLast(({ at }) => at < askedAt)
  function whenOf(answer: Answer): string {
    const last = stepOf(answer)
    const after = last === undefined ? '' : `${Math.round(answer.askedAt - last.at)} ms after "${last.what}", `
    return `${after}answered after ${Math.round(answer.ms)} ms`
  }

  /** Restarts a process as this version, unless it is of this version. */
  async function roll(on: 0 | 1, to: Version): Promise<void> {
    if (running[on] === to) return
    step(`stop ${on}`)
    const PORT = new URL(services[on].core).port
    const { status } = await services[on].stop()
    expect(status).toBe(0)
    running[on] = to
    step(`start ${on} as ${to}`)
    services[on] = await startProcess({ ...env, PORT }, to === 'previous' ? previous : undefined)
    await until(async () => (await haproxy.up()) === 2)
    step(`${on} is up`)
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
      /** Repeats a call that was refused as late, but no pattern and no attempt, which may be stored or used up. */
      return async (...call: Parameters<typeof raw>) => {
        for (;;) {
          const answer = await raw(...call)
          answers.push(answer)
          if (!isLate(answer) || ['enroll', 'verify'].includes(answer.what)) return answer
          await delay(AGAIN_AFTER_MS)
        }
      }
    }
    const [core, links] = [noting('/core'), noting('/auth')]
    const begin = async () => (await core('bootstrap', 'GET', `/users/${userRef}`)).session
    /** One attempt, in a new session; once more in another one while it is refused as late. */
    const verify = async (bodyOf: () => unknown) => {
      for (;;) {
        const answer = await core('verify', 'POST', `/users/${userRef}/verify`, {
          session: await begin(),
          body: bodyOf(),
        })
        if (!isLate(answer)) return answer.json
        await delay(AGAIN_AFTER_MS)
      }
    }
    await who.enroll(core)
    const body = { securityCode: CODE }
    await core('code', 'PUT', `/users/${userRef}/security-code`, { session: await begin(), body })
    const { key } = (await links('link', 'POST', `/api/links/complete-profile/${userRef}`, { body: {} })).json
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
        let opened: Answer
        do {
          opened = await page(`${base}/auth/b/${key}`)
          answers.push(opened)
        } while (isLate(opened))
      },
    }
  }
})

/** Number of seconds that hold all the answers. */
function secondsOf(given: readonly Answer[]): number {
  let [seconds, end] = [0, 0]
  for (const at of given.map(({ askedAt, ms }) => askedAt + ms).sort((a, b) => a - b))
    if (at > end) {
      seconds++
      end = at + 1000
    }
  return seconds
}

async function page(address: string): Promise<Answer> {
  const askedAt = performance.now()
  const { status } = await fetch(address)
  // A page says it to a person, in the language of the browser.
  const json = status === 503 ? { message: 'the service is degraded' } : null
  return { what: 'page', status, askedAt, ms: performance.now() - askedAt, retryAfter: null, session: '', json }
}
