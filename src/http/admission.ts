import { Refusal } from '../domain/refusal.js'
import { createLanes, type LaneState, WAITING_MAX } from './lanes.js'
import type { Lane } from './route.js'

/** Decides which requests begin, wait or are shed. Times are those of `performance.now()`. */
export interface Admission {
  /**
   * Throws `overloaded`, or `rate-limited` for the lane of codes, if a request of this lane would be shed. Called as soon as
   * the head is parsed, so that the body of a shed request is not read.
   */
  refuseFull(lane: Lane, now: number): void
  /** True: the request has begun and counts as concurrent. False: it may `wait`. */
  enter(lane: Lane): boolean
  /** Resolves once the request has begun; rejects as `refuseFull` throws. */
  wait(lane: Lane, now: number): Promise<void>
  /** Ends a request that had begun; the next one begins. `tookMs` null: its client had gone before it did any work. */
  leave(lane: Lane, tookMs: number | null): void
  /**
   * Called every `LOOK_MS`: sheds requests that have waited too long and measures how late the event loop is. False while the
   * process is idle; the calls may then stop until the next `onWork`.
   */
  look(now: number): boolean
  /** Number of waiting requests. */
  waiting(): number
}

interface AdmissionLimits {
  /** Largest number of concurrent requests. */
  readonly atOnce: number
  /** Longest wait of a verify, ms; other lanes wait less. */
  readonly waitMs: number
  /** Called for each shed request. */
  readonly onRefused?: (lane: Lane) => void
  /** Called when the first request after an idle period begins. */
  readonly onWork?: () => void
}

/**
 * Under sustained overload a queue only makes every request late. After a shed request, caps waiting at 1/40 of the lane's
 * patience until `STRAINED_MS` pass without one. The cap applies only while more than half of the latest looks found no free
 * slot. A burst alone may use the whole patience; otherwise its refusals would cause further ones.
 */
const STRAINED_MS = 2000
const STRAINED_SHARE = 1 / 40
/** Weight of a look in its moving average. */
const LOOK_WEIGHT = 1 / 8
/** Weight of a request in the average duration of its lane. */
const NEW_WEIGHT = 1 / 16
/** Largest `Retry-After`: the load may have changed by then. */
const RETRY_MAX_S = 5
export const LOOK_MS = 50

interface State {
  readonly lanes: readonly LaneState[]
  readonly atOnceMax: number
  readonly onRefused: (lane: Lane) => void
  readonly onWork: () => void
  atOnce: number
  waiting: number
  /** Moving average of the event loop's delay, ms. */
  lateMs: number
  /** Null before the first look after an idle period. */
  lookedAt: number | null
  /** Share of the latest looks that found no free slot. */
  busyShare: number
  idle: boolean
}

/**
 * Runs as many requests concurrently as give the process its full throughput, the most important first. Sheds a request at
 * once if it would wait too long, judged by the queue ahead, the duration of its requests and the event loop's delay. Half of
 * `atOnce` may always wait: slots would stay empty until the next event-loop iteration otherwise. A request that may begin
 * costs a few comparisons: no timer, no promise, no allocation.
 */
export function createAdmission({
  atOnce: atOnceMax,
  waitMs,
  onRefused = () => {},
  onWork = () => {},
}: AdmissionLimits): Admission {
  const lanes = createLanes(atOnceMax, waitMs)
  const byName = new Map(lanes.map((state) => [state.lane, state]))
  const state: State = {
    lanes,
    atOnceMax,
    onRefused,
    onWork,
    atOnce: 0,
    waiting: 0,
    lateMs: 0,
    lookedAt: null,
    busyShare: 0,
    idle: true,
  }
  // Sound: there is one for each lane.
  const laneOf = (lane: Lane): LaneState => byName.get(lane) as LaneState
  return {
    refuseFull(lane, now) {
      const refusal = refusalFor(state, laneOf(lane), now)
      if (refusal !== null) throw refusal
    },
    enter(lane) {
      const own = laneOf(lane)
      if (!isFree(state, own)) return false
      occupy(state, own)
      return true
    },
    async wait(lane, now) {
      const own = laneOf(lane)
      const refusal = refusalFor(state, own, now)
      if (refusal !== null) throw refusal
      if (state.waiting >= WAITING_MAX) shedLeastImportant(state)
      state.waiting += 1
      await new Promise<void>((begin, refuse) => own.queue.push({ since: now, begin, refuse }))
    },
    leave(lane, tookMs) {
      const own = laneOf(lane)
      state.atOnce -= 1
      own.atOnce -= 1
      if (tookMs !== null) own.tookMs += (tookMs - own.tookMs) * NEW_WEIGHT
      if (state.waiting > 0) beginNext(state)
    },
    look: (now) => look(state, now),
    waiting: () => state.waiting,
  }
}

/** A lane at its own limit blocks no other lane: all other waiting requests begin when a slot becomes free. */
const isFree = (state: State, own: LaneState): boolean => state.atOnce < state.atOnceMax && own.atOnce < own.atOnceMax

const waitsForOwnLane = (state: State, own: LaneState): boolean =>
  own.atOnceMax < state.atOnceMax && own.atOnce >= own.atOnceMax

function occupy(state: State, own: LaneState): void {
  if (state.idle) {
    state.idle = false
    state.onWork()
  }
  state.atOnce += 1
  own.atOnce += 1
}

/** The refusal of a request that may neither begin nor wait; null if it may. */
function refusalFor(state: State, own: LaneState, now: number): Refusal | null {
  if (isFree(state, own)) return null
  const { atOnceMax, lateMs } = state
  const ownWaitMs = lateMs + ((own.queue.length + 1) * own.tookMs) / own.atOnceMax
  const ahead = aheadOf(state, own)
  const waitMs = state.atOnce < atOnceMax ? 0 : lateMs + (ahead.workMs + own.tookMs) / atOnceMax
  const since = strainCountsSince(state, now)
  const isBehindStrain = isStrainedSince(state, own.priority - 1, since)
  const isFull =
    own.queue.length >= own.waitingMax ||
    (own.queue.length >= own.atOnceMax / 2 && ownWaitMs > own.ownPatienceMs * (own.fullAt > since ? STRAINED_SHARE : 1))
  const isStrained =
    (isBehindStrain || ahead.count >= atOnceMax / 2) &&
    waitMs > own.patienceMs * (isBehindStrain || own.strainedAt > since ? STRAINED_SHARE : 1)
  if (isFull) own.fullAt = now
  // A lane that may use every slot is full only if the process is.
  if (isStrained || (isFull && own.atOnceMax === atOnceMax)) own.strainedAt = now
  const isCrowded =
    state.waiting >= WAITING_MAX &&
    !state.lanes.some(({ priority, queue }) => priority > own.priority && queue.length > 0)
  return isFull || isStrained || isCrowded ? overloaded(state, own.lane, Math.max(ownWaitMs, waitMs)) : null
}

/** Waiting requests of this lane and more important ones, without those that wait for their own lane. */
function aheadOf(state: State, own: LaneState): { readonly count: number; readonly workMs: number } {
  let [count, workMs] = [0, 0]
  for (let priority = 0; priority <= own.priority; priority++) {
    const other = state.lanes[priority] as LaneState // Sound: a priority is an index of `lanes`.
    if (other !== own && waitsForOwnLane(state, other)) continue
    count += other.queue.length
    workMs += other.queue.length * other.tookMs
  }
  return { count, workMs }
}

/** Whether one of the most important lanes, up to and including `last`, has shed a request since then. */
function isStrainedSince({ lanes }: State, last: number, since: number): boolean {
  for (let priority = 0; priority <= last; priority++) if ((lanes[priority]?.strainedAt ?? since) > since) return true
  return false
}

const strainCountsSince = ({ busyShare }: State, now: number): number => (busyShare > 1 / 2 ? now - STRAINED_MS : now)

/** Sheds the youngest waiting request of the least important lane. */
function shedLeastImportant(state: State): void {
  const last = state.lanes.findLast(({ queue }) => queue.length > 0)
  const shed = last?.queue.pop()
  if (last === undefined || shed === undefined) return
  state.waiting -= 1
  shed.refuse(overloaded(state, last.lane, last.patienceMs))
}

function beginNext(state: State): void {
  for (const own of state.lanes) {
    while (isFree(state, own)) {
      const next = own.queue.shift()
      if (next === undefined) break
      state.waiting -= 1
      occupy(state, own)
      next.begin()
    }
  }
}

function look(state: State, now: number): boolean {
  if (state.atOnce === 0) {
    state.idle = true
    state.lateMs = 0
    state.busyShare = 0
    state.lookedAt = null
    return false
  }
  state.lateMs = (state.lateMs + Math.max(0, now - (state.lookedAt ?? now) - LOOK_MS)) / 2
  state.lookedAt = now
  state.busyShare += (Number(state.atOnce >= state.atOnceMax) - state.busyShare) * LOOK_WEIGHT
  if (state.waiting > 0) shedOverdue(state, now)
  return true
}

function shedOverdue(state: State, now: number): void {
  for (const own of state.lanes) {
    const patienceMs = patienceOf(state, own, now)
    while (now - (own.queue[0]?.since ?? now) > patienceMs) {
      own.strainedAt = now
      state.waiting -= 1
      own.queue.shift()?.refuse(overloaded(state, own.lane, own.patienceMs))
    }
  }
}

/** While more important lanes shed requests, they take every free slot: a request behind them would wait in vain. */
function patienceOf(state: State, own: LaneState, now: number): number {
  if (waitsForOwnLane(state, own) || !isStrainedSince(state, own.priority - 1, strainCountsSince(state, now)))
    return own.ownPatienceMs
  return Math.min(own.ownPatienceMs, Math.max(LOOK_MS, own.patienceMs * STRAINED_SHARE))
}

function overloaded(state: State, lane: Lane, expectedMs: number): Refusal {
  state.onRefused(lane)
  const seconds = Math.min(RETRY_MAX_S, Math.max(1, Math.ceil(expectedMs / 1000)))
  return lane === 'code'
    ? new Refusal('rate-limited', 'too many security codes at once: try again shortly', seconds)
    : new Refusal('overloaded', 'the service is overloaded: try again shortly', seconds)
}
