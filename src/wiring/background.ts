import { setTimeout as delay } from 'node:timers/promises'
import { reasonOf } from '../base/error-reason.js'
import { every, type Job } from '../base/every.js'
import { createSetBuilder } from '../flows/attempt/build-sets.js'
import type { UsageMeter } from '../flows/insight/usage-meter.js'
import { createExporter } from '../jobs/export-log.js'
import { createJobQueue, type JobQueue } from '../jobs/queue.js'
import { createRetention } from '../jobs/retention.js'
import type { Logger } from '../process/log.js'
import { modelFile, wasmFile } from '../scoring/artifacts.js'
import { openScorer } from '../scoring/scorer.js'
import type { Scoring } from '../scoring/scoring.js'
import { MOVE_MAX_MS } from '../storage/placement.js'
import type { OneDatabase, Stores } from './stores.js'

/** The job queue of one database. Failures are logged. */
export const openQueue = ({ jobQueue }: Stores, log: Logger): JobQueue =>
  createJobQueue({
    jobQueue,
    onFailed: (error, facts) => log.error({ err: error, ...facts }, 'a job failed'),
    onLost: (error) => log.error({ err: error }, 'the job queue is unreachable: no job is taken or scheduled'),
  })

/** An export whose process died, or whose job was lost, resumes within this time plus 30 s. */
const FIND_EXPORTS_EVERY_S = 60
/** Each round scans some small tables completely. */
const RETENTION_EVERY_S = 6 * 3600

/** Registers the workers of the queued jobs of one database, and their schedules. */
export function registerWorkers(queue: JobQueue, { stores, placements }: OneDatabase, scoring: Scoring): void {
  const writeExport = createExporter(stores)
  queue.work('export-log', ({ organization = '', archive = '' }, signal) => writeExport(organization, archive, signal))
  queue.work('find-exports', async (_, signal) => {
    for (const { organizationId, id } of await stores.exports.abandoned())
      await queue.send('export-log', { organization: organizationId, archive: id })
    while (!signal.aborted && (await stores.exports.forget(stores.clock.now()))) {
      // More is left.
    }
  })
  queue.schedule('find-exports', FIND_EXPORTS_EVERY_S)
  const retain = createRetention({ ...stores, now: stores.clock.now })
  const openKernel = () => openScorer(wasmFile(), modelFile()).kernel
  const buildSets = createSetBuilder({ ...stores, scoring, openKernel, now: stores.clock.now })
  queue.work('retention', async (_, signal) => {
    // A move compares both copies of an organization, so nothing expires meanwhile.
    if (await moves(placements, stores.clock.now())) return
    await retain(signal)
    await buildSets(signal)
  })
  queue.schedule('retention', RETENTION_EVERY_S)
}

/** Whether an organization is being moved to or from the database. */
async function moves({ list }: OneDatabase['placements'], now: number): Promise<boolean> {
  return (await list()).some(({ state, since }) => state !== 'left' && now - since < MOVE_MAX_MS)
}

/** Statistics are correct without this count, but the more attempts are not counted, the slower they are. */
const COUNT_EVERY_MS = 20_000
/** Expired sessions have no effect. The table holds those of this period in addition to the live ones of 900 s. */
const SWEEP_SESSIONS_EVERY_MS = 20_000

/** A process that dies loses the requests that it counted in this period. */
const ADD_EVERY_MS = 2000
const DAILY_EVERY_MS = 10 * 60_000
/** Largest delay of an alert about a quota's overage. Until then each reader sums the changes that creations queued. */
const HEADCOUNT_EVERY_MS = 2000

/** Writes this process's usage counts to the store. */
export const flushUsage = (meter: UsageMeter, log: Logger): Job =>
  every({
    async work() {
      await meter.flush()
      return false
    },
    everyMs: ADD_EVERY_MS,
    onError: (error) => log.warn({ err: error }, 'requests were not counted yet'),
  })

/** A round that waits for a late store ends with the process: the next process repeats it. */
const STOPPING_MS = 1000

/**
 * Stops the jobs and waits for their running rounds, 1 s at most. The usage counts are written before that wait, because the
 * process may be ended in it.
 */
export async function stopJobs(jobs: readonly Job[], meter: Pick<UsageMeter, 'flush'>, log: Logger): Promise<void> {
  const ended = Promise.all(jobs.map((job) => job.stop()))
  await meter.flush().catch(() => {})
  await Promise.race([ended, delay(STOPPING_MS, undefined, { ref: false })])
  // The counts are written again, because a round that failed has returned its own.
  await meter
    .flush()
    .catch((error: unknown) => log.warn({ why: reasonOf(error) }, 'the last requests were not counted'))
}

/** Begins the periodic work on one database of the processes with the role `jobs`. */
export const startJobs = ({ statistics, usage, retention }: Stores, log: Logger): Job[] => [
  every({
    work: () => statistics.countAttempts(),
    everyMs: COUNT_EVERY_MS,
    onError: (error) => log.warn({ err: error }, 'attempts were not counted: the next round retries'),
  }),
  every({
    work: () => usage.addUpHeadcounts(),
    everyMs: HEADCOUNT_EVERY_MS,
    onError: (error) => log.warn({ err: error }, 'the headcount was not added up: the next round retries'),
  }),
  every({
    work: () => retention.sweepSessions(),
    everyMs: SWEEP_SESSIONS_EVERY_MS,
    onError: (error) => log.warn({ err: error }, 'expired sessions were not deleted: the next round retries'),
  }),
  every({
    async work() {
      await usage.appendCheckpoints()
      return false
    },
    everyMs: DAILY_EVERY_MS,
    onError: (error) => log.warn({ err: error }, 'the checkpoint of the day was not made yet'),
  }),
]
