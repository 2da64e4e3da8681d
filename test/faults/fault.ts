import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'
import { connectPostgres } from '../../src/storage/postgres/client.js'
import { until } from '../storage/fixtures.js'
import { quantile } from './figures.js'
import { type Answer, client, type Load, startLoad } from './load.js'
import type { ServiceProcess } from './service-process.js'

/** A service under load, and the database to hold its answers against. */
export interface Victim {
  readonly name: string
  readonly service: ServiceProcess
  readonly apikey: string
  /** Past every proxy. */
  readonly databaseUrl: () => string
}

export interface Fault {
  readonly name: string
  /** Resolves once it hurts; gives since when, as performance.now() counts, where that took some preparing. */
  readonly hurt: () => unknown
  /** Resolves as soon as the store is back. */
  readonly heal: () => unknown
  /** How long it hurts once every service says so. */
  readonly holdMs?: number
  /** The store still answers, late: then the first ones may wait for it. */
  readonly slow?: boolean
}

export type Figures = Record<string, string>

const NOK_MS = 1000
const OK_MS = 2000
const DEGRADED_P99_MS = 50
const SLOW_P99_MS = 250
const HUNG_MS = 1000

/** The status as its watcher saw it: when asked, when told. */
interface Seen {
  readonly askedAt: number
  readonly toldAt: number
  readonly status: string
}

function watchStatus({ service, apikey }: Victim) {
  const seen: Seen[] = []
  const ask = client(service.core, apikey)
  let over = false
  const watching = (async () => {
    while (!over) {
      const { status, json, askedAt, ms } = await ask('status', 'GET', '/status')
      seen.push({ askedAt, toldAt: askedAt + ms, status: status === 200 ? json.status : `status ${status}` })
      await delay(15)
    }
  })()
  return {
    seen,
    /** When it was first told so to somebody who asked after `since`. */
    async first(status: 'OK' | 'NOK', since: number): Promise<number> {
      const found = () => seen.find((one) => one.askedAt >= since && one.status === status)
      await until(async () => found() !== undefined, 15_000)
      return found()?.toldAt ?? Number.NaN
    },
    async stop() {
      over = true
      await watching
      ask.end()
    },
  }
}

/**
 * Lets one fault happen to services under load and holds them to what is promised of degraded mode: NOK within 1 s, every
 * call refused at once meanwhile, OK within 2 s, nothing hung, nothing acknowledged and lost. Gives one row of figures a
 * service.
 */
export async function suffer(victims: readonly Victim[], { name, hurt, heal, holdMs = 1500, slow = false }: Fault) {
  const loads = await Promise.all(victims.map(({ service, apikey }) => startLoad(service.core, apikey)))
  const watches = victims.map(watchStatus)
  await delay(500)
  const begunAt = performance.now()
  const told = await hurt()
  const hurtAt = typeof told === 'number' ? told : begunAt
  const nokAt = await Promise.all(watches.map((watch) => watch.first('NOK', hurtAt)))
  await delay(holdMs)
  const healingAt = performance.now()
  await heal()
  const healedAt = performance.now()
  const okAt = await Promise.all(watches.map((watch) => watch.first('OK', healingAt)))
  await delay(300)
  await Promise.all(loads.map((load) => load.stop()))
  await Promise.all(watches.map((watch) => watch.stop()))

  const rows: Figures[] = []
  for (const [i, victim] of victims.entries()) {
    const load = loads[i] as Load
    const seen = watches[i]?.seen ?? []
    const [nok = Number.NaN, ok = Number.NaN] = [nokAt[i], okAt[i]]
    const since = load.answers.filter(({ askedAt, ms }) => askedAt + ms >= hurtAt)
    const refused = since.filter(({ status }) => status === 503)
    const whileNok = since.filter(({ askedAt, ms }) => askedAt >= nok && askedAt + ms < healingAt)
    // Asking for the status touches nothing: what it takes meanwhile is what machine and client add.
    const noise = Math.max(
      ...seen.filter(({ askedAt }) => askedAt >= hurtAt).map(({ askedAt, toldAt }) => toldAt - askedAt),
    )
    const audited = await audit(victim, load)
    // What a call took before it began to hurt is not the fault's.
    const waited = (given: readonly Answer[]) =>
      given.map(({ askedAt, ms: took }) => took - Math.max(0, hurtAt - askedAt))
    const p99 = quantile(waited(refused), 0.99)
    const p99Nok = quantile(waited(whileNok), 0.99)
    const slowest = Math.max(...waited(since))
    rows.push({
      fault: name,
      sessions: victim.name,
      NOK: ms(nok - hurtAt),
      OK: ms(Math.max(0, ok - healedAt)),
      '503s': String(refused.length),
      'p50 once NOK': ms(quantile(waited(whileNok), 0.5)),
      'p99 once NOK': ms(p99Nok),
      'p99 of all': ms(p99),
      slowest: ms(slowest),
      'slowest /status': ms(noise),
      enrolments: audited.enrolments,
      attempts: audited.attempts,
    })
    expect.soft(nok - hurtAt, `${name}: NOK`).toBeLessThan(NOK_MS + noise)
    expect.soft(ok - healedAt, `${name}: OK again`).toBeLessThan(OK_MS + noise)
    if (whileNok.length > 0) expect.soft(p99Nok, `${name}: p99 once NOK`).toBeLessThan(DEGRADED_P99_MS + noise)
    else expect(holdMs).toBe(0)
    if (slow) expect.soft(p99, `${name}: p99 of every 503`).toBeLessThan(SLOW_P99_MS + noise)
    expect.soft(slowest, `${name}: slowest`).toBeLessThan(HUNG_MS + noise)
    expect
      .soft(
        whileNok.filter(({ status }) => status !== 503),
        `${name}: answers while NOK`,
      )
      .toEqual([])
    for (const one of refused) expect(one).toMatchObject({ retryAfter: '2', json: { reason: 'api-failed' } })
    expect.soft(countBy(seen, ({ status }) => status)).toEqual({ OK: expect.any(Number), NOK: expect.any(Number) })
    wellBehaved(victim, since)
  }
  return rows
}

/** No broken connection, no answer that is a bug, and the process lives without a word of a rejection nobody handled. */
export function wellBehaved({ name, service }: Victim, given: readonly Answer[]): void {
  const odd = given.filter(({ status }) => status === 0 || (status >= 500 && status !== 503))
  expect(odd, `${name}: ${service.output().slice(-2000)}`).toEqual([])
  expect(service.process.exitCode).toBeNull()
  expect(service.output()).not.toMatch(/unhandledRejection|uncaughtException/)
}

/** Holds what was acknowledged against what the database has, and waits until no connection is in use. */
export async function audit(victim: Victim, load: Load): Promise<{ enrolments: string; attempts: string }> {
  const database = connectPostgres({ url: victim.databaseUrl(), max: 1 })
  const members = await database.asSystem(
    (sql) => sql<{ user_ref: string; counted: number; stored: number }[]>`
      select a.user_ref, m.n_visible + m.n_sensitive as counted, (
        select count(*)::int from keystride.reference_pattern r where r.organization_id = m.organization_id
          and r.member_id = m.id and r.generation = m.generation) as stored
      from keystride.account a join keystride.member m on m.organization_id = a.organization_id and m.account_id = a.id`,
  )
  const attempts = await database.asSystem(
    (sql) => sql<{ id: string; authenticated: boolean; session_id: string }[]>`
      select id, authenticated, session_id from keystride.authentication`,
  )
  await until(async () => {
    const [row] = await database.call(
      (sql) => sql<{ busy: number }[]>`
        select count(*)::int as busy from pg_stat_activity where application_name = 'keystride'
          and pid <> pg_backend_pid() and state <> 'idle'`,
    )
    return row?.busy === 0
  })
  await database.close()

  const stored = new Map(members.map((member) => [member.user_ref, member]))
  let [acknowledged, present] = [0, 0]
  for (const [userRef, counted] of load.enrolled) {
    const has = stored.get(userRef)?.stored ?? 0
    acknowledged += counted.acknowledged
    present += Math.min(has, counted.acknowledged)
    expect(has, `${userRef}: no more than were sent`).toBeLessThanOrEqual(counted.sent)
  }
  expect(present, `${victim.name}: acknowledged enrolments that are there`).toBe(acknowledged)
  expect(members.filter((member) => member.counted !== member.stored)).toEqual([])

  const successes = new Set(attempts.filter(({ authenticated }) => authenticated).map(({ id }) => id))
  const recorded = new Set(attempts.map(({ id }) => id))
  expect([...load.authenticated].filter((id) => !successes.has(id))).toEqual([])
  expect([...load.judged].filter((id) => !recorded.has(id))).toEqual([])
  const ofSession = countBy(attempts, ({ session_id }) => session_id)
  expect(Object.entries(ofSession).filter(([, count]) => count > 3)).toEqual([])
  return {
    enrolments: `${present} of ${acknowledged}`,
    attempts: `${[...load.judged].filter((id) => recorded.has(id)).length} of ${load.judged.size}`,
  }
}

const ms = (value: number): string => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`

export function countBy<T>(values: readonly T[], key: (value: T) => string): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const value of values) counts[key(value)] = (counts[key(value)] ?? 0) + 1
  return counts
}
