import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createJobQueue, type JobQueue } from '../../src/jobs/queue.js'
import type { JobQueueStore } from '../../src/storage/job-queue.js'
import { connectPostgres, type Database } from '../../src/storage/postgres/connection/client.js'
import { postgresJobQueue } from '../../src/storage/postgres/insight/job-queue.js'
import { migrate } from '../../src/storage/postgres/schema/migrate.js'
import { startProxy } from '../faults/tcp-proxy.js'
import { until } from '../patience.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'

/** One process of several: its own pool, its own loops. */
interface Process {
  readonly queue: JobQueue
  readonly database: Database
  readonly failed: string[]
  readonly lost: unknown[]
}

let fresh: FreshDatabase
let processes: Process[]
beforeEach(async () => {
  fresh = await freshDatabase()
  processes = []
})
afterEach(async () => {
  for (const { queue, database } of processes) {
    await queue.stop()
    await database.close()
  }
  await fresh.drop()
})

function process(url = fresh.url): Process {
  const database = connectPostgres({ url, max: 4, patience: 10 })
  const failed: string[] = []
  const lost: unknown[] = []
  const queue = createJobQueue({
    jobQueue: postgresJobQueue(database),
    onFailed: (error) => failed.push((error as Error).message),
    onLost: (error) => lost.push(error),
  })
  const made = { queue, database, failed, lost }
  processes.push(made)
  return made
}
const states = async (database: Database) =>
  Object.fromEntries(
    (
      await database.call(
        (sql) => sql<{ state: string; n: number }[]>`select state, count(*)::int as n from pgboss.job group by 1`,
      )
    ).map(({ state, n }) => [state, n]),
  )

describe('the job queue', () => {
  it('runs each job once, in one of several processes', async () => {
    const doers = [process(), process(), process()]
    const asker = process()
    const done: string[][] = doers.map(() => [])
    const sent = Array.from({ length: 120 }, () => randomUUID())
    await Promise.all(sent.map((id) => asker.queue.send('export-log', { id })))
    doers.forEach(({ queue }, i) => {
      queue.work(
        'export-log',
        async ({ id }) => {
          await delay(2)
          done[i]?.push(id ?? '')
        },
        4,
      )
    })
    await until(async () => done.flat().length >= sent.length)
    expect(done.flat().sort()).toEqual([...sent].sort())
    await until(async () => (await states(asker.database)).completed === 120)
    expect(await states(asker.database)).toEqual({ completed: 120 })
    expect(processes.flatMap(({ failed, lost }) => [...failed, ...lost])).toEqual([])
  })

  it('runs a job of its own process at once', async () => {
    const { queue } = process()
    const seen: string[] = []
    queue.work('export-log', async ({ id }) => void seen.push(id ?? ''))
    await delay(300)
    const tookMs: number[] = []
    for (let n = 1; n <= 5; n++) {
      // The queue polls after each job: it must sleep before the next one is sent.
      await delay(100)
      const id = randomUUID()
      const asked = performance.now()
      await queue.send('export-log', { id })
      await until(async () => seen.length === n)
      expect(seen.at(-1)).toBe(id)
      tookMs.push(performance.now() - asked)
    }
    // A poll comes once a second, so a job that waits for it takes 900 ms. Single jobs are late on a loaded machine.
    expect(tookMs.sort((a, b) => a - b)[2]).toBeLessThan(700)
  })

  it('retries a failed job, and reports each failure once', async () => {
    const { queue, failed, database } = process()
    let tries = 0
    queue.work('export-log', async () => {
      tries += 1
      if (tries === 1) throw new TypeError('ann@example.com is no number')
    })
    await queue.send('export-log', { id: randomUUID() })
    await until(async () => tries === 2)
    await until(async () => (await states(database)).completed === 1)
    expect(failed).toEqual(['ann@example.com is no number'])
    const kept = await database.call((sql) => sql`select to_jsonb(job) as job from pgboss.job`)
    expect(JSON.stringify(kept)).not.toContain('example.com')
  })

  it('takes only ids', async () => {
    const { queue, database } = process()
    await expect(queue.send('export-log', { user: 'ann@example.com' })).rejects.toThrow(
      'a job of export-log may contain only ids: user is not one',
    )
    expect(await states(database)).toEqual({})
  })

  it('schedules one job a period, however many processes schedule it', async () => {
    const many = Array.from({ length: 4 }, () => process())
    let done = 0
    for (const { queue } of many) {
      queue.schedule('retention', 24 * 3600)
      queue.work('retention', async () => {
        done += 1
      })
    }
    await until(async () => done > 0)
    await delay(300)
    expect(done).toBe(1)
    expect(await many[0]?.queue.send('retention', {}, { oncePerS: 24 * 3600 })).toBe(false)
    expect(await many[0]?.queue.send('retention', {})).toBe(true)
  })

  it('returns running jobs at a stop, and aborts them', async () => {
    const stopping = process()
    let told = false
    stopping.queue.work('export-log', async (_, signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      told = true
      throw signal.reason
    })
    const deaf = process()
    deaf.queue.work('retention', () => new Promise(() => {}))
    const id = randomUUID()
    await stopping.queue.send('export-log', { id })
    await deaf.queue.send('retention', {})
    await until(async () => (await states(stopping.database)).active === 2)
    const begun = performance.now()
    await Promise.all([stopping.queue.stop(), deaf.queue.stop()])
    // The deaf job would never end.
    expect(performance.now() - begun).toBeLessThan(10_000)
    expect(told).toBe(true)
    expect(await states(stopping.database)).toEqual({ retry: 2 })
    expect(stopping.failed).toEqual([])
    const heir = process()
    const seen: string[] = []
    heir.queue.work('export-log', async (ids) => void seen.push(ids.id ?? ''))
    await until(async () => seen.length === 1)
    expect(seen).toEqual([id])
  })

  it('goes on by itself after an outage of the database, and reports it once', async () => {
    const proxy = await startProxy(Number(new URL(fresh.url).port))
    const url = new URL(fresh.url)
    url.port = String(proxy.port)
    const { queue, lost, database } = process(url.href)
    const seen: string[] = []
    queue.work('export-log', async ({ id }) => void seen.push(id ?? ''))
    queue.work('retention', async () => {})
    const ids = [randomUUID(), randomUUID()]
    await queue.send('export-log', { id: ids[0] ?? '' })
    await until(async () => seen.length === 1)
    await until(async () => (await states(database)).completed === 1)
    lost.length = 0
    await proxy.refuse()
    await until(async () => lost.length > 0)
    await delay(1500)
    await expect(queue.send('export-log', { id: randomUUID() })).rejects.toMatchObject({ kind: 'degraded' })
    expect(lost.map(String)).toEqual([expect.stringContaining('the database is not reachable')])
    await proxy.accept()
    await until(() =>
      database.ping().then(
        () => true,
        () => false,
      ),
    )
    await queue.send('export-log', { id: ids[1] ?? '' })
    await until(async () => seen.length === 2)
    expect(seen).toEqual(ids)
    expect(lost).toHaveLength(1)
    await queue.stop()
    await database.close()
    processes = []
    await proxy.close()
  })

  it('reports an outage once, even if an earlier answer arrives after its start', async () => {
    const takes = new Map<string, { answer(): void; fail(): void }>()
    const jobQueue: JobQueueStore = {
      take: (queue) =>
        new Promise((resolve, reject) => {
          takes.set(queue, { answer: () => resolve(null), fail: () => reject(new Error('gone')) })
        }),
      send: async () => true,
      done: async () => {},
      failed: async () => {},
      maintain: async () => {},
      states: async () => [],
    }
    const lost: unknown[] = []
    const queue = createJobQueue({ jobQueue, onFailed: () => {}, onLost: (error) => lost.push(error) })
    for (const name of ['export-log', 'find-exports', 'retention'] as const) queue.work(name, async () => {})
    takes.get('export-log')?.fail()
    await until(async () => lost.length === 1)
    takes.get('find-exports')?.answer()
    await delay(20)
    takes.get('retention')?.fail()
    await delay(20)
    expect(lost).toHaveLength(1)
    const stopping = queue.stop()
    for (const take of takes.values()) take.answer()
    await stopping
  })

  it('gives the job of a dead process to another, once its time is up', async () => {
    const { queue, database } = process()
    const dead = postgresJobQueue(database)
    await queue.send('export-log', { id: randomUUID() })
    const taken = await dead.take('export-log')
    expect(taken?.ids.id).toMatch(/^[0-9a-f-]{36}$/)
    await dead.maintain()
    expect(await states(database)).toEqual({ active: 1 })
    await database.call((sql) => sql`update pgboss.job set started_on = started_on - interval '2 hours'`)
    await dead.maintain()
    expect(await states(database)).toEqual({ retry: 1 })
    await database.call((sql) => sql`update pgboss.job set start_after = now()`)
    expect((await dead.take('export-log'))?.ids).toEqual(taken?.ids)
  })

  it('counts the jobs of each queue, and how long the oldest has been due', async () => {
    const { queue, database } = process()
    const store = postgresJobQueue(database)
    const none = { waiting: 0, later: 0, running: 0, failed: 0, oldestWaitingS: null, lastSuccessAt: null }
    expect(await store.states()).toEqual(
      ['export-log', 'find-exports', 'retention'].map((name) => ({ queue: name, ...none })),
    )
    for (let n = 0; n < 3; n++) await queue.send('export-log', { id: randomUUID() })
    await queue.send('export-log', { id: randomUUID() }, { afterS: 60 })
    await queue.send('find-exports', {})
    await store.take('export-log')
    const broken = await store.take('find-exports')
    await store.failed('find-exports', broken?.id ?? '', 'a test')
    await database.call(
      (sql) => sql`update pgboss.job set start_after = now() - interval '90 s' where id in
        (select id from pgboss.job where state = 'created' and start_after <= now() limit 1)`,
    )
    const [exports, find, retention] = await store.states()
    expect(exports).toEqual({
      queue: 'export-log',
      waiting: 2,
      later: 1,
      running: 1,
      failed: 0,
      oldestWaitingS: expect.any(Number),
      lastSuccessAt: null,
    })
    expect(Math.round((exports?.oldestWaitingS ?? 0) / 10)).toBe(9)
    expect(find).toEqual({ queue: 'find-exports', ...none, failed: 1 })
    expect(retention).toEqual({ queue: 'retention', ...none })
    const begun = Date.now()
    await queue.send('retention', {})
    await store.done('retention', (await store.take('retention'))?.id ?? '')
    const [, , done] = await store.states()
    expect(Math.abs((done?.lastSuccessAt ?? 0) - begun)).toBeLessThan(60_000)
  })

  it('denies access to the roles that read and write rows', async () => {
    const { database } = process()
    const look = (sql: { unsafe(text: string): Promise<unknown> }) => sql.unsafe('select * from pgboss.job')
    await expect(database.scoped(randomUUID(), look)).rejects.toThrow('permission denied')
    await expect(database.asSystem(look)).rejects.toThrow('permission denied')
  })

  it('is created by the migration, twice and concurrently', async () => {
    const empty = await freshDatabase({ empty: true })
    await Promise.all([migrate(empty.url), migrate(empty.url), migrate(empty.url)])
    await migrate(empty.url)
    const { queue } = process(empty.url)
    expect(await queue.send('retention', {})).toBe(true)
    await processes.pop()?.database.close()
    await empty.drop()
  })
})
