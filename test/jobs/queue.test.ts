import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createJobQueue, type JobQueue } from '../../src/jobs/queue.js'
import type { JobQueueStore, QueuedJob } from '../../src/storage/job-queue.js'
import { connectPostgres } from '../../src/storage/postgres/connection/client.js'
import { postgresJobQueue } from '../../src/storage/postgres/insight/job-queue.js'
import { ownDatabase } from '../servers/database.js'

describe('the job queue of a process', () => {
  let jobs: QueuedJob[]
  let taken: number
  let isAway: boolean
  let lost: unknown[]
  let queue: JobQueue
  const inMemory: JobQueueStore = {
    async take(name) {
      taken++
      if (isAway) throw new Error('gone')
      return name === 'export-log' ? (jobs.shift() ?? null) : null
    },
    async send(_, ids) {
      jobs.push({ id: randomUUID(), ids })
      return true
    },
    done: async () => {},
    failed: async () => {},
    async maintain() {
      if (isAway) throw new Error('gone')
    },
    states: async () => [],
  }
  const opened = (jobQueue: JobQueueStore) =>
    createJobQueue({ jobQueue, onFailed: () => {}, onLost: (error) => lost.push(error) })
  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    jobs = []
    taken = 0
    isAway = false
    lost = []
    queue = opened(inMemory)
  })
  afterEach(async () => {
    await queue.stop()
    vi.useRealTimers()
  })

  it('runs a job of its own process at once, without waiting for the next poll', async () => {
    const seen: unknown[] = []
    queue.work('export-log', async ({ id }) => void seen.push(id))
    const ids = [randomUUID(), randomUUID()]
    for (const id of ids) {
      await pass(0)
      await queue.send('export-log', { id })
      await pass(0)
    }
    expect(seen).toEqual(ids)
  })

  it('takes only ids', async () => {
    await expect(queue.send('export-log', { user: 'ann@example.com' })).rejects.toThrow(
      'a job of export-log may contain only ids: user is not one',
    )
    expect(jobs).toEqual([])
  })

  it('goes on by itself after an outage of the database, and reports each outage once', async () => {
    const seen: unknown[] = []
    queue.work('export-log', async ({ id }) => void seen.push(id))
    queue.work('retention', async () => {})
    await pass(0)
    for (const nLost of [1, 2]) {
      isAway = true
      const before = taken
      await pass(20_000)
      expect(taken).toBeGreaterThan(before + 10)
      expect(lost).toHaveLength(nLost)
      isAway = false
      const id = randomUUID()
      jobs.push({ id, ids: { id } })
      await pass(3000)
      expect(seen.at(-1)).toBe(id)
    }
  })

  it('reports an outage once, even if an earlier answer arrives after its start', async () => {
    const takes = new Map<string, { answer(): void; fail(): void }>()
    const take: JobQueueStore['take'] = (name) =>
      new Promise((resolve, reject) => {
        takes.set(name, { answer: () => resolve(null), fail: () => reject(new Error('gone')) })
      })
    const slow = opened({ ...inMemory, take })
    for (const name of ['export-log', 'find-exports', 'retention'] as const) slow.work(name, async () => {})
    takes.get('export-log')?.fail()
    await pass(0)
    takes.get('find-exports')?.answer()
    await pass(0)
    takes.get('retention')?.fail()
    await pass(0)
    expect(lost).toHaveLength(1)
    const stopping = slow.stop()
    for (const one of takes.values()) one.answer()
    await stopping
  })
})

describe('the stored job queue', async () => {
  const { database, url } = await ownDatabase(4)
  const store = postgresJobQueue(database)
  const change = (set: string) => database.call((sql) => sql.unsafe(`update pgboss.job set ${set}`))
  const jobs = () => database.call((sql) => sql<Record<string, unknown>[]>`select to_jsonb(job) as job from pgboss.job`)
  const states = async () => (await jobs()).map(({ job }) => (job as { state: string }).state).sort()
  const ids = () => ({ id: randomUUID() })
  afterEach(() => database.call((sql) => sql`delete from pgboss.job`))

  it('gives each job to one of several processes', async () => {
    const sent = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const one = ids()
        await store.send('export-log', one)
        return one.id
      }),
    )
    const other = connectPostgres({ url, max: 4, patience: 10 })
    const stores = [store, postgresJobQueue(other)]
    const taken = await Promise.all(Array.from({ length: 40 }, (_, n) => stores[n % 2]?.take('export-log')))
    await other.close()
    expect(taken.flatMap((job) => job?.ids.id ?? []).sort()).toEqual(sent.sort())
  })

  it('gives a failed job, or the job of a dead process once its time is up, to another process', async () => {
    const one = ids()
    await store.send('export-log', one)
    const first = await store.take('export-log')
    await store.failed('export-log', first?.id ?? '', 'TypeError')
    expect(await states()).toEqual(['retry'])
    await change('start_after = now()')
    expect((await store.take('export-log'))?.ids).toEqual(one)
    await store.maintain()
    expect(await states()).toEqual(['active'])
    await change("started_on = started_on - interval '2 hours'")
    await store.maintain()
    expect(await states()).toEqual(['retry'])
    await change('start_after = now()')
    expect((await store.take('export-log'))?.ids).toEqual(one)
  })

  it('has one job a period, however many processes send it', async () => {
    const period = { oncePerS: 24 * 3600 }
    const sent = await Promise.all(Array.from({ length: 4 }, () => store.send('retention', {}, period)))
    expect(sent.filter((one) => one)).toHaveLength(1)
    await store.done('retention', (await store.take('retention'))?.id ?? '')
    expect(await store.send('retention', {}, period)).toBe(false)
    expect(await store.send('retention', {})).toBe(true)
  })

  it('counts the jobs of each queue, and how long the oldest has been due', async () => {
    const none = { waiting: 0, later: 0, running: 0, failed: 0, oldestWaitingS: null, lastSuccessAt: null }
    for (let n = 0; n < 3; n++) await store.send('export-log', ids())
    await store.send('export-log', ids(), { afterS: 60 })
    await store.send('find-exports', {})
    await store.take('export-log')
    await store.failed('find-exports', (await store.take('find-exports'))?.id ?? '', 'a test')
    await database.call(
      (sql) => sql`update pgboss.job set start_after = now() - interval '1 hour' where id in
        (select id from pgboss.job where state = 'created' and start_after <= now() limit 1)`,
    )
    const [exports, find, retention] = await store.states()
    const oldestWaitingS = expect.any(Number)
    expect(exports).toEqual({ ...none, queue: 'export-log', waiting: 2, later: 1, running: 1, oldestWaitingS })
    expect(exports?.oldestWaitingS).toBeGreaterThanOrEqual(3600)
    expect(find).toEqual({ queue: 'find-exports', ...none, failed: 1 })
    expect(retention).toEqual({ queue: 'retention', ...none })
    await store.send('retention', {})
    await store.done('retention', (await store.take('retention'))?.id ?? '')
    const [, , done] = await store.states()
    expect(done).toMatchObject({ waiting: 0, lastSuccessAt: expect.any(Number) })
  })

  it('denies access to the roles that read and write rows', async () => {
    const look = (sql: { unsafe(text: string): Promise<unknown> }) => sql.unsafe('select * from pgboss.job')
    await expect(database.scoped(randomUUID(), look)).rejects.toThrow('permission denied')
    await expect(database.asSystem(look)).rejects.toThrow('permission denied')
  })
})
