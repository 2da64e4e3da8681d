export type StoreName = 'postgres' | 'redis'

/** Sees the work of the stores, for metrics. Its methods are called on every path: they must be cheap and never throw. */
export interface StoreObserver {
  /** A call ended after `ms`, waiting included. `failed`: it rejected. */
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
    () => observer.called(store, performance.now() - begun, true),
  )
  return work
}
