/** Something whose loss degrades the service. */
export interface Check {
  readonly name: string
  readonly ping: () => Promise<void>
}

export interface Health {
  /** Null when well, else what is out of reach. Reads a flag, touches nothing. */
  degraded(): string | null
  /** Hears of every turn from now on. */
  listen(onChange: (degraded: string | null) => void): void
  stop(): void
}

/**
 * A store is lost when two pings in a row fail: one alone may have been a cut connection that is made anew. The stores'
 * clients give a ping up after some 200 ms, so that a loss shows within 650 ms, under a second.
 */
const EVERY_MS = 100
const LOST_AFTER = 2
/** For a ping that its client does not bound: two of them still end within a second. */
const PING_MAX_MS = 400

/** Pings every store again and again and remembers the outcome. `onChange` hears of every turn for better or worse. */
export function watchHealth(checks: readonly Check[], onChange: (degraded: string | null) => void): Health {
  const lost = new Set<string>()
  const listeners = [onChange]
  let shown: string | null = null
  let stopped = false
  const timers = new Set<NodeJS.Timeout>()

  const show = () => {
    const now = lost.size === 0 ? null : `degraded: ${[...lost].sort().join(' and ')} out of reach`
    if (now === shown) return
    shown = now
    for (const listener of listeners) listener(now)
  }
  const watch = async (check: Check, failedBefore: number) => {
    const failed = (await within(check.ping(), PING_MAX_MS)) ? 0 : failedBefore + 1
    if (stopped) return
    if (failed === 0) lost.delete(check.name)
    if (failed >= LOST_AFTER) lost.add(check.name)
    show()
    const timer = setTimeout(() => {
      timers.delete(timer)
      void watch(check, failed)
    }, EVERY_MS)
    timers.add(timer)
  }
  for (const check of checks) void watch(check, 0)

  return {
    degraded: () => shown,
    listen(heard) {
      listeners.push(heard)
    },
    stop() {
      stopped = true
      for (const timer of timers) clearTimeout(timer)
    },
  }
}

/** Whether the ping succeeded in time. */
async function within(ping: Promise<void>, limitMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((settle) => {
    // What came while this process stood still is read first.
    timer = setTimeout(() => setImmediate(() => settle(false)), limitMs)
  })
  const done = ping.then(
    () => true,
    () => false,
  )
  const well = await Promise.race([done, late])
  clearTimeout(timer)
  return well
}
