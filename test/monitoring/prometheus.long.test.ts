import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { suggestWords } from '../../src/domain/typing-words.js'
import { wirePattern } from '../../src/typist/made-up-person.js'
import { redisIsHere } from '../harness/flushed-redis.js'
import { until } from '../harness/patience.js'
import { type OwnRedis, startOwnRedis } from '../harness/stores.js'
import { enrolled, startTwo, strangers, type TwoServices, withCode } from '../harness/two-services.js'
import { type Prometheus, startPrometheus } from '../servers/prometheus.js'
import { whyNoPromtool } from '../servers/promtool.js'
import { dashboard } from './files.js'

/** Queries that may find no series in a healthy service, by title of their panel, each with its reason. */
const MAY_BE_EMPTY: Readonly<Record<string, string>> = {
  'Deliveries of alerts': 'no organization has a channel, so no alert is delivered',
  'Waits for a connection, p99': 'no call waits while connections are free',
}

const why =
  whyNoPromtool() ?? (redisIsHere() ? null : 'NO REDIS: the dashboard is not checked on a real Prometheus: SKIPPED')
if (why !== null) console.warn(`\n*** ${why} ***\n`)

/** A query as Grafana sends it, over the last two minutes. */
const asSent = (expr: string) =>
  expr.replaceAll('$__rate_interval', '2m').replaceAll('$job', 'keystride').replaceAll('$instance', '.+')

describe.skipIf(why !== null)('a real Prometheus that scrapes two machines of two processes', () => {
  let redis: OwnRedis
  let two: TwoServices
  let prometheus: Prometheus
  beforeAll(async () => {
    redis = await startOwnRedis()
    // Few connections, because other test files use the same server.
    two = await startTwo(`redis://127.0.0.1:${redis.port}`, { PROCESSES: '2', DATABASE_POOL: '5' })
    const targets = two.services.map(({ core }) => new URL(core).host)
    // Alerts wait longer than a loaded machine stands still, so that a healthy service causes none.
    prometheus = await startPrometheus(targets, 15)
  })
  afterAll(async () => {
    await prometheus?.close()
    await two?.close()
    await redis?.close()
  })

  const even = wirePattern([...suggestWords('en', 3).join(' ')].map((letter, i) => [letter, i * 100, i * 100 + 60]))

  /** A new person: enrollment, sign-in, a replay, a bot, a stranger, and a wrong code on the other machine. Failures lock the person. */
  async function someLoad(userRef: string): Promise<void> {
    const { types } = await enrolled(two, userRef)
    const fresh = types()
    for (const body of [fresh, fresh, even, ...strangers(1)]) {
      const session = await two.bootstrap(userRef)
      await two.sure(0, 'POST', `/users/${userRef}/verify`, session, body)
    }
    await withCode(two, `${userRef}-code`, '749205')
    const session = await two.bootstrap(`${userRef}-code`, 1)
    await two.sure(1, 'POST', `/users/${userRef}-code/verify`, session, { securityCode: '111999' })
  }
  const hasData = async (expr: string) => (await prometheus.query(expr)).some(({ value }) => !Number.isNaN(value))

  /** Waits until an alert is inactive; it never fires meanwhile. A scrape of a loaded machine that is late makes it pending. */
  async function doesNotFire(alert: string): Promise<void> {
    await until(async () => {
      const state = await prometheus.state(alert)
      expect([alert, state]).not.toEqual([alert, 'firing'])
      return state === 'inactive'
    })
  }

  it('finds data for every query of the dashboard', async () => {
    const queries = dashboard().panels.flatMap(({ title, targets }) =>
      (targets ?? []).map(({ refId, expr }) => ({ name: `${title} ${refId}`, title, expr: asSent(expr) })),
    )
    expect(queries.length).toBeGreaterThan(60)
    let without = queries
    for (let n = 0; n < 40; n++) {
      await someLoad(`ann-${n}`)
      const found = await Promise.all(without.map(({ expr }) => hasData(expr)))
      without = without.filter((_, i) => !found[i])
      if (without.every(({ title }) => title in MAY_BE_EMPTY)) break
    }
    expect(without.filter(({ title }) => !(title in MAY_BE_EMPTY)).map(({ name, expr }) => `${name}: ${expr}`)).toEqual(
      [],
    )
  })

  it('shows what happened, and no alert of a healthy service', async () => {
    await until(async () => (await prometheus.query('sum(up{job="keystride"})'))[0]?.value === 2)
    const happened = await prometheus.query(
      'sum by (reason) (keystride_verdicts_total{job="keystride", method="biometric", action="block"})',
    )
    const reasons = happened.filter(({ value }) => value > 0).map(({ metric }) => metric.reason)
    expect(reasons).toEqual(expect.arrayContaining(['detection-bot', 'fraud-detected']))
    for (const alert of ['KeystrideNoMetrics', 'KeystrideDown', 'KeystrideDegraded', 'KeystrideVersions'])
      await doesNotFire(alert)
  })
})
