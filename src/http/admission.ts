import { Refusal, tooManyCodes } from '../domain/refusal.js'
import { createLanes, type LaneState, WAITING_MAX } from './lanes.js'
import type { Lane } from './route.js'
import {
  arrived,
  began,
  createSharers,
  dequeue,
  ended,
  enqueue,
  hasRoom,
  isBounded,
  nextOf,
  note,
  type Sharer,
  type Sharers,
  sharerOf,
  takeSeen,
} from './sharers.js'

/** Decides which requests begin, wait or are shed. Times are those of `performance.now()`; `organization` is empty without a key. */
export interface Admission {
  /**
   * Throws `overloaded`, or `rate-limited` for the lane of codes, if a request would be shed. Called as soon as its key is
   * checked, so that the body of a shed request is not awaited.
   */
  refuseFull(lane: Lane, organization: string, now: number): void
  /** True if the request has begun and counts as concurrent; false if it may `wait`. */
  enter(lane: Lane, organization: string, now: number): boolean
  /** Resolves once the request has begun; rejects as `refuseFull` throws. */
  wait(lane: Lane, organization: string, now: number): Promise<void>
  /** Ends a slice of a request. Null if the next slice has begun; otherwise resolves once it has. A slice is never shed. */
  turn(lane: Lane, organization: string, tookMs: number, now: number): Promise<void> | null
  /** Ends a request, or its last slice; the next one begins. `tookMs` is null if the client left before any work was done. */
  leave(lane: Lane, organization: string, tookMs: number | null, now: number): void
  /**
   * Called every `WATCH_MS`: sheds requests that have waited too long and measures how late the event loop is. False while the
   * process is idle; the calls may then stop until the next `onWork`.
   */
  watch(now: number): boolean
  /** Begins waiting requests; called when the rest of an organization ends. */
  resume(now: number): void
  /** Number of waiting requests. */
  waiting(): number
  /** The organizations seen since the last call, for `noteElsewhere` of the other processes of the machine. */
  seen(): string[]
  /** Notes organizations that another process has seen. */
  noteElsewhere(organizations: readonly string[], now: number): void
}

interface AdmissionLimits {
  /** Largest number of concurrent requests. */
  readonly atOnce: number
  /** Longest wait of a verify, ms; other lanes wait less. */
  readonly waitMs: number
  /** Index of an organization's database, if there are several. Organizations of one take at most three quarters of the slots. */
  readonly databaseOf?: ((organization: string) => number | null) | undefined
  /** Called for each shed request. */
  readonly onRefused?: (lane: Lane) => void
  /** Called for each request that waits because its organization has used its share while others are present. */
  readonly onHeld?: (lane: Lane) => void
  /** Called when the first request after an idle period begins. */
  readonly onWork?: () => void
  /** Called when the rest of an organization begins; `resume` is due after this time. */
  readonly onRest?: (ms: number) => void
}

/**
 * Under sustained overload a queue only makes every request late. After a shed request, waiting is capped at 1/40 of the lane's
 * patience until `STRAINED_MS` pass without one. The cap applies only while more than half of the latest watches found no free
 * slot, so that a burst alone may use the whole patience; otherwise its refusals would cause further ones.
 */
const STRAINED_MS = 2000
const STRAINED_SHARE = 1 / 40
/** Weight of a watch in its moving average. */
const WATCH_WEIGHT = 1 / 8
/** Largest `Retry-After`, because the load may have changed by then. */
const RETRY_MAX_S = 5
export const WATCH_MS = 50
/** Share of the slots that requests of organizations in one of several databases may take, so that a slow database leaves slots. */
const DATABASE_SHARE = 3 / 4

interface State extends Required<Omit<AdmissionLimits, 'atOnce' | 'waitMs' | 'databaseOf'>> {
  readonly lanes: readonly LaneState[]
  readonly sharers: Sharers
  readonly atOnceMax: number
  atOnce: number
  waiting: number
  /** Moving average of the event loop's delay, ms. */
  lateMs: number
  /** Null before the first watch after an idle period. */
  watchedAt: number | null
  /** Share of the latest watches that found no free slot. */
  busyShare: number
  idle: boolean
}

/**
 * Runs as many requests concurrently as give the process its full throughput, the most important first. Sheds a request at
 * once if it would wait too long, judged by the queue ahead, the duration of its requests and the event loop's delay. Half of
 * `atOnce` may always wait, because slots would otherwise stay empty until the next event-loop iteration. While several
 * organizations are present, a request beyond its organization's share waits even if slots are free, and is shed only after it
 * has waited too long. So one organization can neither delay others nor fill the queue. A request that may begin costs a few
 * comparisons and two look-ups in maps: no timer, no promise, no allocation.
 */
export function createAdmission({
  atOnce: atOnceMax,
  waitMs,
  databaseOf,
  onRefused = () => {},
  onHeld = () => {},
  onWork = () => {},
  onRest = () => {},
}: AdmissionLimits): Admission {
  const lanes = createLanes(atOnceMax, waitMs)
  const sharers = createSharers(
    lanes,
    databaseOf === undefined ? null : { of: databaseOf, atOnceMax: Math.ceil(atOnceMax * DATABASE_SHARE), atOnce: [] },
  )
  const byName = new Map(lanes.map((state) => [state.lane, state]))
  const state: State = {
    lanes,
    sharers,
    atOnceMax,
    onRefused,
    onHeld,
    onWork,
    onRest,
    atOnce: 0,
    waiting: 0,
    lateMs: 0,
    watchedAt: null,
    busyShare: 0,
    idle: true,
  }
  // Sound: there is one for each lane.
  const laneOf = (lane: Lane): LaneState => byName.get(lane) as LaneState
  return {
    refuseFull: (lane, organization, now) =>
      refuseIfFull(state, laneOf(lane), arrived(sharers, organization, now), now),
    enter(lane, organization, now) {
      const [own, sharer] = [laneOf(lane), arrived(sharers, organization, now)]
      if (!isFree(state, own) || !hasRoom(sharers, sharer, own, now)) return false
      occupy(state, own, sharer)
      return true
    },
    async wait(lane, organization, now) {
      const [own, sharer] = [laneOf(lane), arrived(sharers, organization, now)]
      refuseIfFull(state, own, sharer, now)
      if (state.waiting >= WAITING_MAX) shedFor(state, own, sharer)
      if (isFree(state, own)) onHeld(lane)
      await queued(state, own, sharer, { since: now, now })
    },
    turn(lane, organization, tookMs, now) {
      const [own, sharer] = [laneOf(lane), sharerOf(sharers, organization)]
      vacate(state, own, sharer, { tookMs, now })
      if (state.waiting === 0 && hasRoom(sharers, sharer, own, now)) {
        occupy(state, own, sharer)
        return null
      }
      return queued(state, own, sharer, { since: Number.POSITIVE_INFINITY, now })
    },
    leave(lane, organization, tookMs, now) {
      vacate(state, laneOf(lane), sharerOf(sharers, organization), { tookMs, now })
      if (state.waiting > 0) beginNext(state, now)
    },
    watch: (now) => watch(state, now),
    resume: (now) => beginNext(state, now),
    waiting: () => state.waiting,
    seen: () => takeSeen(sharers),
    noteElsewhere(organizations, now) {
      for (const organization of organizations) note(sharers, organization, now)
    },
  }
}

/** Whether a slot is free. A lane at its own limit blocks no other lane. */
const isFree = (state: State, own: LaneState): boolean => state.atOnce < state.atOnceMax && own.atOnce < own.atOnceMax

const waitsForOwnLane = (state: State, own: LaneState): boolean =>
  own.atOnceMax < state.atOnceMax && own.atOnce >= own.atOnceMax

function wake(state: State): void {
  if (!state.idle) return
  state.idle = false
  state.onWork()
}

function occupy(state: State, own: LaneState, sharer: Sharer): void {
  wake(state)
  state.atOnce += 1
  own.atOnce += 1
  began(state.sharers, sharer, own)
}

function vacate(state: State, own: LaneState, sharer: Sharer, work: Parameters<typeof ended>[3]): void {
  state.atOnce -= 1
  own.atOnce -= 1
  const restMs = ended(state.sharers, sharer, own, work)
  if (restMs > 0) state.onRest(restMs)
}

/** Waits for a slot, and begins the next request at once: a waiting one may be less important than this one. */
function queued(state: State, own: LaneState, sharer: Sharer, times: { since: number; now: number }): Promise<void> {
  return new Promise((begin, refuse) => {
    wake(state)
    state.waiting += 1
    enqueue(state.sharers, sharer, own, { since: times.since, begin, refuse })
    beginNext(state, times.now)
  })
}

/** Throws the refusal of a request that may neither begin nor wait. */
function refuseIfFull(state: State, own: LaneState, sharer: Sharer, now: number): void {
  const { sharers } = state
  if (isFree(state, own) && hasRoom(sharers, sharer, own, now)) return
  if (state.waiting >= WAITING_MAX && crowdedBy(state, own, sharer) === null)
    throw overloaded(state, own.lane, own.patienceMs)
  if (!isBounded(sharers, sharer, now)) refuseIfOverloaded(state, own, now)
  else if ((sharer.queues[own.priority]?.length ?? 0) >= own.waitingMax)
    throw overloaded(state, own.lane, own.patienceMs)
}

/** Throws if a new request of an organization that is alone may not wait, and notes in the lane that it was shed. */
function refuseIfOverloaded(state: State, own: LaneState, now: number): void {
  if (isFree(state, own)) return
  const { isFull, isStrained, waitMs } = overloadOf(state, own, now)
  if (isFull) own.fullAt = now
  // A lane that may use every slot is full only if the process is.
  if (isStrained || (isFull && own.atOnceMax === state.atOnceMax)) own.strainedAt = now
  if (isFull || isStrained) throw overloaded(state, own.lane, waitMs)
}

/** Whether a new request would wait too long for its lane, or for the process, and its expected wait. */
function overloadOf(state: State, own: LaneState, now: number) {
  const { atOnceMax, lateMs } = state
  const ownWaitMs = lateMs + ((own.waiting + 1) * own.tookMs) / own.atOnceMax
  const ahead = aheadOf(state, own)
  const waitMs = state.atOnce < atOnceMax ? 0 : lateMs + (ahead.workMs + own.tookMs) / atOnceMax
  const since = strainCountsSince(state, now)
  const isBehindStrain = isStrainedSince(state, own.priority - 1, since)
  const isFull =
    own.waiting >= own.waitingMax ||
    (own.waiting >= own.atOnceMax / 2 && ownWaitMs > own.ownPatienceMs * (own.fullAt > since ? STRAINED_SHARE : 1))
  const isStrained =
    (isBehindStrain || ahead.count >= atOnceMax / 2) &&
    waitMs > own.patienceMs * (isBehindStrain || own.strainedAt > since ? STRAINED_SHARE : 1)
  return { isFull, isStrained, waitMs: Math.max(ownWaitMs, waitMs) }
}

/** Waiting requests of this lane and more important ones, without those that wait for their own lane. */
function aheadOf(state: State, own: LaneState): { readonly count: number; readonly workMs: number } {
  let [count, workMs] = [0, 0]
  for (let priority = 0; priority <= own.priority; priority++) {
    const other = state.lanes[priority] as LaneState // Sound: a priority is an index of `lanes`.
    if (other !== own && waitsForOwnLane(state, other)) continue
    count += other.waiting
    workMs += other.waiting * other.tookMs
  }
  return { count, workMs }
}

/** Whether one of the most important lanes, up to and including `last`, has shed a request since then. */
function isStrainedSince({ lanes }: State, last: number, since: number): boolean {
  for (let priority = 0; priority <= last; priority++) if ((lanes[priority]?.strainedAt ?? since) > since) return true
  return false
}

const strainCountsSince = ({ busyShare }: State, now: number): number => (busyShare > 1 / 2 ? now - STRAINED_MS : now)

/**
 * The organization that loses a waiting request because the queue is full: the one with most of them, or the new request's own if it
 * has a less important request. Null if the new request is shed.
 */
function crowdedBy({ sharers, lanes }: State, own: LaneState, sharer: Sharer): Sharer | null {
  const most = sharers.backlogged.reduce((a, b) => (b.waiting > a.waiting ? b : a), sharer)
  if (most !== sharer) return most
  return lanes.some(({ priority }) => priority > own.priority && sheddable(sharer, priority) >= 0) ? sharer : null
}

/** Index of the youngest waiting request of a lane that has not begun, or -1. */
function sheddable({ queues }: Sharer, priority: number): number {
  const own = queues[priority] ?? []
  return (own.at(-1)?.since ?? Number.POSITIVE_INFINITY) === Number.POSITIVE_INFINITY ? -1 : own.length - 1
}

/** Sheds the youngest waiting request of the least important lane. */
function shedFor(state: State, own: LaneState, sharer: Sharer): void {
  const from = crowdedBy(state, own, sharer)
  const lane = state.lanes.findLast(({ priority }) => from !== null && sheddable(from, priority) >= 0)
  if (from === null || lane === undefined) return
  shed(state, from, lane, sheddable(from, lane.priority))
}

/** Sheds the waiting request at an index of the queue. */
function shed(state: State, sharer: Sharer, lane: LaneState, index: number): void {
  state.waiting -= 1
  dequeue(state.sharers, sharer, lane, index)?.refuse(overloaded(state, lane.lane, lane.patienceMs))
}

function beginNext(state: State, now: number): void {
  while (state.waiting > 0 && state.atOnce < state.atOnceMax) {
    const next = nextOf(state.sharers, now, (lane) => isFree(state, lane))
    if (next === null) return
    const { sharer, lane } = next
    state.waiting -= 1
    const waiter = dequeue(state.sharers, sharer, lane, 0)
    occupy(state, lane, sharer)
    waiter?.begin()
  }
}

function watch(state: State, now: number): boolean {
  if (state.atOnce === 0 && state.waiting === 0) {
    state.idle = true
    state.lateMs = 0
    state.busyShare = 0
    state.watchedAt = null
    return false
  }
  state.lateMs = (state.lateMs + Math.max(0, now - (state.watchedAt ?? now) - WATCH_MS)) / 2
  state.watchedAt = now
  state.busyShare += (Number(state.atOnce >= state.atOnceMax) - state.busyShare) * WATCH_WEIGHT
  if (state.waiting > 0) shedOverdue(state, now)
  beginNext(state, now)
  return true
}

function shedOverdue(state: State, now: number): void {
  for (const own of state.lanes) {
    if (own.waiting === 0) continue
    const patienceMs = patienceOf(state, own, now)
    for (const sharer of state.sharers.backlogged) {
      const bounded = isBounded(state.sharers, sharer, now)
      const maxMs = bounded ? own.ownPatienceMs : patienceMs
      const overdue = () => sharer.queues[own.priority]?.findIndex(({ since }) => now - since > maxMs) ?? -1
      for (let index = overdue(); index >= 0; index = overdue()) {
        if (!bounded) own.strainedAt = now
        shed(state, sharer, own, index)
      }
    }
  }
}

/** Longest wait of a lane now. It is short while more important lanes shed requests, because they take every free slot. */
function patienceOf(state: State, own: LaneState, now: number): number {
  if (waitsForOwnLane(state, own) || !isStrainedSince(state, own.priority - 1, strainCountsSince(state, now)))
    return own.ownPatienceMs
  return Math.min(own.ownPatienceMs, Math.max(WATCH_MS, own.patienceMs * STRAINED_SHARE))
}

function overloaded(state: State, lane: Lane, expectedMs: number): Refusal {
  state.onRefused(lane)
  const seconds = Math.min(RETRY_MAX_S, Math.max(1, Math.ceil(expectedMs / 1000)))
  return lane === 'code'
    ? tooManyCodes(seconds)
    : new Refusal('overloaded', 'the service is overloaded: try again shortly', seconds)
}
