interface Beats {
  /** Milliseconds of event loop time since the start: see `startBeats`. Advances with each beat only. */
  now(): number
  /** Starts beating; beats until `onBeat` returns false. */
  wake(): void
  /** Stops beating until the next `wake`. */
  rest(): void
  stop(): void
}

/** A late beat counts at most this many beats, so that a loop that is always a little late still keeps time. */
const BEATS_COUNTED_MAX = 2

/**
 * A clock of this process's event loop: a beat every `everyMs`, after the sockets have been read. A loop that stalls for a
 * second counts two beats, so its own stall is not taken for a store's silence. The clock stops while nothing is awaited,
 * so it does not wake an idle process. It keeps no process alive. With a `patience` of ten, its time passes ten times slower.
 */
export function startBeats(everyMs: number, patience: number, onBeat: () => boolean): Beats {
  let counted = 0
  let last = 0
  let timer: NodeJS.Timeout | null = null
  let stopped = false

  function beat(): void {
    if (timer === null) return
    const now = performance.now()
    counted += Math.min(now - last, BEATS_COUNTED_MAX * everyMs) / patience
    last = now
    if (!onBeat()) rest()
  }
  function rest(): void {
    if (timer !== null) clearInterval(timer)
    timer = null
  }
  return {
    now: () => counted,
    wake() {
      if (timer !== null || stopped) return
      last = performance.now()
      timer = setInterval(() => setImmediate(beat), everyMs).unref()
    },
    rest,
    stop() {
      stopped = true
      rest()
    },
  }
}
