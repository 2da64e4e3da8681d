import type { UsageMeter } from '../flows/insight/usage-meter.js'
import { every, type Job } from '../jobs/every.js'
import { createExporter } from '../jobs/export-log.js'
import { createJobQueue, type JobQueue } from '../jobs/queue.js'
import { createRetention } from '../jobs/retention.js'
import type { Logger } from '../process/log.js'
import type { Stores } from './open-stores.js'

/** What is done later: its failures are told in the log. */
export const openQueue = ({ jobQueue }: Stores, log: Logger): JobQueue =>
  createJobQueue({
    jobQueue,
    onFailed: (error, facts) => log.error({ err: error, ...facts }, 'a job failed'),
    onLost: (error) => log.error({ err: error }, 'no job is taken or planned: the queue is out of reach'),
  })

/** How soon an export is taken up again whose process died, or whose job was lost: this and 30 s. */
const FIND_EXPORTS_EVERY_S = 60
/** Each round looks through some small tables as a whole. */
const RETENTION_EVERY_S = 6 * 3600

/** Takes up what is queued. */
export function workOn(queue: JobQueue, stores: Stores): void {
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
  queue.work('retention', (_, signal) => retain(signal))
  queue.schedule('retention', RETENTION_EVERY_S)
}

/** Nobody waits for it: the figures are right without, and the slower the more attempts are not counted. */
const COUNT_EVERY_MS = 20_000
/** Expired sessions are found by nobody; the table holds those of this long in addition to the live ones of 900 s. */
const SWEEP_SESSIONS_EVERY_MS = 20_000

/** A process that dies loses what it counted since the last time. */
const ADD_EVERY_MS = 2000
const DAILY_EVERY_MS = 10 * 60_000
/** An alert of a quota's overage may be this late. Until then each reader adds up the changes that creations left. */
const HEADCOUNT_EVERY_MS = 2000

/** Every process adds up what it counted itself. */
export const adding = (meter: UsageMeter, log: Logger): Job =>
  every({
    async work() {
      await meter.flush()
      return false
    },
    everyMs: ADD_EVERY_MS,
    onError: (error) => log.warn({ err: error }, 'requests were not counted yet'),
  })

/** Begins what is done from time to time, by whichever processes have the role `jobs`. */
export const startJobs = ({ statistics, usage, retention }: Stores, log: Logger): Job[] => [
  every({
    work: () => statistics.countAttempts(),
    everyMs: COUNT_EVERY_MS,
    onError: (error) => log.warn({ err: error }, 'attempts were not counted: tried again in a moment'),
  }),
  every({
    work: () => usage.addUpHeadcounts(),
    everyMs: HEADCOUNT_EVERY_MS,
    onError: (error) => log.warn({ err: error }, 'the headcount was not added up: tried again in a moment'),
  }),
  every({
    work: () => retention.sweepSessions(),
    everyMs: SWEEP_SESSIONS_EVERY_MS,
    onError: (error) => log.warn({ err: error }, 'expired sessions were not deleted: tried again in a moment'),
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
