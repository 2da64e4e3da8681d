import type PgBoss from 'pg-boss'
import { ExpectedFault } from '../../../base/expected-fault.js'
import { type JobQueueStore, QUEUES, type QueueName, type QueueRules, type QueueState } from '../../job-queue.js'
import type { Database } from '../connection/client.js'

const SCHEMA = 'pgboss'
/** A finished job is kept for two days, twice the longest span of `oncePerS`, and then for one more day in the archive. */
const REMEMBERED_S = 2 * 24 * 3600
const FORGOTTEN_AFTER_S = 24 * 3600

/** Runs one SQL text of pg-boss, which may be several statements if it has no values. */
type Execute = (text: string, values?: readonly unknown[]) => Promise<{ rows: unknown[] }>

/**
 * Jobs in the schema `pgboss`, through the common pool and as the login itself, which owns that schema and sees no row of the
 * schema `keystride`. Works behind PgBouncer, because nothing listens for notifications, and statements stay prepared only if those
 * of the pool do. The first call loads the package, which takes 50 ms.
 */
export function postgresJobQueue(database: Database): JobQueueStore {
  const execute: Execute = (text, values = []) =>
    database.call(async (sql) => {
      // Only a single statement can be prepared. Sound: a parameter may be any value that its column's type accepts.
      const rows = await sql.unsafe(text, values.map(asParameter) as string[], { prepare: values.length > 0 })
      return { rows: [...rows] }
    })
  let opening: Promise<PgBoss> | null = null
  const boss = (): Promise<PgBoss> => {
    opening ??= open(execute).catch((error: unknown) => {
      opening = null
      throw error
    })
    return opening
  }
  return {
    async send(queue, ids, { afterS, oncePerS } = {}) {
      const options = {
        ...(afterS === undefined ? {} : { startAfter: afterS }),
        ...(oncePerS === undefined ? {} : { singletonSeconds: oncePerS }),
      }
      return (await (await boss()).send(queue, ids, options)) !== null
    },
    async take(queue) {
      // pg-boss reports any error of a fetch as "none is due", so the error is caught here.
      let lost: unknown = null
      const db = {
        executeSql: (text: string, values: unknown[]) =>
          execute(text, values).catch((error: unknown) => {
            lost = error
            throw error
          }),
      }
      const [job] = await (await boss()).fetch<Record<string, string>>(queue, { db, batchSize: 1 })
      if (lost !== null) throw lost
      return job === undefined ? null : { id: job.id, ids: job.data ?? {} }
    },
    async done(queue, id) {
      await (await boss()).complete(queue, id)
    },
    async failed(queue, id, why) {
      await (await boss()).fail(queue, id, { why })
    },
    async maintain() {
      await (await boss()).maintain()
    },
    states: () => statesOf(database),
  }
}

interface StateRow {
  name: string
  waiting: number
  later: number
  running: number
  failed: number
  oldest_waiting_s: number | null
  last_success: Date | null
}

/** Counts the jobs of the last days. They are a few thousand rows, because schedules send about one a minute. */
async function statesOf(database: Database): Promise<QueueState[]> {
  const rows = await database.call(
    (sql) => sql<StateRow[]>`
      select name, count(*) filter (where due)::int as waiting, count(*) filter (where state < 'active' and not due)::int as later,
        count(*) filter (where state = 'active')::int as running, count(*) filter (where state = 'failed')::int as failed,
        extract(epoch from now() - min(start_after) filter (where due))::float8 as oldest_waiting_s,
        max(completed_on) filter (where state = 'completed') as last_success
      from (select name, state, start_after, completed_on, state < 'active' and start_after <= now() as due from pgboss.job) job
      group by name`,
  )
  const found = new Map(rows.map((row) => [row.name, row]))
  // Sound: the keys of QUEUES are its names.
  return (Object.keys(QUEUES) as QueueName[]).map((queue) => {
    const {
      waiting = 0,
      later = 0,
      running = 0,
      failed = 0,
      oldest_waiting_s = null,
      last_success,
    } = found.get(queue) ?? {}
    const lastSuccessAt = last_success?.getTime() ?? null
    return { queue, waiting, later, running, failed, oldestWaitingS: oldest_waiting_s, lastSuccessAt }
  })
}

/** Creates or migrates the schema of the queues to the package's version, and every queue with its rules, in the caller's transaction. */
export async function migrateJobQueue(execute: Execute): Promise<void> {
  const boss = await open(execute, { migrate: true })
  const known = new Map((await boss.getQueues()).map((queue) => [queue.name, queue]))
  for (const [name, rules] of Object.entries(QUEUES)) {
    const wanted = optionsOf(rules)
    const found = known.get(name)
    if (found === undefined) await boss.createQueue(name, { name, ...wanted })
    else if (differs(found, wanted)) await boss.updateQueue(name, { name, ...wanted })
  }
}

/** Throws an error for the operator if the schema of the queues is not the package's. Changes nothing. */
export async function requireJobQueue(execute: Execute): Promise<void> {
  try {
    await open(execute)
  } catch (error) {
    // The package has no error code for this error.
    if (!/not installed|requires migrations/.test((error as Error).message)) throw error
    throw new ExpectedFault('the schema of the job queue is at another version: run "keystride migrate" first')
  }
}

const optionsOf = ({ retries, retryAfterS, expireS }: QueueRules) => ({
  retryLimit: retries,
  retryDelay: retryAfterS,
  retryBackoff: true,
  expireInSeconds: expireS,
})
const differs = (found: object, wanted: Record<string, unknown>): boolean =>
  Object.entries(wanted).some(([key, value]) => (found as Record<string, unknown>)[key] !== value)

async function open(execute: Execute, { migrate = false } = {}): Promise<PgBoss> {
  const { default: Boss } = await import('pg-boss')
  const boss = new Boss({
    db: { executeSql: (text, values) => execute(withoutBrackets(text), values) },
    schema: SCHEMA,
    migrate,
    // src/jobs/queue.ts decides when jobs are taken and retried, because the package's own loops have unhandled rejections while
    // the database restarts, which would end the process.
    supervise: false,
    schedule: false,
    archiveCompletedAfterSeconds: REMEMBERED_S,
    deleteAfterSeconds: FORGOTTEN_AFTER_S,
  })
  return boss.start()
}

/** Removes BEGIN and COMMIT, because statements that are sent together are one transaction anyway. */
const withoutBrackets = (text: string): string => text.replace(/\bBEGIN;/, '').replace(/\bCOMMIT;/, '')

/** Converts arrays, which contain only UUIDs, to text, because the client does not know array types. */
const asParameter = (value: unknown): unknown => (Array.isArray(value) ? `{${value.join(',')}}` : (value ?? null))
