export interface Beats {
  /** Beats so far. */
  now(): number
  stop(): void
}

/**
 * Time as this process's own event loop feels it: one beat every `everyMs`, told after what the sockets hold has been
 * read. A loop that stood still for a second has beaten once, so its own stall is never taken for a store's silence.
 * Holds no process alive.
 */
export function startBeats(everyMs: number, onBeat: () => void): Beats {
  let beats = 0
  const timer = setInterval(
    () =>
      setImmediate(() => {
        beats += 1
        onBeat()
      }),
    everyMs,
  ).unref()
  return {
    now: () => beats,
    stop: () => clearInterval(timer),
  }
}
