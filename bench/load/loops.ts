/** Milliseconds on one clock, and a pause on it. */
export interface Clock {
  now(): number
  sleep(ms: number): Promise<void>
}

/** The time that goes by. */
export const wallClock: Clock = {
  now: () => performance.now(),
  sleep: (ms) => new Promise((go) => setTimeout(go, ms)),
}

/** Between two looks at whether to stop. */
const LOOK_EVERY_MS = 100

/** What `openLoop` runs. */
interface OpenLoop {
  readonly clock: Clock
  /** When something is to begin, in ms after `start`, ascending. */
  readonly times: Iterable<number>
  readonly start: number
  /** What comes while this many are under way is dropped. */
  readonly underWayMax: number
  stopped(): boolean
  /** One that is due; `at` is its time after `start`, `lateMs` how late this loop was for it. */
  begin(due: number, at: number, lateMs: number): Promise<void>
  dropped(at: number): void
}

/**
 * Begins each thing when it is due, whatever became of those before it: a service that stalls cannot thin out what it
 * is asked, and what came in the stall waits in the figures. Resolves when the last one is done.
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

/** What `closedLoop` runs. */
interface ClosedLoop {
  readonly clock: Clock
  /** How many are under way at any time. */
  readonly lanes: number
  readonly end: number
  stopped(): boolean
  begin(now: number): Promise<void>
}

/** In each lane one thing after the other, the next when the last is done, until `end`. */
export async function closedLoop({ clock, lanes, end, stopped, begin }: ClosedLoop): Promise<void> {
  const lane = async () => {
    for (let now = clock.now(); now < end && !stopped(); now = clock.now()) await begin(now)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}
