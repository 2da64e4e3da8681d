import type { LoggedRequest, RequestCount, UsageStore } from '../../storage/usage.js'

interface Needs {
  readonly usage: Pick<UsageStore, 'add'>
  readonly now: () => number
}

/** The part of an answered request that is metered. */
interface MeteredRequest {
  readonly requestId: string
  readonly api: string
  readonly method: string
  readonly route: string
  readonly status: number
  readonly durationMs: number
  /** Null if the key is unknown; the request is then not counted. */
  readonly organizationId: string | null
  /** Null if no route matched. */
  readonly countedAs: string | null
}

export interface UsageMeter {
  /** Writes to memory only. */
  note(request: MeteredRequest): void
  /** Writes the noted requests to the store. The next flush writes those that could not be written. */
  flush(): Promise<void>
}

/** Log entries that wait for a flush; further requests are counted but not logged. */
const LOGGED_MAX = 5000
const DAY_MS = 86_400_000

/**
 * Counts requests by organization, UTC day and class, and logs those that leave no other record. Our choice: a successful
 * bootstrap, enrollment or verify is not logged. A crash loses the requests since the last flush.
 */
export function createUsageMeter({ usage, now }: Needs): UsageMeter {
  let counts = new Map<string, RequestCount & { n: number }>()
  let logged: (LoggedRequest & { organizationId: string })[] = []
  const count = (one: RequestCount) => {
    const key = `${one.organizationId} ${one.day} ${one.class}`
    const known = counts.get(key)
    if (known === undefined) counts.set(key, { ...one })
    else known.n += one.n
  }
  let dayNumber = Number.NaN
  let day = ''
  /** The UTC day of now. */
  const today = () => {
    const at = now()
    if (Math.floor(at / DAY_MS) !== dayNumber) {
      dayNumber = Math.floor(at / DAY_MS)
      day = new Date(at).toISOString().slice(0, 10)
    }
    return day
  }
  return {
    note({ requestId, api, method, route, status, durationMs, organizationId, countedAs }) {
      if (organizationId === null) return
      count({ organizationId, day: today(), class: countedAs ?? 'other', n: 1 })
      const recorded = countedAs !== 'other' && countedAs !== null && status < 400
      if (recorded || logged.length >= LOGGED_MAX) return
      logged.push({ organizationId, id: requestId, api, method, route, status, durationMs })
    },

    async flush() {
      if (counts.size === 0) return
      const [adding, writing] = [counts, logged]
      counts = new Map()
      logged = []
      const restore = (counted: readonly RequestCount[], log: typeof logged) => {
        for (const one of counted) count(one)
        logged = [...log, ...logged].slice(0, LOGGED_MAX)
      }
      let left: Awaited<ReturnType<UsageStore['add']>>
      try {
        left = await usage.add([...adding.values()], writing)
        // Half of the room stays for the requests of other databases.
        if (left !== null) restore(left.counted, left.logged.slice(0, LOGGED_MAX / 2))
      } catch (error) {
        restore([...adding.values()], writing)
        throw error
      }
      if (left?.error !== undefined) throw left.error
    },
  }
}
