import { LRUCache } from 'lru-cache'

/** Longest time for which an entry is cached after it was last set. A retry follows within minutes (`keystride plan`: 5). Our choice. */
const KEPT_MS = 15 * 60_000
/** An expired entry is removed at most this much later. A sweep of 40,000 entries, which are a gigabyte of people, takes a few ms. */
const SWEEP_EVERY_MS = 60_000
/** The clock is read at most once in this time. */
const CLOCK_MS = 1000

/**
 * A cache of at most `bytesMax` bytes, which drops the least recently used entry first. An entry that is not set again is removed
 * within 16 minutes: this process may not know that the person was deleted by another machine. An empty cache has no timer.
 */
export function createExpiringCache<V extends object>(
  bytesMax: number,
  sizeOf: (value: V) => number,
): LRUCache<string, V> {
  let sweeps = false
  const cache = new LRUCache<string, V>({
    maxSize: bytesMax,
    sizeCalculation: sizeOf,
    ttl: KEPT_MS,
    ttlResolution: CLOCK_MS,
    onInsert: () => {
      if (!sweeps) sweepLater()
    },
  })
  function sweepLater(): void {
    sweeps = true
    setTimeout(() => {
      cache.purgeStale()
      sweeps = false
      if (cache.size > 0) sweepLater()
    }, SWEEP_EVERY_MS).unref()
  }
  return cache
}
