import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { enroll, machine, verifyOf } from '../harness/enrolled.js'
import { until } from '../harness/patience.js'
import { redisUrl, sharedService } from '../harness/service.js'
import { promtool, whyNoPromtool } from '../servers/promtool.js'

const service = await sharedService()
const scrape = async () => (await fetch(`${service.core.replace('/core', '')}/metrics`)).text()

/** The value of a series, as its line begins; null if there is none. */
function valueIn(metrics: string, series: string): number | null {
  const line = metrics.split('\n').find((one) => one.startsWith(`${series} `))
  return line === undefined ? null : Number(line.slice(series.length))
}

/** The changes of these series during `work`. A series that is new counts from 0. */
async function changes<const S extends readonly string[]>(series: S, work: () => Promise<void>): Promise<number[]> {
  const before = await scrape()
  await work()
  const after = await scrape()
  return series.map((one) => (valueIn(after, one) ?? 0) - (valueIn(before, one) ?? 0))
}

const verify = async (userRef: string, body: unknown) => (await verifyOf(service, userRef, body)).json

describe('/metrics', () => {
  it('counts enrollments, verdicts with their confidence, bots and replays', async () => {
    const series = [
      'keystride_enrollment_patterns_total{outcome="added"}',
      'keystride_profile_changes_total{change="completed"}',
      'keystride_patterns_total{finding="bot"}',
      'keystride_patterns_total{finding="invalid"}',
      'keystride_verdicts_total{method="biometric",action="block",reason="detection-bot"}',
      'keystride_verdicts_total{method="biometric",action="block",reason="fraud-detected"}',
      'keystride_replays_total{refused="true"}',
      'keystride_attempt_confidence_count',
      'keystride_scoring_duration_seconds_count',
    ]
    const found = await changes(series, async () => {
      const who = await enroll(service, 'counted')
      const fresh = who.fresh()
      const [own, again, bot] = [
        await verify('counted', fresh),
        await verify('counted', fresh),
        await verify('counted', machine(100)),
      ]
      expect((await verify('counted', { ...machine(90), kevt: [] })).reason).toBe('invalid-data')
      expect([own.reason, again.reason, bot.reason]).toEqual(['', 'fraud-detected', 'detection-bot'])
    })
    expect(found).toEqual([5, 1, 1, 1, 1, 1, 1, 3, 9])
  })

  it('counts the lock of the third wrong security code once, and the one of an administrator', async () => {
    const series = [
      'keystride_verdicts_total{method="security_code",action="block",reason="none"}',
      'keystride_locks_total{method="security_code",cause="failures"}',
      'keystride_locks_total{method="security_code",cause="administrator"}',
      'keystride_locks_total{method="biometric",cause="administrator"}',
    ]
    const found = await changes(series, async () => {
      await enroll(service, 'locked')
      const { session } = await service.bootstrap('locked')
      await service.call('PUT', '/users/locked/security-code', { session, body: { securityCode: '749205' } })
      for (let n = 0; n < 5; n++) await verify('locked', { securityCode: '111999' })
      await service.dashboard('POST', '/users/locked/actions', { body: { action: 'lock' } })
    })
    expect(found).toEqual([3, 1, 1, 1])
  })

  it('shows the work of stores and caches', async () => {
    const series = [
      'keystride_redis_call_duration_seconds_count',
      'keystride_group_commit_attempts_sum',
      'keystride_cache_lookups_total{cache="people",outcome="miss"}',
      'keystride_cache_lookups_total{cache="people",outcome="hit"}',
    ]
    const who = await enroll(service, 'cached')
    const [redis = 0, committed, misses = 0, hits = 0] = await changes(series, async () => {
      // The session carries the person to its first verify. The second one reads and caches the person.
      const { session } = await service.bootstrap('cached')
      for (let n = 0; n < 3; n++) await service.call('POST', '/users/cached/verify', { session, body: who.fresh() })
      await verify('cached', who.fresh())
    })
    expect(redis).toBeGreaterThan(redisUrl === null ? -1 : 3)
    expect([committed, misses + hits]).toEqual([4, 4])
    expect(misses).toBeGreaterThan(0)
    expect(hits).toBeGreaterThan(0)
    const metrics = await scrape()
    expect(valueIn(metrics, 'keystride_postgres_call_duration_seconds_count')).toBeGreaterThan(10)
    expect(valueIn(metrics, 'keystride_person_cache_bytes')).toBeGreaterThan(1000)
  })

  it('shows background jobs, the outbox, the database and its schema', async () => {
    await until(async () =>
      /keystride_job_last_success_timestamp_seconds\{database="main",queue="find-exports"\}/.test(await scrape()),
    )
    await until(
      async () => valueIn(await scrape(), 'keystride_jobs{database="main",queue="retention",state="running"}') === 0,
    )
    const metrics = await scrape()
    expect(valueIn(metrics, 'keystride_jobs{database="main",queue="retention",state="failed"}')).toBe(0)
    expect(valueIn(metrics, 'keystride_outbox_deliveries{database="main"}')).toBe(0)
    expect(valueIn(metrics, 'keystride_outbox_oldest_waiting_seconds{database="main"}')).toBe(0)
    expect(valueIn(metrics, 'keystride_database_bytes{database="main"}')).toBeGreaterThan(1e6)
    expect(metrics).toMatch(
      /^keystride_schema_info\{database="main",schema="\d+_[a-z_]+",functions="[\d.]+",server="\d+[\d.]*"\} 1$/m,
    )
  })

  it('has no label value that comes from a caller', async () => {
    const strange = 'label-from-outside'
    for (const path of [`/users/${strange}`, `/${strange}`, `/users/${strange}/${strange}`])
      for (const method of ['GET', 'POST', strange.toUpperCase()])
        await fetch(`${service.core}${path}`, { method, headers: { apikey: service.apikey } }).catch(() => null)
    expect((await scrape()).toLowerCase()).not.toContain(strange)
  })

  it('has the metrics that docs/monitoring.md lists', async () => {
    const page = readFileSync(fileURLToPath(new URL('../../docs/monitoring.md', import.meta.url)), 'utf8')
    const rows = page.split('\n').filter((line) => line.startsWith('| `keystride_'))
    const listed = rows.flatMap((row) => row.split('|')[1]?.match(/keystride_\w+/g) ?? [])
    const served = [...(await scrape()).matchAll(/^# TYPE (keystride_\w+)/gm)].map(([, name]) => name)
    expect(served.sort()).toEqual(listed.sort())
  })

  it('keeps to the conventions of Prometheus', async (context) => {
    const why = whyNoPromtool()
    if (why !== null) context.skip(why)
    expect(promtool(['check', 'metrics'], await scrape())).toEqual({ status: 0, output: '' })
    const bad = '# HELP things_total Things\n# TYPE things_total gauge\nthings_total 1\n'
    expect(promtool(['check', 'metrics'], bad)).toMatchObject({
      status: 3,
      output: expect.stringContaining('things_total'),
    })
  })
})
