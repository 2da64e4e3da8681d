import { atMost } from '../../base/at-most.js'
import { reasonOf } from '../../base/error-reason.js'

/** A dependency whose loss degrades the service. */
export interface Check {
  readonly name: string
  readonly ping: () => Promise<void>
  /** Limit of a ping whose client has none, ms. */
  readonly limitMs?: number
  /** The loss of one check of a group degrades only a part of the service; the loss of all of them degrades it. */
  readonly group?: string
}

export interface Health {
  /** Null when healthy, else the reason. Does not wait for a ping. Pings are rarer while nothing calls this method. */
  degraded(): string | null
  /** The last error of a lost store; null if it answers. */
  lost(name: string): string | null
  /** Calls `onChange` with every later change. */
  listen(onChange: (degraded: string | null) => void): void
  /** Calls `onChange` with every later loss, and its error, and return (null), of one of the named stores. */
  listenTo(names: readonly string[], onChange: (why: string | null, reason: string) => void): void
  stop(): void
}

/**
 * A store is lost when two pings in a row fail: a single failure may be a cut connection that is reopened. The stores'
 * clients give up a ping after about 300 ms, so a loss shows within 850 ms of the first query. STORE_PATIENCE multiplies the pings' part.
 */
const EVERY_MS = 100
/** Interval while `degraded` is not called, so that an idle process stays idle. */
const RESTING_EVERY_MS = 3000
/** Time without a call until the longer interval. */
const RESTS_AFTER_MS = 1000
const LOST_AFTER = 2
/** Two pings of this length still end within a second. Callers multiply the limit by STORE_PATIENCE. */
export const PING_LIMIT_MS = 400

/**
 * Pings every store periodically and keeps the outcome. Pings are frequent while callers ask for the outcome or a store
 * does not answer. `onChange` is called with every change, and with the last errors of the lost stores, empty if none. After
 * each ping without a lost store, `otherReason` returns another reason, or null.
 */
export function watchHealth(
  checks: readonly Check[],
  onChange: (degraded: string | null, reason: string) => void,
  otherReason: () => string | null = () => null,
): Health {
  /** The last error of each lost store. */
  const lost = new Map<string, string>()
  const listeners: (typeof onChange)[] = [onChange]
  const partListeners: Parameters<Health['listenTo']>[] = []
  let degraded: string | null = null
  const degrades = (name: string) => {
    const group = checks.find((check) => check.name === name)?.group
    return group === undefined || checks.every((check) => check.group !== group || lost.has(check.name))
  }
  const update = () => {
    const missing = [...lost.keys()].filter(degrades).sort()
    const why = missing.length === 0 ? otherReason() : `${missing.join(' and ')} out of reach`
    const now = why === null ? null : `degraded: ${why}`
    if (now === degraded) return
    degraded = now
    for (const listener of listeners) listener(now, [...lost.values()].join('; '))
  }
  const noteLost = (name: string, error: string | null) => {
    const before = lost.has(name)
    if (error === null) lost.delete(name)
    else lost.set(name, error)
    if (before === lost.has(name)) return
    for (const [names, onChange] of partListeners) {
      const [gone] = names.filter((one) => lost.has(one))
      if (!names.includes(name)) continue
      if (gone === undefined) onChange(null, '')
      else onChange(`${gone} out of reach`, lost.get(gone) ?? '')
    }
  }
  const pings = startPings(checks, (name, failures, error) => {
    if (error === null || failures >= LOST_AFTER) noteLost(name, error)
    update()
  })
  return {
    degraded() {
      pings.hasten()
      return degraded
    },
    lost: (name) => lost.get(name) ?? null,
    listen(listener) {
      listeners.push(listener)
    },
    listenTo: (...listener) => void partListeners.push(listener),
    stop: pings.stop,
  }
}

interface Pings {
  /** Keeps the short interval for `RESTS_AFTER_MS`, and ends longer ones. */
  hasten(): void
  stop(): void
}

/** Calls `onPing` after each ping, with the number of failures in a row and the last error; null if it succeeded. */
function startPings(
  checks: readonly Check[],
  onPing: (name: string, failures: number, error: string | null) => void,
): Pings {
  let stopped = false
  let hastenedAt = performance.now()
  /** Scheduled pings by timer. */
  const due = new Map<NodeJS.Timeout, () => void>()
  let resting = 0

  async function ping(check: Check, failuresBefore: number): Promise<void> {
    const error = await errorOf(check)
    if (stopped) return
    const failures = error === null ? 0 : failuresBefore + 1
    onPing(check.name, failures, error)
    schedule(check, failures)
  }
  function schedule(check: Check, failures: number): void {
    const rests = failures === 0 && performance.now() - hastenedAt >= RESTS_AFTER_MS
    const begin = () => {
      due.delete(timer)
      if (rests) resting -= 1
      void ping(check, failures)
    }
    const timer = setTimeout(begin, rests ? RESTING_EVERY_MS : EVERY_MS)
    due.set(timer, begin)
    if (rests) resting += 1
  }
  for (const check of checks) void ping(check, 0)

  return {
    hasten() {
      hastenedAt = performance.now()
      if (resting === 0) return
      for (const [timer, begin] of [...due]) {
        clearTimeout(timer)
        begin()
      }
    },
    stop() {
      stopped = true
      for (const timer of due.keys()) clearTimeout(timer)
      due.clear()
    },
  }
}

/** The error of a ping that fails or takes too long; null if it succeeds. */
async function errorOf(check: Check): Promise<string | null> {
  const limitMs = check.limitMs ?? PING_LIMIT_MS
  let error = `no answer within ${limitMs} ms`
  const ping = check.ping()
  ping.catch((reason: unknown) => {
    error = reasonOf(reason)
  })
  return (await answersWithin(ping, limitMs)) ? null : error
}

/** Whether the ping succeeded in time. */
export async function answersWithin(ping: Promise<void>, limitMs: number): Promise<boolean> {
  // Replies that arrived while this process stalled are read first.
  const late = () => new Promise<boolean>((resolve) => setImmediate(() => resolve(false)))
  const done = ping.then(
    () => true,
    () => false,
  )
  return atMost(limitMs, done, late)
}
