import { Refusal } from '../domain/refusal.js'

export type StoreName = 'postgres' | 'redis'

/** Sees the work of the stores, for metrics. Its methods are called on every path: they must be cheap and never throw. */
export interface StoreObserver {
  /** A call ended after `ms`, waiting included. `failed`: it rejected, except for a refusal by a rule of the product, such as a quota. */
  called(store: StoreName, ms: number, failed: boolean): void
  /** A call waited `ms` for a connection to the database. Calls that got one at once are not reported. */
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
