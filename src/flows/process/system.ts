import { Refusal } from '../../domain/refusal.js'
import type { JobQueueStore, QueueState } from '../../storage/job-queue.js'
import type { DatabaseFacts, SystemStore } from '../../storage/system.js'
import { answersWithin, type Check, PING_LIMIT_MS } from './health.js'

/** One serving process of this machine. */
export interface ProcessState {
  /** Position among the processes that one supervisor runs; 0 if there is only one. */
  readonly index: number
  /** Version of the build. The processes may differ after an update in place. */
  readonly version: string
  readonly uptimeS: number
  /** Number of restarts by the supervisor. */
  readonly restarts: number
}

/** The state of the deployment, for its operators. */
export interface SystemState {
  /** The reason why the service is degraded; null if it is not. */
  readonly degraded: string | null
  /** Round trip of a ping, ms; null if the store is unreachable, or takes no writes. */
  readonly stores: readonly { readonly name: string; readonly latencyMs: number | null }[]
  /** Null while the database is unavailable. */
  readonly database: DatabaseFacts | null
  /** Null while the database is unavailable. */
  readonly queues: readonly QueueState[] | null
  readonly processes: readonly ProcessState[]
  /** Largest skew between a clock and the database's, ms. */
  readonly clockSkewMs: number
}

interface Needs {
  readonly checks: readonly Check[]
  readonly degraded: () => string | null
  readonly system: SystemStore
  readonly jobQueue: Pick<JobQueueStore, 'states'>
  readonly processes: () => Promise<readonly ProcessState[]>
  readonly clock: { readonly skewMs: () => number }
  readonly monotonicMs: () => number
}

/** Reads the state of the deployment. Takes no longer than a ping or a statement may, and is not refused while a store is lost. */
export function createSystem(needs: Needs): () => Promise<SystemState> {
  const pinged = async ({ name, ping, limitMs = PING_LIMIT_MS }: Check) => {
    const askedAt = needs.monotonicMs()
    const reachable = await answersWithin(ping(), limitMs)
    return { name, latencyMs: reachable ? needs.monotonicMs() - askedAt : null }
  }
  return async () => {
    const [stores, database, queues, processes] = await Promise.all([
      Promise.all(needs.checks.map(pinged)),
      unlessLost(needs.system.database()),
      unlessLost(needs.jobQueue.states()),
      needs.processes(),
    ])
    const clockSkewMs = needs.clock.skewMs()
    return { degraded: needs.degraded(), stores, database, queues, processes, clockSkewMs }
  }
}

/** Null if the store is unavailable. */
const unlessLost = <T>(read: Promise<T>): Promise<T | null> =>
  read.catch((error: unknown) => {
    if (error instanceof Refusal && error.kind === 'degraded') return null
    throw error
  })
