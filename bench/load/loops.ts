/** Milliseconds on one clock, and a pause on it. */
export interface Clock {
  now(): number
  sleep(ms: number): Promise<void>
}

/** The real clock. */
export const wallClock: Clock = {
  now: () => performance.now(),
  sleep: (ms) => new Promise((go) => setTimeout(go, ms)),
}

/** Interval of the checks whether to stop. */
const LOOK_EVERY_MS = 100

/** Inputs of `openLoop`. */
interface OpenLoop {
  readonly clock: Clock
  /** Start times, in ms after `start`, ascending. */
  readonly times: Iterable<number>
  readonly start: number
  /** An arrival while this many are in progress is dropped. */
  readonly underWayMax: number
  stopped(): boolean
  /** Begins one; `at` is its time after `start`, `lateMs` the delay of this loop. */
  begin(due: number, at: number, lateMs: number): Promise<void>
  dropped(at: number): void
}

/**
 * Begins each item when it is due, independent of earlier ones: a stalled service does not reduce the load, and the wait
 * of requests during the stall is in the figures. Resolves when the last one is done.
 */
export async function openLoop({ clock, times, start, underWayMax, stopped, begin, dropped }: OpenLoop): Promise<void> {
  const underWay = new Set<Promise<void>>()
  for (const at of times) {
    const due = start + at
    let now = clock.now()
    while (now < due && !stopped()) {
      await clock.sleep(Math.min(due - now, LOOK_EVERY_MS))
      now = clock.now()
    }
    if (stopped()) break
    if (underWay.size >= underWayMax) {
      dropped(at)
      continue
    }
    const one: Promise<void> = begin(due, at, now - due).finally(() => underWay.delete(one))
    underWay.add(one)
  }
  await Promise.all(underWay)
}

/** Inputs of `closedLoop`. */
interface ClosedLoop {
  readonly clock: Clock
  /** Number in progress at any time. */
  readonly lanes: number
  readonly end: number
  stopped(): boolean
  begin(now: number): Promise<void>
}

/** Runs items one after the other in each lane, until `end`. */
export async function closedLoop({ clock, lanes, end, stopped, begin }: ClosedLoop): Promise<void> {
  const lane = async () => {
    for (let now = clock.now(); now < end && !stopped(); now = clock.now()) await begin(now)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}
