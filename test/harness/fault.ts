import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'
import { audit } from './audit.js'
import { type Answer, type Ask, client, type Load, startLoad } from './load.js'
import { until } from './patience.js'
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
  /** Starts the fault and resolves when it takes effect. */
  readonly hurt: () => unknown
  /** Ends the fault; resolves when the store is back. */
  readonly heal: () => unknown
  /**
   * How a service shows that it noticed the fault, before the fault ends. `status`: it reports NOK and refuses every call from then
   * on. `refusals`: some calls are refused. `perhaps`: the fault may go unnoticed. The default is `status`.
   */
  readonly noticed?: 'status' | 'refusals' | 'perhaps'
  /** The store answers late. A process that stands still meanwhile gets the answer in time, and serves calls. */
  readonly answersLate?: boolean
}

/** Requirement of every fault, for the table of trust. */
export const PROMISED =
  'NOK and every call refused while the store is away, 0 authenticated, OK after its return, acknowledged N of N'

/** Refusals after NOK that each service must give before the fault ends. */
const REFUSALS_MIN = 20
/** Answers that each service must give before a fault and after it. */
const SERVED_MIN = 30

/**
 * Injects one fault into services under load and checks the promises of degraded mode: NOK, every call refused until the store
 * is back, OK again, no acknowledged write lost. The load runs for `calmMs` before the fault. Returns the counts of `audit` as text.
 */
export async function injectFault(victims: readonly Victim[], fault: Fault, calmMs = 0): Promise<string> {
  const all = await Promise.all(
    victims.map(async (victim) => ({
      victim,
      load: await startLoad(victim.service.core, victim.apikey, { leaving: 1 }),
      ask: client(victim.service.core, victim.apikey),
      hurtAt: 0,
      nokAt: Number.POSITIVE_INFINITY,
      healingAt: 0,
      healedAt: 0,
    })),
  )
  try {
    await Promise.all(all.map(({ load }) => answers(load, isServed, SERVED_MIN)))
    await delay(calmMs)
    await happen(all, fault)
  } finally {
    await Promise.all(all.map(({ load }) => load.stop()))
    for (const { ask } of all) ask.end()
  }
  const texts: string[] = []
  for (const one of all) texts.push(await judge(one, fault))
  return texts.join('; ')
}

/** A service under load; times as performance.now(). */
interface Watched {
  readonly victim: Victim
  readonly load: Load
  readonly ask: Ask
  hurtAt: number
  /** Infinity if NOK was not reported. */
  nokAt: number
  healingAt: number
  healedAt: number
}

async function happen(all: readonly Watched[], { hurt, heal, noticed = 'status' }: Fault): Promise<void> {
  for (const one of all) one.hurtAt = performance.now()
  try {
    await hurt()
    await Promise.all(
      all.map(async (one) => {
        if (noticed === 'perhaps') return
        if (noticed === 'refusals') return answers(one.load, isRefusal, 1, one.hurtAt)
        await until(async () => !(await isOk(one.ask)))
        one.nokAt = performance.now()
        await answers(one.load, isRefusal, REFUSALS_MIN, one.nokAt)
      }),
    )
  } finally {
    for (const one of all) one.healingAt = performance.now()
    await heal()
  }
  await Promise.all(
    all.map(async (one) => {
      one.healedAt = performance.now()
      await until(() => isOk(one.ask))
      await answers(one.load, isServed, SERVED_MIN, performance.now())
    }),
  )
}

async function judge({ victim, load, hurtAt, nokAt, healingAt, healedAt }: Watched, fault: Fault): Promise<string> {
  const since = load.answers.filter(({ askedAt, ms }) => askedAt + ms >= hurtAt)
  const refused = since.filter(isRefusal)
  for (const one of refused) expect(one).toMatchObject({ retryAfter: '2', json: { reason: 'api-failed' } })
  const whileNok = since.filter(({ askedAt, ms }) => askedAt >= nokAt && askedAt + ms < healingAt)
  if (fault.answersLate !== true) expect(whileNok.filter((answer) => !isRefusal(answer))).toEqual([])
  wellBehaved(victim, since)
  const nok = nokAt < healingAt ? `NOK after ${Math.round(nokAt - hurtAt)} ms, ` : ''
  const served = since.find((answer) => isServed(answer) && answer.askedAt > healedAt)
  const back = Math.round((served?.askedAt ?? healedAt) - healedAt)
  const kept = await audit(victim, load)
  const calls = `${refused.length} calls of ${load.answers.length} refused`
  console.log(`${fault.name} (${victim.name}): ${nok}served ${back} ms after the return, ${calls}, ${kept}`)
  return kept
}

async function isOk(ask: Ask): Promise<boolean> {
  const { status, json } = await ask('status', 'GET', '/status')
  expect([status, json?.status]).toEqual([200, expect.stringMatching(/^N?OK$/)])
  return json.status === 'OK'
}

const isServed = ({ status }: Answer) => status >= 200 && status < 300
const isRefusal = ({ status }: Answer) => status === 503

/** Waits for `count` answers of a kind to requests after `since`. */
async function answers(load: Load, isOne: (answer: Answer) => boolean, count: number, since = 0): Promise<void> {
  await until(() => load.answers.filter((answer) => answer.askedAt >= since && isOne(answer)).length >= count)
}

/** No broken connection, no 5xx other than 503, and a live process without an unhandled rejection. */
export function wellBehaved({ name, service }: Pick<Victim, 'name' | 'service'>, given: readonly Answer[]): void {
  const odd = given.filter(({ status }) => status === 0 || (status >= 500 && status !== 503))
  expect(odd, `${name}: ${service.output().slice(-2000)}`).toEqual([])
  expect(service.process.exitCode).toBeNull()
  expect(service.output()).not.toMatch(/unhandledRejection|uncaughtException/)
}

/** A value of `/metrics`; NaN if absent. */
export async function metric({ core }: Pick<ServiceProcess, 'core'>, name: string): Promise<number> {
  const text = await (await fetch(new URL('/metrics', core), { headers: { connection: 'close' } })).text()
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
}

export function countBy<T>(values: readonly T[], key: (value: T) => string): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const value of values) counts[key(value)] = (counts[key(value)] ?? 0) + 1
  return counts
}
