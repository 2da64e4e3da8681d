import { atMost } from '../../base/at-most.js'
import { reasonOf } from '../../base/error-reason.js'

/** A dependency whose loss degrades the service. */
export interface Check {
  readonly name: string
  readonly ping: () => Promise<void>
  /** Limit of a ping whose client has none, ms. */
  readonly limitMs?: number
}

export interface Health {
  /** Null when healthy, else the reason. Does not wait for a ping. Pings are rarer while nothing calls this method. */
  degraded(): string | null
  /** Calls `onChange` with every later change. */
  listen(onChange: (degraded: string | null) => void): void
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
 * each ping `wrong` returns another reason, or null.
 */
export function watchHealth(
  checks: readonly Check[],
  onChange: (degraded: string | null, reason: string) => void,
  wrong: () => string | null = () => null,
): Health {
  /** The last error of each lost store. */
  const lost = new Map<string, string>()
  const listeners: (typeof onChange)[] = [onChange]
  let shown: string | null = null
  let stopped = false
  let askedAt = performance.now()
  /** Scheduled pings by timer. */
  const due = new Map<NodeJS.Timeout, () => void>()
  let resting = 0

  const show = () => {
    const why = lost.size === 0 ? wrong() : `${[...lost.keys()].sort().join(' and ')} out of reach`
    const now = why === null ? null : `degraded: ${why}`
    if (now === shown) return
    shown = now
    for (const listener of listeners) listener(now, [...lost.values()].join('; '))
  }
  const watch = async (check: Check, failedBefore: number) => {
    const limitMs = check.limitMs ?? PING_LIMIT_MS
    let reason = `no answer within ${limitMs} ms`
    const ping = check.ping()
    ping.catch((error: unknown) => {
      reason = reasonOf(error)
    })
    const failed = (await answersWithin(ping, limitMs)) ? 0 : failedBefore + 1
    if (stopped) return
    if (failed === 0) lost.delete(check.name)
    if (failed >= LOST_AFTER) lost.set(check.name, reason)
    show()
    later(check, failed)
  }
  const later = (check: Check, failed: number) => {
    const rests = failed === 0 && performance.now() - askedAt >= RESTS_AFTER_MS
    const again = () => {
      due.delete(timer)
      if (rests) resting -= 1
      void watch(check, failed)
    }
    const timer = setTimeout(again, rests ? RESTING_EVERY_MS : EVERY_MS)
    due.set(timer, again)
    if (rests) resting += 1
  }
  const wake = () => {
    for (const [timer, again] of [...due]) {
      clearTimeout(timer)
      again()
    }
  }
  for (const check of checks) void watch(check, 0)

  return {
    degraded() {
      askedAt = performance.now()
      if (resting > 0) wake()
      return shown
    },
    listen(listener) {
      listeners.push(listener)
    },
    stop() {
      stopped = true
      for (const timer of due.keys()) clearTimeout(timer)
      due.clear()
    },
  }
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
