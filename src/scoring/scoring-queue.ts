import { createHash } from 'node:crypto'
import type { ScoringResult, ScoringTask } from './scoring.js'

export interface QueuedTask {
  readonly task: ScoringTask
  readonly resolve: (result: ScoringResult) => void
  readonly reject: (error: Error) => void
  /** Number of workers that failed during the task. */
  kills: number
  /** Number of batches with the task that no worker began. */
  misses: number
}

/** Most tasks in a batch. 32 tasks make the 10 µs of a transfer negligible; with more, the first tasks would only wait longer. */
const BATCH_MAX = 32
/** Most hashes kept of bodies during which two workers have failed. */
const POISONS_MAX = 1000

/** The tasks that wait for a worker. */
interface ScoringQueue {
  readonly length: () => number
  readonly add: (task: QueuedTask) => void
  /** Whether two workers have failed during this body. */
  readonly isPoison: (task: ScoringTask) => boolean
  /**
   * Removes the next batch for one of `free` workers: an equal share of the tasks, so that two arrivals use two cores. A task
   * during which a worker failed is a batch of its own.
   */
  readonly nextBatch: (free: number) => QueuedTask[]
  /**
   * Requeues a batch after its worker failed. The task at index `last`, during which the worker failed, goes to the end for a
   * second try, and is rejected after that; the others go to the front. Without a task at `last` no worker began the batch.
   */
  readonly retry: (batch: readonly QueuedTask[], last: number, reason: Error) => void
}

export function createScoringQueue(): ScoringQueue {
  let waiting: QueuedTask[] = []
  const poisons = new Set<string>()

  function retrySuspect(suspect: QueuedTask, reason: Error): void {
    suspect.kills += 1
    if (suspect.kills === 1) {
      waiting.push(suspect)
      return
    }
    if (poisons.size < POISONS_MAX) poisons.add(hashOf(suspect.task))
    suspect.reject(reason)
  }

  return {
    length: () => waiting.length,
    add: (task) => waiting.push(task),
    isPoison: (task) => poisons.size > 0 && poisons.has(hashOf(task)),
    nextBatch(free) {
      const size = Math.min(BATCH_MAX, Math.ceil(waiting.length / free))
      const suspect = waiting.slice(0, size).findIndex(({ kills }) => kills > 0)
      return waiting.splice(0, suspect < 0 ? size : Math.max(1, suspect))
    },
    retry(batch, last, reason) {
      const suspect = batch[last]
      const others = batch.filter((one) => one !== suspect)
      waiting = [...(suspect === undefined ? afterMiss(others, reason) : others), ...waiting]
      if (suspect !== undefined) retrySuspect(suspect, reason)
    },
  }
}

/** Counts a miss for each task; rejects those with two and returns the rest. */
function afterMiss(batch: readonly QueuedTask[], reason: Error): QueuedTask[] {
  for (const one of batch) one.misses += 1
  for (const { misses, reject } of batch) if (misses > 1) reject(reason)
  return batch.filter(({ misses }) => misses < 2)
}

const hashOf = ({ body }: ScoringTask): string => createHash('sha256').update(body).digest('base64')
