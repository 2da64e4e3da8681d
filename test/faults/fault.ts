import { setTimeout as delay } from 'node:timers/promises'
import postgres from 'postgres'
import { expect } from 'vitest'
import { until } from '../patience.js'
import { quantile } from './figures.js'
import { type Answer, client, type Load, startLoad } from './load.js'
import type { ServiceProcess } from './service-process.js'

/** A service under load, and the database that its answers are compared with. */
export interface Victim {
  readonly name: string
  readonly service: ServiceProcess
  readonly apikey: string
  /** URL of the database itself, not of a proxy. */
  readonly databaseUrl: () => string
}

export interface Fault {
  readonly name: string
  /**
   * Starts the fault and resolves when it takes effect. May return that time, as performance.now(), if preparation took
   * long.
   */
  readonly hurt: () => unknown
  /** Ends the fault; resolves when the store is back. */
  readonly heal: () => unknown
  /**
   * Duration after every service has reported NOK, ms; more than `REFUSED_MS`. 0: the fault ends by itself and may go
   * unnoticed. Default 1500.
   */
  readonly holdMs?: number
  /**
   * Upper bound of the p99 of all 503s, ms. For a store that answers late or does not signal its end, so that the first
   * requests wait for it.
   */
  readonly slowMs?: number
  /** The store answers, too late: to a process that stands still meanwhile, its answer is in time, and the store is back. */
  readonly answersLate?: boolean
}

/** One row of measurements, by column. `held` is "yes" if every promise was kept. */
export type Figures = Record<string, string>

/** The rows as one figure for the table of trust. */
export const figureText = (rows: readonly Figures[]): string =>
  rows
    .map((row) => {
      const whileNok =
        row.NOK === undefined
          ? []
          : [
              `NOK after ${row.NOK}`,
              `then 503 in ${row['p50 once NOK']} (p50) and ${row['p99 once NOK']} (p99), ${row['in 50 ms, own clock']} within 50 ms by the service's clock`,
              `${row['authenticated while NOK']} authenticated while NOK`,
            ]
      const later = [
        `OK ${row.OK} after the return`,
        `${row['503s']} answers of 503 (p99 ${row['p99 of all']})`,
        `slowest answer ${row.slowest}, slowest /status ${row['slowest /status']}`,
        `${row.enrolments} acknowledged enrollments present, ${row.attempts} attempts recorded`,
      ]
      return `${row.fault} (${row.sessions}): ${[...whileNok, ...later].join(', ')}`
    })
    .join('; ')

export const allHeld = (rows: readonly Figures[]): boolean =>
  rows.length > 0 && rows.every(({ held }) => held === 'yes')

const NOK_MS = 1000
const OK_MS = 2000
/** 99 % of the 503s take at most this by the service's own histogram, ms. A client on the same two cores adds delays of its own. */
const DEGRADED_MS = 50
/** Running requests are refused by then, ms: the service waits for a store for at most 300 ms. */
const REFUSED_MS = 400
const HUNG_MS = 1000
/** An answer that is late exceeds the limit of a ping by this at least, ms. */
const STOOD_STILL_MS = 100

/**
 * Injects one fault into services under load and checks the promises of degraded mode: NOK within 1 s, every call
 * refused at once until the store is back, OK within 2 s, no hung call, no acknowledged write lost. Returns one row of
 * figures for each service.
 */
export async function injectFault(victims: readonly Victim[], fault: Fault): Promise<Figures[]> {
  const watched = await Promise.all(
    victims.map(async (victim) => ({
      victim,
      load: await startLoad(victim.service.core, victim.apikey),
      status: watchStatus(victim),
    })),
  )
  const times = await runFault(watched, fault)
  await Promise.all(watched.flatMap(({ load, status }) => [load.stop(), status.stop()]))
  const rows: Figures[] = []
  for (const [i, one] of watched.entries()) rows.push(await judge(one, fault, times, i))
  return rows
}

interface Watched {
  readonly victim: Victim
  readonly load: Load
  readonly status: ReturnType<typeof watchStatus>
}

/** Times of the events, as performance.now(); arrays are by victim. */
interface Times {
  hurtAt: number
  nokAt: number[]
  whenNok: Scraped[]
  whenHealing: Scraped[]
  healingAt: number
  healedAt: number
  okAt: number[]
}

async function runFault(watched: readonly Watched[], { hurt, heal, holdMs = 1500 }: Fault): Promise<Times> {
  if (holdMs > 0 && holdMs <= REFUSED_MS) throw new Error(`a fault of ${holdMs} ms is too short to be noticed`)
  await delay(500)
  const times: Times = {
    hurtAt: performance.now(),
    nokAt: [],
    whenNok: [],
    whenHealing: [],
    healingAt: 0,
    healedAt: 0,
    okAt: [],
  }
  const scrapeAll = () => Promise.all(watched.map(({ victim }) => scrape(victim)))
  try {
    const since = await hurt()
    if (typeof since === 'number') times.hurtAt = since
    if (holdMs > 0) {
      times.nokAt = await Promise.all(watched.map(({ status }) => status.first('NOK', times.hurtAt)))
      // Running requests are refused by then.
      await delay(REFUSED_MS)
      times.whenNok = await scrapeAll()
      await delay(holdMs - REFUSED_MS)
      times.whenHealing = await scrapeAll()
    }
  } finally {
    times.healingAt = performance.now()
    await heal()
    times.healedAt = performance.now()
  }
  times.okAt = await Promise.all(watched.map(({ status }) => status.first('OK', times.healingAt)))
  await delay(300)
  return times
}

async function judge({ victim, load, status }: Watched, fault: Fault, times: Times, i: number): Promise<Figures> {
  const { name, holdMs = 1500, slowMs } = fault
  const { hurtAt, healingAt, healedAt } = times
  const ok = times.okAt[i] ?? Number.NaN
  const since = load.answers.filter(({ askedAt, ms }) => askedAt + ms >= hurtAt)
  const refused = since.filter((answer) => answer.status === 503)
  // Excludes the time that a call took before the fault.
  const waited = (given: readonly Answer[]) => given.map(({ askedAt, ms }) => ms - Math.max(0, hurtAt - askedAt))
  const p99 = quantile(waited(refused), 0.99)
  const slowest = Math.max(...waited(since))
  const asked = status.seen.filter(({ askedAt }) => askedAt >= hurtAt)
  const slowestStatus = slowestOf(asked)
  const noise = noiseOf(asked)

  const row: Figures = { fault: name, sessions: victim.name }
  let held = true
  const keeps = (kept: boolean, what: string) => {
    held &&= kept
    expect.soft(kept, `${name}: ${what}`).toBe(true)
  }
  if (holdMs > 0) {
    const nok = times.nokAt[i] ?? Number.NaN
    const whileNok = since.filter(({ askedAt, ms }) => askedAt >= nok && askedAt + ms < healingAt)
    const [before, after] = [times.whenNok[i] as Scraped, times.whenHealing[i] as Scraped]
    row.NOK = inMs(nok - hurtAt)
    row['p50 once NOK'] = inMs(quantile(waited(whileNok), 0.5))
    row['p99 once NOK'] = inMs(quantile(waited(whileNok), 0.99))
    row['in 50 ms, own clock'] = `${(100 * shareWithin(before, after, DEGRADED_MS)).toFixed(1)} %`
    keeps(nok - hurtAt < NOK_MS + noise, `NOK after ${inMs(nok - hurtAt)}`)
    const inTime = shareWithin(before, after, slowestStatus > STOOD_STILL_MS ? noise : DEGRADED_MS)
    keeps(inTime >= 0.99, `${inTime} of the 503s in 50 ms`)
    const others = whileNok.filter((answer) => answer.status !== 503)
    const oks = asked.filter((one) => one.status === 'OK' && one.askedAt >= nok)
    const wasBack = ({ askedAt, ms }: Answer) =>
      oks.some((one) => one.answeredAt > askedAt - noise && one.askedAt < askedAt + ms)
    const stoodStill = fault.answersLate === true && slowestStatus > STOOD_STILL_MS
    const served = stoodStill ? others.filter((answer) => !wasBack(answer)) : others
    keeps(served.length === 0, `${JSON.stringify(served[0])} while NOK`)
    const authenticated = others.filter(({ json }) => json?.authentication?.authenticated).length
    keeps(authenticated === 0, `${authenticated} authenticated while NOK`)
    row['authenticated while NOK'] = String(authenticated)
  }
  const audited = await audit(victim, load)
  row.OK = inMs(Math.max(0, ok - healedAt))
  row['503s'] = String(refused.length)
  row['p99 of all'] = inMs(p99)
  row.slowest = inMs(slowest)
  row['slowest /status'] = inMs(slowestStatus)
  row.enrolments = audited.enrolments
  row.attempts = audited.attempts
  keeps(ok - healedAt < OK_MS + noise, `OK again after ${inMs(ok - healedAt)}`)
  if (slowMs !== undefined) keeps(p99 < slowMs + noise, `p99 of every 503 ${inMs(p99)}`)
  keeps(slowest < HUNG_MS + noise, `slowest ${inMs(slowest)}`)
  row.held = held ? 'yes' : 'no'
  for (const one of refused) expect(one).toMatchObject({ retryAfter: '2', json: { reason: 'api-failed' } })
  expect(asked.filter((one) => !['OK', 'NOK'].includes(one.status))).toEqual([])
  wellBehaved(victim, since)
  return row
}

/** One status answer: the time of the request and of the answer, and the status. */
interface Seen {
  readonly askedAt: number
  readonly answeredAt: number
  readonly status: string
}

const slowestOf = (seen: readonly Seen[]) => Math.max(0, ...seen.map(({ askedAt, answeredAt }) => answeredAt - askedAt))

/**
 * Delay of a measured call by the machine, ms. `/status` uses no store, so its time is the delay by the machine and
 * this client in one turn of the event loop. A measured call takes a few turns.
 */
export const noiseOf = (seen: readonly Seen[]) => 2 * slowestOf(seen)

/** Asks for the status again and again. */
export function watchStatus({ service, apikey }: Victim) {
  const seen: Seen[] = []
  const ask = client(service.core, apikey)
  let over = false
  const watching = (async () => {
    while (!over) {
      const { status, json, askedAt, ms } = await ask('status', 'GET', '/status')
      seen.push({ askedAt, answeredAt: askedAt + ms, status: status === 200 ? json.status : `status ${status}` })
      await delay(15)
    }
  })()
  return {
    seen,
    /** Time of the first answer with this status to a request after `since`. */
    async first(status: 'OK' | 'NOK', since: number): Promise<number> {
      const found = () => seen.find((one) => one.askedAt >= since && one.status === status)
      await until(async () => found() !== undefined)
      return found()?.answeredAt ?? Number.NaN
    },
    async stop() {
      over = true
      await watching
      ask.end()
    },
  }
}

/** Answers of the service with status 500 and above. */
interface Scraped {
  readonly refused: number
  /** Those that took at most so many seconds. */
  readonly within: ReadonlyMap<number, number>
}

async function scrape({ service }: Victim): Promise<Scraped> {
  const text = await (await fetch(service.core.replace('/core', '/metrics'))).text()
  const within = new Map<number, number>()
  for (const line of text.split('\n')) {
    const bound = /^keystride_http_request_duration_seconds_bucket\{.*le="([^"]+)"/.exec(line)?.[1]
    if (bound === undefined || !line.includes('status_class="5xx"')) continue
    const seconds = bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound)
    within.set(seconds, (within.get(seconds) ?? 0) + Number(line.split(' ').at(-1)))
  }
  return { refused: within.get(Number.POSITIVE_INFINITY) ?? 0, within }
}

/** Share of the answers between two scrapes that took at most `ms`, or the next longer time that the service counts. */
function shareWithin(before: Scraped, after: Scraped, ms: number): number {
  const bound = Math.min(...[...after.within.keys()].filter((seconds) => seconds * 1000 >= ms))
  return ((after.within.get(bound) ?? 0) - (before.within.get(bound) ?? 0)) / (after.refused - before.refused)
}

/** No broken connection, no 5xx other than 503, and a live process without an unhandled rejection. */
export function wellBehaved({ name, service }: Pick<Victim, 'name' | 'service'>, given: readonly Answer[]): void {
  const odd = given.filter(({ status }) => status === 0 || (status >= 500 && status !== 503))
  expect(odd, `${name}: ${service.output().slice(-2000)}`).toEqual([])
  expect(service.process.exitCode).toBeNull()
  expect(service.output()).not.toMatch(/unhandledRejection|uncaughtException/)
}

/** Compares acknowledged writes with the database, and waits until no connection is in use. */
export async function audit(
  victim: Pick<Victim, 'name' | 'databaseUrl'>,
  load: Pick<Load, 'enrolled' | 'judged' | 'authenticated'>,
): Promise<{ enrolments: string; attempts: string }> {
  // Without the timeouts of the service: there may be millions of rows.
  const direct = postgres(victim.databaseUrl(), { max: 1 })
  const found = await direct.begin(async (sql) => {
    await sql`set local role keystride_system`
    const members = await sql<{ user_ref: string; counted: number; stored: number }[]>`
      select a.user_ref, m.n_visible + m.n_sensitive as counted, (
        select count(*)::int from keystride.reference_pattern r where r.organization_id = m.organization_id
          and r.member_id = m.id and r.generation = m.generation and r.kind = 'enrolled') as stored
      from keystride.account a join keystride.member m on m.organization_id = a.organization_id and m.account_id = a.id`
    const overused = await sql`
      select session_id, method, count(*) from keystride.authentication group by 1, 2 having count(*) > 3`
    return {
      members,
      overused,
      unrecorded: await unrecorded(sql, load.judged),
      unproved: await unrecorded(sql, load.authenticated, true),
    }
  })
  await nothingInUse(direct)
  await direct.end()

  const stored = new Map(found.members.map((member) => [member.user_ref, member]))
  let [acknowledged, present] = [0, 0]
  for (const [userRef, counted] of load.enrolled) {
    const has = stored.get(userRef)?.stored ?? 0
    acknowledged += counted.acknowledged
    present += Math.min(has, counted.acknowledged)
    expect(has, `${userRef}: no more than were sent`).toBeLessThanOrEqual(counted.sent)
  }
  expect(present, `${victim.name}: acknowledged enrolments present`).toBe(acknowledged)
  expect(found.members.filter((member) => member.counted !== member.stored)).toEqual([])
  expect(found.unproved, 'authenticated without a successful record').toEqual([])
  expect(found.unrecorded, 'judged without a record').toEqual([])
  expect([...found.overused], 'sessions with more than their budget').toEqual([])
  const { size } = load.judged
  return {
    enrolments: `${present} of ${acknowledged}`,
    attempts: `${size - found.unrecorded.length} of ${size}`,
  }
}

const IDS_AT_ONCE = 5000

/** Attempts without a record of their id; with `succeeded`, without a successful one. */
async function unrecorded(
  sql: postgres.TransactionSql,
  ids: ReadonlySet<string>,
  succeeded = false,
): Promise<string[]> {
  const missing: string[] = []
  const all = [...ids]
  for (let from = 0; from < all.length; from += IDS_AT_ONCE) {
    const rows = await sql<{ id: string }[]>`
      select asked.id from unnest(${all.slice(from, from + IDS_AT_ONCE)}::uuid[]) asked (id) where not exists (
        select from keystride.organization o
          join keystride.authentication a on a.organization_id = o.organization_id and a.id = asked.id
        where a.authenticated or not ${succeeded})`
    missing.push(...rows.map(({ id }) => id))
  }
  return missing
}

/** Waits until the service has only idle connections; fails with the busy ones. */
async function nothingInUse(direct: postgres.Sql): Promise<void> {
  let busy: readonly object[] = []
  const idle = until(async () => {
    busy = await direct`
      select pid, state, query, now() - query_start as since from pg_stat_activity
      where application_name = 'keystride' and datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'`
    return busy.length === 0
  })
  await idle.catch(() => expect(busy, 'connections in use').toEqual([]))
}

const inMs = (value: number): string => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`

export function countBy<T>(values: readonly T[], key: (value: T) => string): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const value of values) counts[key(value)] = (counts[key(value)] ?? 0) + 1
  return counts
}
