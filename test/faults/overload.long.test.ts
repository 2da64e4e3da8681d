import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { userRef } from '../../bench/ratio/people.js'
import { request } from '../../bench/shared/drive.js'
import { figure, LONG } from '../trust/figure.js'
import { quantile } from './figures.js'
import { type Asking, type Heard, ofStatus, p99Of } from './open-loop.js'
import { A_SESSION, BASE_S, type TypingCrowd, typingCrowd } from './typing-crowd.js'

/**
 * The compared loads alternate, and medians are compared, because a shared machine may be half as fast a minute later.
 */
const ROUNDS = 8
const OVERLOAD_S = 14
const BURST_S = 5
/** Reserve of prepared requests, as a factor: the service may be faster than before. */
const SPARE = 2
/** Time in which a burst may still use the whole queue time. */
const SETTLING_MS = 5000

let crowd: TypingCrowd
beforeAll(async () => {
  crowd = await typingCrowd()
}, 180_000)
afterAll(() => crowd.close())

const rss = () => crowd.metric('process_resident_memory_bytes')
const perSecond = (heard: readonly Heard[], from: number, to: number) =>
  heard.filter(({ dueAt, ms }) => dueAt + ms >= from && dueAt + ms < to).length / ((to - from) / 1000)

const median = (values: readonly number[]): number => quantile(values, 0.5)
const times = (value: number) => `x ${value.toFixed(1)}`

/** One round: the capacity (mean of before and after), a calm load before, twice the capacity, a calm load after. */
interface Round {
  readonly capacity: number
  readonly base: readonly Heard[]
  readonly heard: readonly Heard[]
  readonly after: readonly Heard[]
}

describe.runIf(LONG)('load above the capacity', { timeout: 1_200_000 }, () => {
  const settled = (all: readonly Heard[]) => all.filter(({ dueAt }) => dueAt >= SETTLING_MS)
  const others = [`/core/users/${userRef(0)}`, '/core/organization', '/dashboard/users?limit=1']
  let n = 0
  /** Every tenth request is a less important one. */
  function mixed(): Asking {
    n += 1
    const path = others[n % 30 === 10 ? 0 : n % 30 === 20 ? 1 : 2] ?? ''
    return n % 10 === 0 ? { kind: path, bytes: request('GET', path, { apikey: crowd.apikey }, '') } : crowd.next()
  }

  async function oneRound(capacity: number): Promise<Round> {
    await crowd.mint(Math.ceil((SPARE * capacity * BASE_S) / A_SESSION))
    const before = await crowd.able()
    await crowd.mint(Math.ceil((before * (2 * OVERLOAD_S + (1.4 + SPARE) * BASE_S)) / A_SESSION))
    const base = await crowd.offer({ perSecond: 0.7 * before, seconds: BASE_S, next: crowd.next })
    const heard = await crowd.offer({ perSecond: 2 * before, seconds: OVERLOAD_S, next: mixed })
    const after = await crowd.offer({ perSecond: 0.7 * before, seconds: BASE_S, next: crowd.next })
    return { capacity: (before + (await crowd.able())) / 2, base, heard, after }
  }

  it('is shed at once, the rest is served, and the service recovers fully', async () => {
    let capacity = await crowd.warmUp()
    const before = await rss()
    const rounds: Round[] = []
    for (let round = 0; round < ROUNDS; round++) {
      rounds.push(await oneRound(capacity))
      capacity = median(rounds.map((one) => one.capacity))
    }
    await crowd.mint(Math.ceil((10 * capacity * BURST_S) / A_SESSION))
    const burst = await crowd.offer({ perSecond: 10 * capacity, seconds: BURST_S, next: crowd.next })
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
        `shed in ${p99Of(sentAway).toFixed(0)} ms (p99); ${ofStatus(calm, 503).length} of ${calm.length} five seconds after`,
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
    expect(await crowd.metric('keystride_http_requests_waiting')).toBe(0)
    expect(await crowd.metric('keystride_http_requests_shed_total\\{lane="verify"\\}')).toBeGreaterThan(0)
    expect(crowd.service.process.exitCode).toBeNull()
    const statuses = [...new Set(lost.map(({ status }) => status))].join(', ')
    const which = lost.length === 0 ? '' : ` (status ${statuses})`
    figure('F18', `${lost.length} of ${all.length} lost or otherwise${which}`, '0', lost.length === 0)
    figure('F18', `RSS +${grown.toFixed(0)} MiB`, '+256 MiB at the most', grown <= 256)
    figure('F18', `p99 ${times(back)} five seconds after`, 'as before: x 1.5 at the most', back <= 1.5)
    figure('F18', `goodput ${goodput.toFixed(2)} C at 2 C`, '0.9 C or more', goodput >= 0.9)
    figure('F18', `p99 of the admitted ${times(slower)} of that at 0.7 C`, 'x 2 at the most', slower <= 2)
  })
})
