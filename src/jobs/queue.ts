import { atMost } from '../base/at-most.js'
import {
  type JobIds,
  type JobQueueStore,
  QUEUES,
  type QueuedJob,
  type QueueName,
  type SendOptions,
} from '../storage/job-queue.js'

export type { JobIds, QueueName, SendOptions }

/** Jobs that survive the process that sends them and the process that runs them. */
export interface JobQueue {
  /**
   * Queues a job. Takes only ids (UUIDs) and throws a plain Error for anything else. False if `oncePerS` suppressed the
   * job. Refuses with `degraded` while the database is lost.
   */
  send(queue: QueueName, ids: JobIds, options?: SendOptions): Promise<boolean>
  /**
   * Runs the queue's jobs here, one at a time (or `atOnce`), until `stop`. A job may run twice; a rejection causes a retry.
   * The signal aborts when the process stops, and when the job's time is up and another process may run it.
   */
  work(queue: QueueName, handle: Handle, atOnce?: number): void
  /** Sends one job in each period of `everyS` seconds, at most a day, over all processes together. */
  schedule(queue: QueueName, everyS: number): void
  /** Takes no more jobs and waits for the running ones, 2.5 s at most; then returns them to the queue. */
  stop(): Promise<void>
}

type Handle = (ids: JobIds, signal: AbortSignal) => Promise<void>

interface JobQueueNeeds {
  readonly jobQueue: JobQueueStore
  /** Called for each failed run of a job. */
  readonly onFailed: (error: unknown, facts: { queue: QueueName; job: string }) => void
  /** Called once for each outage of the queue's store. */
  readonly onLost: (error: unknown) => void
}

/** Delay after a call that failed. */
const AGAIN_MS = 1000
const STOP_WITHIN_MS = 2500
const MAINTAIN_EVERY_MS = 30_000
/** Longest interval between two checks of a schedule: a process that starts late still meets the period. */
const SCHEDULE_EVERY_MS = 10 * 60_000
/** Tries to mark a job as done; if all fail, the job runs again. */
const SETTLE_TRIES = 10
/** Aborts a job this long before it expires, so that no other process runs it concurrently. */
const EXPIRE_EARLY_MS = 5000

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Timers do not keep the process alive; nothing runs before `work` or `schedule` is called. */
export function createJobQueue({ jobQueue, onFailed, onLost }: JobQueueNeeds): JobQueue {
  const { sleep, wake, wakeAll } = createSleepers()
  const loops: Promise<void>[] = []
  const store = watchStore(onLost)
  const runs = createRuns({ jobQueue, onFailed, store, sleep })
  let stopped = false
  let maintained = false

  async function loop(queue: QueueName, handle: Handle): Promise<void> {
    while (!stopped) {
      let job: QueuedJob | null = null
      const well = await store.reached(async () => {
        job = await jobQueue.take(queue)
      })
      if (job === null) await sleep(well ? QUEUES[queue].seenWithinS * 1000 : AGAIN_MS, queue)
      else await runs.run(queue, job, handle)
    }
  }

  async function repeat(work: () => Promise<unknown>, everyMs: number): Promise<void> {
    while (!stopped) {
      await sleep((await store.reached(work)) ? everyMs : AGAIN_MS)
    }
  }

  async function send(queue: QueueName, ids: JobIds, options: SendOptions = {}): Promise<boolean> {
    const other = Object.entries(ids).find(([, id]) => !UUID.test(id))
    if (other !== undefined) throw new Error(`a job of ${queue} may contain only ids: ${other[0]} is not one`)
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
      store.stop()
      wakeAll()
      runs.abort()
      await atMost<unknown>(STOP_WITHIN_MS, Promise.all(loops), () => {})
      await runs.giveBack()
    },
  }
}

interface RunNeeds extends Pick<JobQueueNeeds, 'jobQueue' | 'onFailed'> {
  readonly store: ReturnType<typeof watchStore>
  readonly sleep: (ms: number) => Promise<void>
}

/** The jobs that run in this process. */
function createRuns({ jobQueue, onFailed, store, sleep }: RunNeeds) {
  const running = new Set<RunningJob>()

  async function settle(call: () => Promise<void>): Promise<void> {
    for (let tries = 1; tries <= SETTLE_TRIES; tries += 1) {
      if ((await store.reached(call)) || store.stopped()) return
      await sleep(AGAIN_MS)
    }
  }

  async function run(queue: QueueName, job: QueuedJob, handle: Handle): Promise<void> {
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

  return {
    run,
    abort(): void {
      for (const { ending } of running) ending.abort()
    },
    /** Gives the jobs that have not ended back to the queue. */
    async giveBack(): Promise<void> {
      for (const entry of [...running]) {
        running.delete(entry)
        await store.reached(() => jobQueue.failed(entry.queue, entry.id, 'stopped'))
      }
    },
  }
}

interface RunningJob {
  readonly queue: QueueName
  readonly id: string
  readonly ending: AbortController
}

/** Notes whether the store is lost; `onLost` is called at the start of each outage, but not after `stop`. */
function watchStore(onLost: (error: unknown) => void) {
  let lost = false
  let stopped = false
  return {
    /** False if the call failed. A call that began before the outage was noted does not end it. */
    async reached(call: () => Promise<unknown>): Promise<boolean> {
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
    },
    stopped: () => stopped,
    stop(): void {
      stopped = true
    },
  }
}

/** Sleeping loops, by the queue whose jobs wake them; null for loops that no job wakes. */
function createSleepers() {
  const sleepers = new Map<QueueName | null, Set<() => void>>()
  let stopped = false

  /** Resolves after `ms`, when a job of the queue is sent here, and after `wakeAll`. */
  function sleep(ms: number, queue: QueueName | null = null): Promise<void> {
    if (stopped) return Promise.resolve()
    return new Promise((resolve) => {
      const sleeping = sleepers.get(queue) ?? new Set()
      sleepers.set(queue, sleeping)
      const wakeOne = () => {
        clearTimeout(timer)
        sleeping.delete(wakeOne)
        resolve()
      }
      const timer = setTimeout(wakeOne, ms).unref()
      sleeping.add(wakeOne)
    })
  }

  function wake(queue: QueueName | null): void {
    for (const wakeOne of [...(sleepers.get(queue) ?? [])]) wakeOne()
  }

  /** Wakes all permanently: later calls of `sleep` resolve at once. */
  function wakeAll(): void {
    stopped = true
    for (const queue of sleepers.keys()) wake(queue)
  }

  return { sleep, wake, wakeAll }
}

/** The class of an error. Its message is left out: it may name a person. */
const whyOf = (error: unknown): string => (error instanceof Error ? error.name : 'failed')
