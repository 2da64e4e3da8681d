/** What becomes of the jobs of a queue. */
export interface QueueRules {
  /** How often a job that failed is tried again. */
  readonly retries: number
  /** Until the first try again; each later one waits about twice as long. */
  readonly retryAfterS: number
  /** A job that takes longer, or whose process died, is given to somebody else; at least 30. */
  readonly expireS: number
  /** A job that another process sent is seen after this at the latest; own ones are seen at once. */
  readonly seenWithinS: number
}

/** Every queue there is; the database gets them when it is migrated. */
export const QUEUES = {
  'export-log': { retries: 5, retryAfterS: 1, expireS: 3600, seenWithinS: 2 },
  'find-exports': { retries: 0, retryAfterS: 1, expireS: 60, seenWithinS: 10 },
  retention: { retries: 3, retryAfterS: 60, expireS: 600, seenWithinS: 60 },
} as const satisfies Record<string, QueueRules>
export type QueueName = keyof typeof QUEUES

/** What a job is about: ids (UUIDs) by name and nothing else, so that no job ever names a person. */
export type JobIds = Readonly<Record<string, string>>

export interface QueuedJob {
  readonly id: string
  readonly ids: JobIds
}

export interface SendOptions {
  /** Taken no sooner than this, seconds. */
  readonly afterS?: number
  /** At most one job of this queue in each span of so many seconds since 1970, at most a day, whoever sends how many. */
  readonly oncePerS?: number
}

/**
 * Jobs that outlive processes. Each is taken by one process at a time; one whose process died comes again, so work must
 * bear being done twice. Calls reject with `Refusal('degraded')` while the database is lost.
 */
export interface JobQueueStore {
  /** False where `oncePerS` left it out. */
  send(queue: QueueName, ids: JobIds, options?: SendOptions): Promise<boolean>
  /** Null where none is due. */
  take(queue: QueueName): Promise<QueuedJob | null>
  done(queue: QueueName, id: string): Promise<void>
  /** Comes again after a while, as long as the queue's rules allow. `why` must name nobody. */
  failed(queue: QueueName, id: string, why: string): Promise<void>
  /** Gives jobs of dead processes to others, and forgets old ones. */
  maintain(): Promise<void>
}
