import type { LoggedRequest, RequestCount, UsageStore } from '../../storage/usage.js'

interface Needs {
  readonly usage: Pick<UsageStore, 'add'>
  readonly now: () => number
}

/** One answered request, as far as usage is concerned. */
interface MeteredRequest {
  readonly requestId: string
  readonly api: string
  readonly method: string
  readonly route: string
  readonly status: number
  readonly durationMs: number
  /** Null before the key is known: nobody's usage. */
  readonly organizationId: string | null
  /** Null where no row was found. */
  readonly countedAs: string | null
}

export interface UsageMeter {
  /** Touches memory only. */
  note(request: MeteredRequest): void
  /** Adds what was noted to the store; what could not be added is added with the next. */
  flush(): Promise<void>
}

/** Entries of the log that wait for a flush at the most: what comes beyond them is counted, and not logged. */
const LOGGED_MAX = 5000

/**
 * Counts requests by organization, UTC day and class, and keeps the log of those that leave no record of their own: Our
 * choice, a successful bootstrap, enrollment or verify is not logged. A process that dies loses what came since the last
 * flush.
 */
export function createUsageMeter({ usage, now }: Needs): UsageMeter {
  let counts = new Map<string, RequestCount>()
  let logged: (LoggedRequest & { organizationId: string })[] = []
  const count = (one: RequestCount) => {
    const key = `${one.organizationId} ${one.day} ${one.class}`
    counts.set(key, { ...one, n: one.n + (counts.get(key)?.n ?? 0) })
  }
  return {
    note({ requestId, api, method, route, status, durationMs, organizationId, countedAs }) {
      if (organizationId === null) return
      const day = new Date(now()).toISOString().slice(0, 10)
      count({ organizationId, day, class: countedAs ?? 'other', n: 1 })
      const recorded = countedAs !== 'other' && countedAs !== null && status < 400
      if (recorded || logged.length >= LOGGED_MAX) return
      logged.push({ organizationId, id: requestId, api, method, route, status, durationMs })
    },

    async flush() {
      if (counts.size === 0) return
      const [adding, writing] = [counts, logged]
      counts = new Map()
      logged = []
      try {
        await usage.add([...adding.values()], writing)
      } catch (error) {
        for (const one of adding.values()) count(one)
        logged = [...writing, ...logged].slice(0, LOGGED_MAX)
        throw error
      }
    },
  }
}
