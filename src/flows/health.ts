/** Something whose loss degrades the service. */
export interface Check {
  readonly name: string
  readonly ping: () => Promise<void>
}

export interface Health {
  /** Null when well, else what is out of reach. Reads a flag, touches nothing. */
  degraded(): string | null
  stop(): void
}

/**
 * A store is lost when two pings in a row fail: one alone may have been this process's own stall. A loss shows within
 * `EVERY_MS` and two `PING_MAX_MS`, under a second.
 */
const EVERY_MS = 250
const PING_MAX_MS = 300

/** Pings every store again and again and remembers the outcome. `onChange` hears of every turn for better or worse. */
export function watchHealth(checks: readonly Check[], onChange: (degraded: string | null) => void): Health {
  const lost = new Set<string>()
  let shown: string | null = null
  let stopped = false
  const timers = new Set<NodeJS.Timeout>()

  const show = () => {
    const now = lost.size === 0 ? null : `degraded: ${[...lost].sort().join(' and ')} out of reach`
    if (now === shown) return
    shown = now
    onChange(now)
  }
  const watch = async ({ name, ping }: Check) => {
    const well = (await within(ping(), PING_MAX_MS)) || (await within(ping(), PING_MAX_MS))
    if (stopped) return
    if (well) lost.delete(name)
    else lost.add(name)
    show()
    const timer = setTimeout(() => {
      timers.delete(timer)
      void watch({ name, ping })
    }, EVERY_MS)
    timers.add(timer)
  }
  for (const check of checks) void watch(check)

  return {
    degraded: () => shown,
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
    timer = setTimeout(() => settle(false), limitMs)
  })
  const done = ping.then(
    () => true,
    () => false,
  )
  const well = await Promise.race([done, late])
  clearTimeout(timer)
  return well
}
