import type { MemoryStores } from '../service.js'

const READS = ['find', 'roster', 'references', 'list', 'typedInSession', 'findByPattern']

type Methods = Record<string, (...args: unknown[]) => unknown>

/**
 * The stores, with `durable` called after each commit that waits for the disk: such a commit makes all earlier ones
 * durable.
 */
export function durably(stores: MemoryStores, durable: () => void): MemoryStores {
  const then =
    <Args extends unknown[], Result>(work: (...args: Args) => Result) =>
    (...args: Args): Result => {
      const result = work(...args)
      durable()
      return result
    }
  const wrapped = (store: object) => {
    const methods = Object.entries(store as Methods) // Sound: a store is an object of methods.
    return Object.fromEntries(methods.map(([name, work]) => [name, READS.includes(name) ? work : then(work)]))
  }
  // Sound: the stores have the same methods under the same names.
  const made = Object.fromEntries(Object.entries(stores).map(([name, store]) => [name, wrapped(store)]))
  const { sessions, invalidPatterns } = stores
  return {
    ...(made as unknown as MemoryStores),
    invalidPatterns,
    sessions: { ...sessions, end: then(sessions.end), endAll: then(sessions.endAll) },
  }
}
