/** Rules of a queue's jobs. */
export interface QueueRules {
  /** Retries of a failed job. */
  readonly retries: number
  /** Delay of the first retry; each later retry waits about twice as long. */
  readonly retryAfterS: number
  /** After this time a job is given to another process, because it takes too long or its process died; at least 30. */
  readonly expireS: number
  /** Longest delay until a process sees a job of another process; it sees its own jobs at once. */
  readonly seenWithinS: number
}

/** All queues; `keystride migrate` creates them. */
export const QUEUES = {
  'export-log': { retries: 5, retryAfterS: 1, expireS: 3600, seenWithinS: 2 },
  'find-exports': { retries: 0, retryAfterS: 1, expireS: 60, seenWithinS: 10 },
  retention: { retries: 3, retryAfterS: 60, expireS: 3600, seenWithinS: 60 },
} as const satisfies Record<string, QueueRules>
export type QueueName = keyof typeof QUEUES

/** The subject of a job: ids (UUIDs) by name and nothing else, so that no job names a person. */
export type JobIds = Readonly<Record<string, string>>

export interface QueuedJob {
  readonly id: string
  readonly ids: JobIds
}

/** The jobs of one queue, of the whole deployment. */
export interface QueueState {
  readonly queue: QueueName
  /** Jobs that are due and that no process has taken. */
  readonly waiting: number
  /** Jobs that are due later, retries included. */
  readonly later: number
  readonly running: number
  /** Jobs whose last retry failed within about two days. */
  readonly failed: number
  /** How long the oldest waiting job has been due; null if none waits. */
  readonly oldestWaitingS: number | null
  /** End of the latest job that succeeded, epoch ms; null if none did in about three days. */
  readonly lastSuccessAt: number | null
}

export interface SendOptions {
  /** Earliest start, seconds from now. */
  readonly afterS?: number
  /** At most one job of the queue, from all processes, in each span of this many seconds since 1970; at most a day. */
  readonly oncePerS?: number
}

/**
 * Jobs that outlive processes. One process at a time takes a job; if that process dies, the job is delivered again, so work
 * must be idempotent. Calls reject with `Refusal('degraded')` while the database is unavailable.
 */
export interface JobQueueStore {
  /** False if `oncePerS` suppressed the job. */
  send(queue: QueueName, ids: JobIds, options?: SendOptions): Promise<boolean>
  /** Takes a job; null if none is due. */
  take(queue: QueueName): Promise<QueuedJob | null>
  done(queue: QueueName, id: string): Promise<void>
  /** Retries the job later, if the queue's rules allow. `why` must name nobody. */
  failed(queue: QueueName, id: string, why: string): Promise<void>
  /** Redelivers jobs of dead processes, and deletes old jobs. */
  maintain(): Promise<void>
  /** Every queue, in the order of `QUEUES`. */
  states(): Promise<QueueState[]>
}
