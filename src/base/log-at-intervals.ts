const ANY_EVERY_MS = 1000
const SAME_EVERY_MS = 60_000

/** Logs at most one line a second, and each line at most once a minute: an outage has thousands. */
export function logAtIntervals(log: (line: string) => void): (line: string) => void {
  /** The lines of the last minute, at most 60. */
  const loggedAt = new Map<string, number>()
  let lastAt = Number.NEGATIVE_INFINITY
  return (line) => {
    const now = performance.now()
    if (now - lastAt < ANY_EVERY_MS) return
    for (const [old, at] of loggedAt) if (now - at >= SAME_EVERY_MS) loggedAt.delete(old)
    if (loggedAt.has(line)) return
    loggedAt.set(line, now)
    lastAt = now
    log(line)
  }
}
