import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createJobQueue, type JobQueue } from '../../src/jobs/queue.js'
import { connectPostgres, type Database } from '../../src/storage/postgres/connection/client.js'
import { postgresJobQueue } from '../../src/storage/postgres/insight/job-queue.js'
import { until } from '../harness/patience.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'

/** Processes poll the queue once a second. */
describe('the job queue of several processes', () => {
  let fresh: FreshDatabase
  let processes: { readonly queue: JobQueue; readonly database: Database }[]
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

  /** One process of several: its own pool, its own loops. */
  function process() {
    const database = connectPostgres({ url: fresh.url, max: 4, patience: 10 })
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
  const states = async () => {
    const rows = await processes[0]?.database.call(
      (sql) => sql<{ state: string; n: number }[]>`select state, count(*)::int as n from pgboss.job group by 1`,
    )
    return Object.fromEntries((rows ?? []).map(({ state, n }) => [state, n]))
  }

  it('runs each job once, and a scheduled one once a period', async () => {
    const all = [process(), process(), process()]
    const done: (string | undefined)[] = []
    const sent = Array.from({ length: 120 }, () => randomUUID())
    await Promise.all(sent.map((id) => all[0]?.queue.send('export-log', { id })))
    for (const { queue } of all) {
      queue.schedule('retention', 24 * 3600)
      queue.work('retention', async () => void done.push('retention'))
      queue.work('export-log', async ({ id }) => void done.push(id), 4)
    }
    await until(async () => (await states()).completed === sent.length + 1)
    expect(done.sort()).toEqual([...sent, 'retention'].sort())
    expect(await all[1]?.queue.send('retention', {}, { oncePerS: 24 * 3600 })).toBe(false)
    expect(await states()).toEqual({ completed: sent.length + 1 })
    expect(all.flatMap(({ failed, lost }) => [...failed, ...lost])).toEqual([])
  })

  it('retries a failed job, reports each failure once, and stores no text of it', async () => {
    const { queue, failed, database } = process()
    let tries = 0
    queue.work('export-log', async () => {
      tries += 1
      if (tries === 1) throw new TypeError('ann@example.com is no number')
    })
    await queue.send('export-log', { id: randomUUID() })
    await until(async () => (await states()).completed === 1)
    expect([tries, failed]).toEqual([2, ['ann@example.com is no number']])
    const kept = await database.call((sql) => sql`select to_jsonb(job) as job from pgboss.job`)
    expect(JSON.stringify(kept)).not.toContain('example.com')
  })

  it('returns running jobs at a stop, and aborts them', async () => {
    const stopping = process()
    let isAborted = false
    stopping.queue.work('export-log', async (_, signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      isAborted = true
      throw signal.reason
    })
    // A job that ignores the signal never ends: the stop does not wait for it.
    const deaf = process()
    deaf.queue.work('retention', () => new Promise(() => {}))
    const id = randomUUID()
    await stopping.queue.send('export-log', { id })
    await deaf.queue.send('retention', {})
    await until(async () => (await states()).active === 2)
    await Promise.all([stopping.queue.stop(), deaf.queue.stop()])
    expect(isAborted).toBe(true)
    expect(await states()).toEqual({ retry: 2 })
    expect(stopping.failed).toEqual([])
    const seen: unknown[] = []
    process().queue.work('export-log', async (ids) => void seen.push(ids.id))
    await until(() => seen.length === 1)
    expect(seen).toEqual([id])
  })
})
