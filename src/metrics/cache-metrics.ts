import { Gauge, type Metric } from 'prom-client'
import type { PatternMemory } from '../flows/attempt/pattern-memory.js'
import type { PersonCache } from '../flows/attempt/person-cache.js'
import { createCounts } from './counts.js'

interface CacheMetrics {
  /** Wraps the caches so that they count their look-ups. */
  watch(caches: Caches): Caches
  readonly metrics: readonly Metric[]
}

export interface Caches {
  readonly people: PersonCache
  readonly memory: PatternMemory
}

/** Look-ups in the caches of people and of their known patterns (PROFILE_CACHE_MB). */
export function createCacheMetrics(): CacheMetrics {
  let people: PersonCache | null = null
  const lookups = createCounts({
    name: 'keystride_cache_lookups_total',
    help: 'Look-ups in a cache, by outcome',
    labelNames: ['cache', 'outcome'],
  })
  for (const cache of ['people', 'patterns']) for (const outcome of ['hit', 'miss']) lookups.add([cache, outcome], 0)
  const bytes = new Gauge({
    name: 'keystride_person_cache_bytes',
    help: 'Approximate size of the cached people',
    registers: [],
    collect() {
      this.set(people?.bytes() ?? 0)
    },
  })
  const counted = <T>(cache: string, found: T | null): T | null => {
    lookups.add([cache, found === null ? 'miss' : 'hit'])
    return found
  }
  return {
    metrics: [lookups.metric, bytes],
    watch(caches) {
      people = caches.people
      return {
        people: { ...caches.people, recall: (who) => counted('people', caches.people.recall(who)) },
        memory: { ...caches.memory, find: (member) => counted('patterns', caches.memory.find(member)) },
      }
    },
  }
}
