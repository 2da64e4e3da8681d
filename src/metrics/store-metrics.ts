import { Histogram, type Metric } from 'prom-client'
import type { StoreName, StoreObserver } from '../storage/store-observer.js'
import { createCounts } from './counts.js'

const CALL_BUCKETS_S = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]
const WAIT_BUCKETS_S = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1]
/** A commit contains at most 64 attempts. */
const COMMIT_BUCKETS = [1, 2, 4, 8, 16, 32, 48, 64]

interface StoreMetrics extends StoreObserver {
  readonly metrics: readonly Metric[]
}

/** Latency and failures of the stores' calls, waits for a connection, and sizes of the group commits. */
export function createStoreMetrics(): StoreMetrics {
  const latency: Record<StoreName, Histogram> = {
    postgres: histogram(
      'keystride_postgres_call_duration_seconds',
      'PostgreSQL calls, waiting included',
      CALL_BUCKETS_S,
    ),
    redis: histogram('keystride_redis_call_duration_seconds', 'Redis calls', CALL_BUCKETS_S),
  }
  const failures = createCounts({
    name: 'keystride_store_failures_total',
    help: 'Calls that a store refused, lost or did not answer in time',
    labelNames: ['store'],
  })
  for (const store of Object.keys(latency)) failures.add([store], 0)
  const waits = histogram(
    'keystride_postgres_wait_duration_seconds',
    'Waits for a connection to PostgreSQL; a call that gets one at once has none',
    WAIT_BUCKETS_S,
  )
  const commits = histogram(
    'keystride_group_commit_attempts',
    'Sign-in attempts that shared one commit',
    COMMIT_BUCKETS,
  )
  return {
    called(store, ms, failed) {
      latency[store].observe(ms / 1000)
      if (failed) failures.add([store])
    },
    waited: (ms) => waits.observe(ms / 1000),
    committed: (attempts) => commits.observe(attempts),
    metrics: [latency.postgres, latency.redis, failures.metric, waits, commits],
  }
}

const histogram = (name: string, help: string, buckets: number[]): Histogram =>
  new Histogram({ name, help, buckets, registers: [] })
