import {
  type JobIds,
  type JobQueueStore,
  QUEUES,
  type QueuedJob,
  type QueueName,
  type SendOptions,
} from '../storage/job-queue.js'

export type { JobIds, QueueName, SendOptions }

/** Jobs that outlive the process which asks for them, and the process that does them. */
export interface JobQueue {
  /**
   * Queues a job. Takes ids (UUIDs) and nothing else, and throws a plain Error for anything else. False where `oncePerS`
   * left it out. Refuses `degraded` while the database is lost.
   */
  send(queue: QueueName, ids: JobIds, options?: SendOptions): Promise<boolean>
  /**
   * Does the queue's jobs here, one at a time (or `atOnce`), until `stop`. A job may come twice, and a rejection brings it
   * again later. The signal tells that the process stops, or that the job's time is up and another may do it.
   */
  work(queue: QueueName, handle: (ids: JobIds, signal: AbortSignal) => Promise<void>, atOnce?: number): void
  /** Sees to it that the queue gets one job in each span of `everyS` seconds, at most a day, over all processes together. */
  schedule(queue: QueueName, everyS: number): void
  /** Takes no more jobs and waits for those under way, 2.5 s at the most: what is left then is given back. */
  stop(): Promise<void>
}

interface JobQueueNeeds {
  readonly jobQueue: JobQueueStore
  /** A job failed: once for each time it did. */
  readonly onFailed: (error: unknown, facts: { queue: QueueName; job: string }) => void
  /** The queue itself cannot be reached: once until it is again. */
  readonly onLost: (error: unknown) => void
}

/** After a call that failed. */
const AGAIN_MS = 1000
const STOP_WITHIN_MS = 2500
const MAINTAIN_EVERY_MS = 30_000
/** A schedule is looked at so often, however rarely it is due: a process that starts late still makes the span. */
const SCHEDULE_EVERY_MS = 10 * 60_000
/** Tries to say that a job is done: an unheard one is done again. */
const SETTLE_TRIES = 10
/** Less than the queue gives, so that nobody else begins before this one was told to end. */
const EXPIRE_EARLY_MS = 5000

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Timers never hold a process; nothing runs before `work` or `schedule` is called. */
export function createJobQueue({ jobQueue, onFailed, onLost }: JobQueueNeeds): JobQueue {
  const sleepers = new Map<QueueName | null, Set<() => void>>()
  const running = new Set<{ queue: QueueName; id: string; ending: AbortController }>()
  const loops: Promise<void>[] = []
  let stopped = false
  let lost = false
  let maintained = false

  /** False where the store is lost. A call begun before the loss was told does not say that the store is back. */
  async function reached(call: () => Promise<unknown>): Promise<boolean> {
    const begunLost = lost
    try {
      await call()
      if (begunLost) lost = false
      return true
    } catch (error) {
      if (!lost && !stopped) onLost(error)
      lost = true
      return false
    }
  }

  /** Until the time is over, a job of the queue is sent here, or everything stops. */
  function sleep(ms: number, queue: QueueName | null = null): Promise<void> {
    if (stopped) return Promise.resolve()
    return new Promise((resolve) => {
      const sleeping = sleepers.get(queue) ?? new Set()
      sleepers.set(queue, sleeping)
      const wake = () => {
        clearTimeout(timer)
        sleeping.delete(wake)
        resolve()
      }
      const timer = setTimeout(wake, ms).unref()
      sleeping.add(wake)
    })
  }
  const wake = (queue: QueueName | null) => {
    for (const one of [...(sleepers.get(queue) ?? [])]) one()
  }

  async function settle(call: () => Promise<void>): Promise<void> {
    for (let tries = 1; tries <= SETTLE_TRIES; tries += 1) {
      if ((await reached(call)) || stopped) return
      await sleep(AGAIN_MS)
    }
  }

  async function doOne(queue: QueueName, job: QueuedJob, handle: Parameters<JobQueue['work']>[1]) {
    const ending = new AbortController()
    const entry = { queue, id: job.id, ending }
    running.add(entry)
    const late = setTimeout(() => ending.abort(), QUEUES[queue].expireS * 1000 - EXPIRE_EARLY_MS).unref()
    try {
      await handle(job.ids, ending.signal)
      if (running.delete(entry)) await settle(() => jobQueue.done(queue, job.id))
    } catch (error) {
      if (!ending.signal.aborted) onFailed(error, { queue, job: job.id })
      if (running.delete(entry)) await settle(() => jobQueue.failed(queue, job.id, whyOf(error)))
    } finally {
      clearTimeout(late)
      running.delete(entry)
    }
  }

  async function loop(queue: QueueName, handle: Parameters<JobQueue['work']>[1]): Promise<void> {
    while (!stopped) {
      let job: QueuedJob | null = null
      const well = await reached(async () => {
        job = await jobQueue.take(queue)
      })
      if (job === null) await sleep(well ? QUEUES[queue].seenWithinS * 1000 : AGAIN_MS, queue)
      else await doOne(queue, job, handle)
    }
  }

  async function repeat(work: () => Promise<unknown>, everyMs: number): Promise<void> {
    while (!stopped) {
      await sleep((await reached(work)) ? everyMs : AGAIN_MS)
    }
  }

  async function send(queue: QueueName, ids: JobIds, options: SendOptions = {}): Promise<boolean> {
    const other = Object.entries(ids).find(([, id]) => !UUID.test(id))
    if (other !== undefined) throw new Error(`a job of ${queue} may carry ids only: ${other[0]} is none`)
    const sent = await jobQueue.send(queue, ids, options)
    if (sent) wake(queue)
    return sent
  }

  return {
    send,
    work(queue, handle, atOnce = 1) {
      for (let i = 0; i < atOnce; i += 1) loops.push(loop(queue, handle))
      if (maintained) return
      maintained = true
      loops.push(repeat(() => jobQueue.maintain(), MAINTAIN_EVERY_MS))
    },
    schedule(queue, everyS) {
      const everyMs = Math.min((everyS * 1000) / 2, SCHEDULE_EVERY_MS)
      loops.push(repeat(() => send(queue, {}, { oncePerS: everyS }), everyMs))
    },
    async stop() {
      stopped = true
      for (const queue of sleepers.keys()) wake(queue)
      for (const { ending } of running) ending.abort()
      let late: NodeJS.Timeout | undefined
      const patience = new Promise<void>((resolve) => {
        late = setTimeout(resolve, STOP_WITHIN_MS)
      })
      await Promise.race([Promise.all(loops), patience])
      clearTimeout(late)
      for (const entry of [...running]) {
        running.delete(entry)
        await reached(() => jobQueue.failed(entry.queue, entry.id, 'stopped'))
      }
    },
  }
}

/** The kind of an error, not its words: those may name a person. */
const whyOf = (error: unknown): string => (error instanceof Error ? error.name : 'failed')
