import type { LaneState, Waiter } from './lanes.js'

/**
 * Organizations count as present this long after a request. While several are present, each is held to its share, so that the
 * next request of the others finds little work ahead of it.
 */
const PRESENT_MS = 10_000
/**
 * Expected time of the requests in progress of one organization, or of all those that wait for their share, ms: two verifies,
 * five bootstraps or one read of the dashboard. This much may be ahead of any request of another organization.
 */
const SHARE_MS = 12
/** States of idle organizations are kept up to this number: 1 MB. */
const KEPT_MAX = 1000
/** Weight of a request in the average duration of its organization's requests of a lane. */
const NEW_WEIGHT = 1 / 16

/** One organization of those that share the process. Lists by lane have the lane's priority as index. */
export interface Sharer {
  readonly id: string
  /** Number of its requests that have begun. */
  atOnce: number
  readonly atOnceOf: number[]
  /** Moving average of the duration of its requests, ms. */
  readonly tookMs: number[]
  /** Time for which its requests have held slots, ms. */
  spentMs: number
  /** None of its requests in lanes that rest begins earlier. */
  restsUntil: number
  waiting: number
  readonly queues: readonly Waiter[][]
}

interface Next {
  readonly sharer: Sharer
  readonly lane: LaneState
}

/** The organizations that share one process: those at work, those that wait, and those that are present. */
export interface Sharers {
  /** The organization's state at the arrival of a request; `id` is empty for requests without a key. */
  arrived(id: string, now: number): Sharer
  /** The organization of a request that has arrived. */
  of(id: string): Sharer
  /** Notes that another process of the machine has seen the organization. */
  note(id: string, now: number): void
  /** Whether several organizations are present, so that each is held to its share. */
  areSeveral(now: number): boolean
  /** Whether a request may begin at once as far as its organization's share goes. */
  hasRoom(sharer: Sharer, lane: LaneState, now: number): boolean
  /**
   * The waiting request that begins next, of a lane that is `open`: that of the organization that has held slots for the least
   * time, and of its requests the most important. Null if none may begin.
   */
  next(now: number, open: (lane: LaneState) => boolean): Next | null
  began(sharer: Sharer, lane: LaneState): void
  /** `tookMs` null: the request did no work. True: its organization rests now for as long. */
  ended(sharer: Sharer, lane: LaneState, tookMs: number | null, now: number): boolean
  /** Adds a waiting request: the next slice of a request goes before all others of its lane. */
  add(sharer: Sharer, lane: LaneState, waiter: Waiter): void
  /** Removes and returns the waiting request at an index of the lane's queue; -1 is the youngest. */
  take(sharer: Sharer, lane: LaneState, index: number): Waiter | undefined
  /** Organizations with waiting requests. */
  waiting(): readonly Sharer[]
  /** The organizations of requests in this process since the last call: at most two, enough to know whether they are several. */
  seen(): string[]
}

/**
 * Fair shares by start-time fair queueing: what an organization has spent is the time for which its requests held slots, so it
 * contains their scoring, database and processor time. An organization that was idle starts where the others are, and saves
 * nothing up. Alone, an organization is held to nothing.
 */
export function createSharers(lanes: readonly LaneState[]): Sharers {
  const all = new Map<string, Sharer>()
  const seen: string[] = []
  let backlogged: Sharer[] = []
  /** What the organization that began last had spent. */
  let level = 0
  let [latest, latestAt, otherAt] = ['', Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY]

  const areSeveral = (now: number): boolean => now - otherAt < PRESENT_MS
  const expectedMs = ({ tookMs }: Sharer, { priority, tookMs: usualMs }: LaneState) => tookMs[priority] ?? usualMs

  function heldMs(sharer: Sharer): number {
    if (sharer.atOnce === 0) return 0
    return lanes.reduce((sum, lane) => sum + (sharer.atOnceOf[lane.priority] ?? 0) * expectedMs(sharer, lane), 0)
  }

  const rests = ({ restsUntil }: Sharer, lane: LaneState, now: number): boolean => lane.rests && now < restsUntil

  /** The most important of its waiting requests that may begin, given the work in progress of all that wait. */
  function laneOf(sharer: Sharer, backlogMs: number | null, now: number, open: (lane: LaneState) => boolean) {
    const isOpen = (lane: LaneState) => (sharer.queues[lane.priority]?.length ?? 0) > 0 && open(lane)
    if (backlogMs === null) return lanes.find(isOpen)
    const lane = lanes.find((one) => isOpen(one) && !rests(sharer, one, now))
    if (lane === undefined || sharer.atOnce === 0) return lane
    return backlogMs + expectedMs(sharer, lane) <= SHARE_MS ? lane : undefined
  }

  function note(id: string, now: number): void {
    if (id !== latest) {
      otherAt = latestAt
      latest = id
    }
    latestAt = now
  }

  function of(id: string): Sharer {
    const known = all.get(id)
    if (known !== undefined) return known
    if (all.size >= KEPT_MAX) forgetIdle()
    const queues = lanes.map((): Waiter[] => [])
    const made = {
      id,
      atOnce: 0,
      atOnceOf: lanes.map(() => 0),
      tookMs: [],
      spentMs: level,
      restsUntil: 0,
      waiting: 0,
      queues,
    }
    all.set(id, made)
    return made
  }

  function forgetIdle(): void {
    for (const [id, { atOnce, waiting }] of all) if (atOnce === 0 && waiting === 0) all.delete(id)
  }

  return {
    areSeveral,
    note,
    arrived(id, now) {
      note(id, now)
      if (seen.length < 2 && seen[0] !== id) seen.push(id)
      return of(id)
    },
    of,
    hasRoom(sharer, lane, now) {
      if (!areSeveral(now)) return true
      if (sharer.waiting > 0 || rests(sharer, lane, now)) return false
      return sharer.atOnce === 0 || heldMs(sharer) + expectedMs(sharer, lane) <= SHARE_MS
    },
    next(now, open) {
      const backlogMs = areSeveral(now) ? backlogged.reduce((sum, sharer) => sum + heldMs(sharer), 0) : null
      let [found, foundMs]: [Next | null, number] = [null, Infinity]
      for (const sharer of backlogged) {
        const spentMs = sharer.spentMs + heldMs(sharer)
        if (spentMs >= foundMs) continue
        const lane = laneOf(sharer, backlogMs, now, open)
        if (lane !== undefined) [found, foundMs] = [{ sharer, lane }, spentMs]
      }
      return found
    },
    began(sharer, { priority }) {
      if (sharer.atOnce === 0 && sharer.waiting === 0) sharer.spentMs = Math.max(sharer.spentMs, level)
      level = Math.max(level, sharer.spentMs)
      sharer.atOnce += 1
      sharer.atOnceOf[priority] = (sharer.atOnceOf[priority] ?? 0) + 1
    },
    ended(sharer, lane, tookMs, now) {
      const { priority } = lane
      sharer.atOnce -= 1
      sharer.atOnceOf[priority] = (sharer.atOnceOf[priority] ?? 1) - 1
      if (tookMs === null) return false
      sharer.spentMs += tookMs
      const before = expectedMs(sharer, lane)
      sharer.tookMs[priority] = before + (tookMs - before) * NEW_WEIGHT
      if (!lane.rests || !areSeveral(now)) return false
      sharer.restsUntil = now + tookMs
      return true
    },
    add(sharer, lane, waiter) {
      if (sharer.waiting === 0) backlogged.push(sharer)
      sharer.waiting += 1
      lane.waiting += 1
      const queue = sharer.queues[lane.priority] ?? []
      if (waiter.since === Number.POSITIVE_INFINITY) queue.unshift(waiter)
      else queue.push(waiter)
    },
    take(sharer, lane, index) {
      const [taken] = sharer.queues[lane.priority]?.splice(index, 1) ?? []
      if (taken === undefined) return undefined
      sharer.waiting -= 1
      lane.waiting -= 1
      if (sharer.waiting === 0) backlogged = backlogged.filter((one) => one !== sharer)
      return taken
    },
    waiting: () => backlogged,
    seen: () => seen.splice(0),
  }
}
