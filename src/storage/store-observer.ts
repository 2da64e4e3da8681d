import { Refusal } from '../domain/refusal.js'

export type StoreName = 'postgres' | 'redis'

/** Observes the stores for metrics. Its methods are called on every path, so they must be cheap and never throw. */
export interface StoreObserver {
  /** A call ended after `ms`, with its wait. `failed`: it rejected, but not by a rule of the product, such as a quota. */
  called(store: StoreName, ms: number, failed: boolean): void
  /** A call waited `ms` for a connection to the database. Calls without a wait are not reported. */
  waited(ms: number): void
  /** One commit contained `attempts` attempts. */
  committed(attempts: number): void
}

/** Reports the end of `work`, which began at `begun` (`performance.now()`), and resolves or rejects as `work` does. */
export function observed<T>(observer: StoreObserver, store: StoreName, begun: number, work: Promise<T>): Promise<T> {
  work.then(
    () => observer.called(store, performance.now() - begun, false),
    (error: unknown) => {
      const refused = error instanceof Refusal && error.kind !== 'degraded'
      observer.called(store, performance.now() - begun, !refused)
    },
  )
  return work
}
