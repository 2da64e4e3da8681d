export interface Beats {
  /** Milliseconds since the start, as felt: see `startBeats`. Moves with each beat only. */
  now(): number
  stop(): void
}

/** One beat counts no more than so many: a loop that is always a little late still keeps time. */
const BEATS_FELT_MAX = 2

/**
 * Time as this process's own event loop feels it: a beat every `everyMs`, told after what the sockets hold has been read. A
 * loop that stood still for a second has felt two beats of it, so its own stall is not taken for a store's silence. Holds
 * no process alive.
 */
export function startBeats(everyMs: number, onBeat: () => void): Beats {
  let felt = 0
  let last = performance.now()
  const timer = setInterval(
    () =>
      setImmediate(() => {
        const now = performance.now()
        felt += Math.min(now - last, BEATS_FELT_MAX * everyMs)
        last = now
        onBeat()
      }),
    everyMs,
  ).unref()
  return {
    now: () => felt,
    stop: () => clearInterval(timer),
  }
}
