import type { Metric } from 'prom-client'
import { every, type Job } from '../base/every.js'
import type { Courier } from '../flows/alert/courier.js'
import { createAttemptMetrics } from '../metrics/attempt-metrics.js'
import { createBackgroundMetrics } from '../metrics/background-metrics.js'
import { type Caches, createCacheMetrics } from '../metrics/cache-metrics.js'
import type { Config } from '../process/config.js'
import type { Logger } from '../process/log.js'
import type { Scoring } from '../scoring/scoring.js'
import type { OneDatabase, Stores } from './stores.js'

/** The state of jobs, outbox and database in the metrics is at most this old. */
const READ_EVERY_MS = 10_000

interface Parts {
  readonly stores: Stores
  readonly scoring: Scoring
}

export interface ProductMetrics {
  /** The stores and the scoring that count their work. */
  watch(parts: Parts): Parts
  watchCaches(caches: Caches): Caches
  watchCourier(courier: Courier): Courier
  /** Reads the state of a database and its background work periodically, in processes with the role `jobs`. */
  readState(database: OneDatabase, log: Logger): Job
  metricsOf(roles: Config['roles']): Metric[]
}

/** The metrics of sign-ins, enrollments and background work. Wraps the parts whose work they count, so that no flow knows of metrics. */
export function createProductMetrics(): ProductMetrics {
  const attempts = createAttemptMetrics()
  const caches = createCacheMetrics()
  const background = createBackgroundMetrics()
  return {
    watch({ stores, scoring: plain }) {
      const { scoring, ...watched } = attempts.watch({ ...stores, scoring: plain })
      return { stores: { ...stores, ...watched }, scoring }
    },
    watchCaches: caches.watch,
    watchCourier: background.watch,
    readState: ({ name, stores }, log) =>
      every({
        async work() {
          await background.refresh(name, stores)
          return false
        },
        everyMs: READ_EVERY_MS,
        onError: (error) => log.debug({ err: error }, 'the state of background work was not read for the metrics'),
      }),
    metricsOf: (roles) => [
      ...attempts.metrics,
      ...caches.metrics,
      ...(roles.includes('jobs') ? background.metrics : []),
    ],
  }
}
