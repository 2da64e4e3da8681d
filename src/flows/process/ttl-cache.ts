/** A loader with a cache in this process. */
interface TtlCache<T> {
  get(key: string): Promise<T>
  forget(key: string): void
}

/**
 * Caches each answer for `lifetimeMs` from the start of its load, so a change elsewhere is seen here no later than that.
 * Concurrent calls share a load; a failed load is not cached. Holds at most `entriesMax` answers and drops the oldest
 * first. `monotonicMs` is a clock that never jumps.
 */
export function createTtlCache<T>(
  load: (key: string) => Promise<T>,
  { lifetimeMs, entriesMax, monotonicMs }: { lifetimeMs: number; entriesMax: number; monotonicMs: () => number },
): TtlCache<T> {
  const entries = new Map<string, { readonly answer: Promise<T>; readonly until: number }>()
  return {
    get(key) {
      const begun = monotonicMs()
      const known = entries.get(key)
      if (known !== undefined && begun < known.until) return known.answer
      const answer = load(key)
      const entry = { answer, until: begun + lifetimeMs }
      entries.delete(key)
      entries.set(key, entry)
      if (entries.size > entriesMax) {
        const oldest = entries.keys().next()
        if (!oldest.done) entries.delete(oldest.value)
      }
      answer.catch(() => {
        if (entries.get(key) === entry) entries.delete(key)
      })
      return answer
    },
    forget(key) {
      entries.delete(key)
    },
  }
}
