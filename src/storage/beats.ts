interface Beats {
  /** Milliseconds since the start, as felt: see `startBeats`. Moves with each beat only. */
  now(): number
  /** There is something to look after: beats until `onBeat` says that there is nothing left. */
  wake(): void
  /** There is nothing left, said without waiting for a beat. */
  rest(): void
  stop(): void
}

/** One beat counts no more than so many: a loop that is always a little late still keeps time. */
const BEATS_FELT_MAX = 2

/**
 * Time as this process's own event loop feels it: a beat every `everyMs`, told after what the sockets hold has been read. A
 * loop that stood still for a second has felt two beats of it, so its own stall is not taken for a store's silence. Stands
 * still where nothing is waited for: an idle process is not woken by it. Holds no process alive.
 */
export function startBeats(everyMs: number, onBeat: () => boolean): Beats {
  let felt = 0
  let last = 0
  let timer: NodeJS.Timeout | null = null
  let stopped = false

  function beat(): void {
    if (timer === null) return
    const now = performance.now()
    felt += Math.min(now - last, BEATS_FELT_MAX * everyMs)
    last = now
    if (!onBeat()) rest()
  }
  function rest(): void {
    if (timer !== null) clearInterval(timer)
    timer = null
  }
  return {
    now: () => felt,
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
