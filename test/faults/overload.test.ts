import { randomBytes } from 'node:crypto'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { request } from '../../bench/drive.js'
import { bodyOf, enroll, userRef, VERIFIED_FROM } from '../../bench/ratio/people.js'
import { readConfig } from '../../src/config.js'
import { sha256Hex } from '../../src/flows/tokens.js'
import { jsonLog } from '../../src/log.js'
import { openStores } from '../../src/open-stores.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'
import { figure, LONG } from '../trust/figure.js'
import { deployment } from './deployment.js'
import { quantile } from './figures.js'
import { type Asking, closedLoop, type Heard, ofStatus, openLoop, p99Of } from './open-loop.js'
import { type ServiceProcess, startProcess } from './service-process.js'

const PEOPLE = 512
/** A shared machine may be half as fast a minute later: what is compared takes turns, and medians are taken. */
const ROUNDS = 8
const OVERLOAD_S = 14
const BASE_S = 8
/** Codes take more and shorter turns. */
const FLOODS = 12
const FLOOD_S = 5
const WARM_UP_S = 10
const BURST_S = 5
/** It may be faster than it was. */
const SPARE = 2
/** The policy's most. */
const A_SESSION = 10
/** While a burst may still use the whole patience. */
const SETTLING_MS = 5000

let fresh: FreshDatabase
let service: ServiceProcess
let apikey: string
let port: number
let capacity = 0
let next: () => Asking
let mint: (count: number) => Promise<void>
let lastSession: () => string
let closeStores: () => Promise<void>

beforeAll(async () => {
  fresh = await freshDatabase()
  const made = await deployment(fresh.url)
  apikey = made.apikey
  const direct = postgres(fresh.url, { max: 1 })
  await direct`update keystride.policy set policy = jsonb_set(policy, '{security_code_fallback,max_biometric_attempts}', ${String(A_SESSION)}::jsonb)`
  await direct.end()
  const redisUrl = inject('redisUrl')
  const env = { ...made.env, ...(redisUrl === null ? {} : { REDIS_URL: redisUrl }) }
  service = await startProcess({ ...env, TARGET_REF_PATTERNS: '3', QUEUE_MS: '1000' })
  port = Number(new URL(service.core).port)
  await enroll({ port, apikey, people: PEOPLE, references: 3 })
  const stores = await openStores(readConfig(env), jsonLog('silent'), { redis: true })
  closeStores = () => stores.close()

  const units: { person: number; session: string; requests: Buffer[] }[] = []
  const typed = new Array<number>(PEOPLE).fill(VERIFIED_FROM)
  // Typing that was never sent, made before it is due: it costs half of what a verify does.
  const typing = (person: number, session: string) => {
    const head = { apikey, 'content-type': 'application/json', 'x-service-session': session }
    const ordinal = typed[person] ?? VERIFIED_FROM
    typed[person] = ordinal + 1
    return request('POST', `/core/users/${userRef(person)}/verify`, head, bodyOf(person, ordinal))
  }
  let minted = 0
  mint = async (count) => {
    for (let n = 0; n < count; n += 32)
      await Promise.all(
        Array.from({ length: 32 }, async () => {
          const person = minted++ % PEOPLE
          const session = randomBytes(32).toString('base64url')
          const who = userRef(person)
          const lifetimeMs = 3_600_000
          await stores.sessions.mint(made.organizationId, {
            sha256: sha256Hex(session),
            userRef: who,
            memberRef: who,
            lifetimeMs,
          })
          units.push({ person, session, requests: Array.from({ length: A_SESSION }, () => typing(person, session)) })
        }),
      )
  }
  lastSession = () => units.findLast(({ person }) => person === 0)?.session ?? ''
  let turn = 0
  // Each person in turn, each session until it is used up.
  next = () => {
    turn = (turn + 1) % units.length
    const unit = units[turn]
    if (unit === undefined) throw new Error('there are too few sessions')
    const bytes = unit.requests.pop()
    if (unit.requests.length === 0) units.splice(turn, 1)
    if (bytes === undefined) throw new Error('a session has nothing left to type')
    return { kind: 'verify', bytes }
  }
}, 180_000)

afterAll(async () => {
  await closeStores()
  await service.stop()
  await fresh.drop()
})

const offer = (of: { perSecond: number; seconds: number; next: () => Asking }) =>
  openLoop({ ports: [port], connections: 300, ...of })

async function metric(name: string): Promise<number> {
  const text = await (await fetch(service.core.replace('/core', '/metrics'))).text()
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
}
const rss = () => metric('process_resident_memory_bytes')
const perSecond = (heard: readonly Heard[], from: number, to: number) =>
  heard.filter(({ dueAt, ms }) => dueAt + ms >= from && dueAt + ms < to).length / ((to - from) / 1000)

/** The middle one, of an odd or even number. */
const median = (values: readonly number[]): number => quantile(values, 0.5)
const times = (value: number) => `x ${value.toFixed(1)}`

/** Of each second: what the machine itself holds up is a second now and then, so the median second is without. */
const p99OfSeconds = (heard: readonly Heard[]): number[] =>
  Array.from({ length: FLOOD_S }, (_, second) =>
    p99Of(heard.filter(({ dueAt }) => Math.floor(dueAt / 1000) === second)),
  )

/** What is compared: what it can do, before and after; a calm load before and after; twice as much as it can do. */
interface Round {
  readonly capacity: number
  readonly base: readonly Heard[]
  readonly heard: readonly Heard[]
  readonly after: readonly Heard[]
}

describe.runIf(LONG)('more than the service can do', { timeout: 1_200_000 }, () => {
  // With twice as many connections as it works on, so that it is never short of work.
  const able = () => closedLoop(port, 64, BASE_S, next)
  const settled = (all: readonly Heard[]) => all.filter(({ dueAt }) => dueAt >= SETTLING_MS)
  const others = [`/core/users/${userRef(0)}`, '/core/organization', '/dashboard/users?limit=1']
  let n = 0
  /** Of each tenth request another one, of less importance. */
  function mixed(): Asking {
    n += 1
    const path = others[n % 30 === 10 ? 0 : n % 30 === 20 ? 1 : 2] ?? ''
    return n % 10 === 0 ? { kind: path, bytes: request('GET', path, { apikey }, '') } : next()
  }

  async function warmUp(): Promise<void> {
    await mint(4000)
    // Until its code is compiled.
    await closedLoop(port, 64, WARM_UP_S, next)
    capacity = await able()
  }

  async function oneRound(): Promise<Round> {
    await mint(Math.ceil((SPARE * capacity * BASE_S) / A_SESSION))
    const before = await able()
    await mint(Math.ceil((before * (2 * OVERLOAD_S + (1.4 + SPARE) * BASE_S)) / A_SESSION))
    const base = await offer({ perSecond: 0.7 * before, seconds: BASE_S, next })
    const heard = await offer({ perSecond: 2 * before, seconds: OVERLOAD_S, next: mixed })
    const after = await offer({ perSecond: 0.7 * before, seconds: BASE_S, next })
    return { capacity: (before + (await able())) / 2, base, heard, after }
  }

  it('is sent away at once, what it can do goes on, and it is as before afterwards', async () => {
    await warmUp()
    const before = await rss()
    const rounds: Round[] = []
    for (let round = 0; round < ROUNDS; round++) {
      rounds.push(await oneRound())
      capacity = median(rounds.map((one) => one.capacity))
    }
    await mint(Math.ceil((10 * capacity * BURST_S) / A_SESSION))
    const burst = await offer({ perSecond: 10 * capacity, seconds: BURST_S, next })
    const grown = ((await rss()) - before) / 2 ** 20

    const [lateMs, tillMs] = [SETTLING_MS, 1000 * OVERLOAD_S]
    const of = (figureOf: (round: Round) => number) => median(rounds.map(figureOf))
    const goodput = of(({ capacity, heard }) => perSecond(ofStatus(heard, 200), lateMs, tillMs) / capacity)
    const slower = of(({ base, heard }) => p99Of(settled(ofStatus(heard, 200))) / p99Of(base))
    const back = of(({ base, after }) => p99Of(settled(after)) / p99Of(base))
    const sentAway = rounds.flatMap(({ heard }) => settled(ofStatus(heard, 503)))
    const calm = rounds.flatMap(({ after }) => settled(after))
    const all = [...rounds.flatMap(({ heard, after }) => [...heard, ...after]), ...burst]
    const lost = all.filter(({ status }) => status !== 200 && status !== 503)
    console.log(
      `capacity ${rounds.map((one) => one.capacity.toFixed(0)).join(', ')}/s; p99 at 0.7 of it ${of(({ base }) => p99Of(base)).toFixed(0)} ms, ` +
        `sent away in ${p99Of(sentAway).toFixed(0)} ms (p99); ${ofStatus(calm, 503).length} of ${calm.length} five seconds after`,
    )
    for (const { body } of sentAway.slice(0, 100))
      expect(JSON.parse(body)).toMatchObject({ success: false, reason: 'api-failed' })
    const share = (kind: string) => {
      const asked = rounds.flatMap(({ heard }) => settled(heard)).filter((one) => one.kind === kind)
      return ofStatus(asked, 200).length / asked.length
    }
    const [verify = 0, ...rest] = ['verify', ...others].map(share)
    for (const less of rest) expect(less).toBeLessThanOrEqual(verify)
    expect(ofStatus(burst, 503).length).toBeGreaterThan(0)
    expect(await metric('keystride_http_requests_waiting')).toBe(0)
    expect(await metric('keystride_http_requests_shed_total\\{lane="verify"\\}')).toBeGreaterThan(0)
    expect(service.process.exitCode).toBeNull()
    const statuses = [...new Set(lost.map(({ status }) => status))].join(', ')
    const which = lost.length === 0 ? '' : ` (status ${statuses})`
    figure('F18', `${lost.length} of ${all.length} lost or otherwise${which}`, '0', lost.length === 0)
    figure('F18', `RSS +${grown.toFixed(0)} MiB`, '+256 MiB at the most', grown <= 256)
    figure('F18', `p99 ${times(back)} five seconds after`, 'as before: x 1.5 at the most', back <= 1.5)
    figure('F18', `goodput ${goodput.toFixed(2)} C at 2 C`, '0.9 C or more', goodput >= 0.9)
    figure('F18', `p99 of the admitted ${times(slower)} of that at 0.7 C`, 'x 2 at the most', slower <= 2)
  })

  it('keeps a flood of security codes from the typing', async () => {
    if (capacity === 0) await warmUp()
    const [calm, codes] = [0.3 * capacity, 500]
    const alone: number[] = []
    const besideCodes: number[] = []
    const typing: Heard[] = []
    const flood: Heard[] = []
    for (let round = 0; round < FLOODS; round++) {
      await mint(Math.ceil((2 * calm * FLOOD_S) / A_SESSION) + 64)
      const base = await offer({ perSecond: calm, seconds: FLOOD_S, next })
      const headers = { apikey, 'content-type': 'application/json', 'x-service-session': lastSession() }
      const code = request('POST', `/core/users/${userRef(0)}/verify`, headers, '{"securityCode":"918273"}')
      let owed = 0
      const withCodes = (): Asking => {
        owed += calm / (calm + codes)
        if (owed < 1) return { kind: 'code', bytes: code }
        owed -= 1
        return next()
      }
      const heard = await offer({ perSecond: calm + codes, seconds: FLOOD_S, next: withCodes })
      const beside = heard.filter(({ kind }) => kind === 'verify')
      alone.push(...p99OfSeconds(base))
      besideCodes.push(...p99OfSeconds(beside))
      typing.push(...beside)
      flood.push(...heard.filter(({ kind }) => kind === 'code'))
    }
    const failed = typing.length - ofStatus(typing, 200).length
    const [aloneMs, besideMs] = [median(alone), median(besideCodes)]
    const slower = besideMs / aloneMs
    console.log(
      `${codes} codes a second, ${((100 * ofStatus(flood, 429).length) / flood.length).toFixed(0)} % of them 429: ` +
        `p99 of typing in the median second ${aloneMs.toFixed(1)} ms alone, ${besideMs.toFixed(1)} ms beside them`,
    )
    expect(flood.filter(({ status }) => status !== 200 && status !== 429)).toEqual([])
    figure('F19', `${failed} of ${typing.length} verifies failed beside ${codes} codes a second`, '0', failed === 0)
    figure('F19', `p99 of verify in the median second ${times(slower)}`, 'x 1.5 at the most', slower <= 1.5)
  })
})
