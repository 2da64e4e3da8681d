import { Refusal } from '../domain/refusal.js'
import { LANES, type Lane } from './route.js'

/** Who may begin now, who waits, and who is sent away. Times are of `performance.now()`. */
export interface Admission {
  /**
   * Throws `overloaded`, for the lane of codes `rate-limited`, where a request of this lane would be sent away: asked as
   * soon as its head is there, so that nothing more of it is read.
   */
  refuseFull(lane: Lane, now: number): void
  /** Whether it may begin; then it has begun. Else it may `wait`. */
  enter(lane: Lane): boolean
  /** Resolves once it has begun; rejects as `refuseFull` throws. */
  wait(lane: Lane, now: number): Promise<void>
  /** One that had begun has ended after `tookMs`, null where it found its client gone; the next one begins. */
  leave(lane: Lane, tookMs: number | null): void
  /**
   * To be called every `LOOK_MS`: sends away who has waited in vain, and notes how late the event loop is. False where there
   * is nothing to look after until `onWork` is heard again.
   */
  look(now: number): boolean
  /** How many wait. */
  waiting(): number
}

interface AdmissionLimits {
  /** Requests at work at once. */
  readonly atOnce: number
  /** How long a verify may have to wait, ms; the other lanes less. */
  readonly waitMs: number
  /** Hears of each that is sent away. */
  readonly onRefused?: (lane: Lane) => void
  /** Hears of the first request after a rest. */
  readonly onWork?: () => void
}

/** What a lane is given. */
interface Rule {
  /** Of the requests at work at once: what is slow for a reason of its own leaves room to the rest. */
  readonly share: number
  /** Of the wait that a verify may expect: so long it may be kept waiting by others. */
  readonly patience: number
  /** The same where nothing but its own lane is full, which harms nobody else. Nobody waits longer than this. */
  readonly ownPatience: number
  /** How many of it may wait; as many as of all unless given. */
  readonly waitingMax?: number
}

/**
 * The row's order is that of importance. Codes, and whatever hashes one, wait for the hashes; the dashboard and batches for
 * the database, of whose connections they leave the most to sign-ins. No measurement behind any of these.
 */
const RULES: Readonly<Record<Lane, Rule>> = {
  verify: { share: 1, patience: 1, ownPatience: 2 },
  code: { share: 1 / 4, patience: 1, ownPatience: 1, waitingMax: 64 },
  bootstrap: { share: 3 / 4, patience: 0.8, ownPatience: 2 },
  enroll: { share: 3 / 4, patience: 0.6, ownPatience: 2 },
  core: { share: 1 / 2, patience: 0.5, ownPatience: 2 },
  page: { share: 1 / 4, patience: 0.5, ownPatience: 2 },
  dashboard: { share: 1 / 5, patience: 0.4, ownPatience: 5 },
  batch: { share: 1 / 8, patience: 0.2, ownPatience: 10 },
}

/** Waiting requests hold their bodies: 128 MiB if each were the largest there is. */
const WAITING_MAX = 256
/**
 * While more comes than can be done a queue does nothing but make everybody late. So from the first request that is sent
 * away until none was for so long nobody is let wait for more than a fortieth. A burst alone may use the whole patience:
 * where turns were free at half of the latest looks nothing is strained, or one hiccup would bring the next refusal.
 */
const STRAINED_MS = 2000
const STRAINED_SHARE = 1 / 40
/** Each look counts an eighth. */
const LOOK_WEIGHT = 1 / 8
/** What a lane's requests take: each new one counts a sixteenth. */
const NEW_WEIGHT = 1 / 16
/** Before the first has ended. */
const FIRST_GUESS_MS = 2
/** Nobody is told to come back later than this: by then much may have changed. */
const RETRY_MAX_S = 5
export const LOOK_MS = 50

interface Waiter {
  readonly since: number
  readonly begin: () => void
  readonly refuse: (refusal: Refusal) => void
}

interface LaneState {
  readonly lane: Lane
  readonly place: number
  readonly atOnceMax: number
  readonly patienceMs: number
  readonly ownPatienceMs: number
  readonly waitingMax: number
  atOnce: number
  tookMs: number
  readonly queue: Waiter[]
  /** When the latest was sent away: everything was full, or its lane alone. */
  strainedAt: number
  fullAt: number
}

/**
 * Lets in as many requests at once as bring the process its full throughput, the most important ones first, and sends away
 * at once what would wait too long, by how many are ahead, what they take, and how late the event loop is. Half as many as
 * are at work may always wait, or turns would lie idle while the event loop comes round. One that may begin costs some comparisons: no timer, no promise, nothing allocated.
 */
export function createAdmission({
  atOnce: atOnceMax,
  waitMs,
  onRefused = () => {},
  onWork = () => {},
}: AdmissionLimits): Admission {
  const lanes = LANES.map((lane, place): LaneState => {
    const { share, patience, ownPatience, waitingMax = WAITING_MAX } = RULES[lane]
    return {
      lane,
      place,
      atOnceMax: Math.max(1, Math.floor(share * atOnceMax)),
      patienceMs: patience * waitMs,
      ownPatienceMs: ownPatience * waitMs,
      waitingMax,
      atOnce: 0,
      tookMs: FIRST_GUESS_MS,
      queue: [],
      strainedAt: Number.NEGATIVE_INFINITY,
      fullAt: Number.NEGATIVE_INFINITY,
    }
  })
  const byName = new Map(lanes.map((state) => [state.lane, state]))
  let atOnce = 0
  let waiting = 0
  let lateMs = 0
  let lookedAt: number | null = null
  /** The share of looks that found no turn free. */
  let taken = 0
  let resting = true

  // Sound: there is one for each lane.
  const stateOf = (lane: Lane): LaneState => byName.get(lane) as LaneState
  /** Whoever waits in another lane waits for turns of that lane then: all others begin when a turn ends. */
  const isFree = (state: LaneState): boolean => atOnce < atOnceMax && state.atOnce < state.atOnceMax

  function occupy(state: LaneState): void {
    if (resting) {
      resting = false
      onWork()
    }
    atOnce += 1
    state.atOnce += 1
  }

  /** Why one that comes now may neither begin nor wait; null where it may. */
  function whyNot(state: LaneState, now: number): Refusal | null {
    if (isFree(state)) return null
    const ownWaitMs = lateMs + ((state.queue.length + 1) * state.tookMs) / state.atOnceMax
    const ahead = aheadOf(state)
    const waitMs = atOnce < atOnceMax ? 0 : lateMs + (ahead.workMs + state.tookMs) / atOnceMax
    const since = strainCountsSince(now)
    const isBehindStrain = isStrainedSince(state.place - 1, since)
    const isFull =
      state.queue.length >= state.waitingMax ||
      (state.queue.length >= state.atOnceMax / 2 &&
        ownWaitMs > state.ownPatienceMs * (state.fullAt > since ? STRAINED_SHARE : 1))
    const isStrained =
      (isBehindStrain || ahead.count >= atOnceMax / 2) &&
      waitMs > state.patienceMs * (isBehindStrain || state.strainedAt > since ? STRAINED_SHARE : 1)
    if (isFull) state.fullAt = now
    // Of a lane that may have every turn the own queue is everybody's.
    if (isStrained || (isFull && state.atOnceMax === atOnceMax)) state.strainedAt = now
    const isCrowded =
      waiting >= WAITING_MAX && !lanes.some(({ place, queue }) => place > state.place && queue.length > 0)
    return isFull || isStrained || isCrowded ? overloaded(state.lane, Math.max(ownWaitMs, waitMs)) : null
  }

  /** Whoever waits in this lane or a more important one, but for those who wait for turns of their own lane. */
  function aheadOf(state: LaneState): { readonly count: number; readonly workMs: number } {
    let [count, workMs] = [0, 0]
    for (let place = 0; place <= state.place; place++) {
      const other = lanes[place] as LaneState // place is one of theirs
      if (other !== state && other.atOnceMax < atOnceMax && other.atOnce >= other.atOnceMax) continue
      count += other.queue.length
      workMs += other.queue.length * other.tookMs
    }
    return { count, workMs }
  }

  /** Whether somebody was sent away lately from one of the most important lanes, up to this place. */
  function isStrainedSince(lastPlace: number, since: number): boolean {
    for (let place = 0; place <= lastPlace; place++) if ((lanes[place]?.strainedAt ?? since) > since) return true
    return false
  }

  const strainCountsSince = (now: number): number => (taken > 1 / 2 ? now - STRAINED_MS : now)

  /** Who came last in the least important lane gives way. */
  function makeRoom(): void {
    const last = lanes.findLast(({ queue }) => queue.length > 0)
    const gives = last?.queue.pop()
    if (last === undefined || gives === undefined) return
    waiting -= 1
    gives.refuse(overloaded(last.lane, last.patienceMs))
  }

  function beginNext(): void {
    for (const state of lanes) {
      while (isFree(state)) {
        const next = state.queue.shift()
        if (next === undefined) break
        waiting -= 1
        occupy(state)
        next.begin()
      }
    }
  }

  function look(now: number): boolean {
    if (atOnce === 0) {
      resting = true
      lateMs = 0
      taken = 0
      lookedAt = null
      return false
    }
    lateMs = (lateMs + Math.max(0, now - (lookedAt ?? now) - LOOK_MS)) / 2
    lookedAt = now
    taken += (Number(atOnce >= atOnceMax) - taken) * LOOK_WEIGHT
    if (waiting > 0) sendAway(now)
    return true
  }

  function sendAway(now: number): void {
    for (const state of lanes) {
      const patienceMs = patienceOf(state, now)
      while (now - (state.queue[0]?.since ?? now) > patienceMs) {
        state.strainedAt = now
        waiting -= 1
        state.queue.shift()?.refuse(overloaded(state.lane, state.patienceMs))
      }
    }
  }

  /** Where more important ones are sent away, each turn that ends is theirs: whoever waits behind them would wait in vain. */
  function patienceOf(state: LaneState, now: number): number {
    const waitsForOwn = state.atOnceMax < atOnceMax && state.atOnce >= state.atOnceMax
    if (waitsForOwn || !isStrainedSince(state.place - 1, strainCountsSince(now))) return state.ownPatienceMs
    return Math.min(state.ownPatienceMs, Math.max(LOOK_MS, state.patienceMs * STRAINED_SHARE))
  }

  function overloaded(lane: Lane, expectedMs: number): Refusal {
    onRefused(lane)
    const seconds = Math.min(RETRY_MAX_S, Math.max(1, Math.ceil(expectedMs / 1000)))
    return lane === 'code'
      ? new Refusal('rate-limited', 'too many security codes at once: try again shortly', seconds)
      : new Refusal('overloaded', 'more is asked of the service than it can do: try again shortly', seconds)
  }

  return {
    refuseFull(lane, now) {
      const refusal = whyNot(stateOf(lane), now)
      if (refusal !== null) throw refusal
    },
    enter(lane) {
      const state = stateOf(lane)
      if (!isFree(state)) return false
      occupy(state)
      return true
    },
    async wait(lane, now) {
      const state = stateOf(lane)
      const refusal = whyNot(state, now)
      if (refusal !== null) throw refusal
      if (waiting >= WAITING_MAX) makeRoom()
      waiting += 1
      await new Promise<void>((begin, refuse) => state.queue.push({ since: now, begin, refuse }))
    },
    leave(lane, tookMs) {
      const state = stateOf(lane)
      atOnce -= 1
      state.atOnce -= 1
      if (tookMs !== null) state.tookMs += (tookMs - state.tookMs) * NEW_WEIGHT
      if (waiting > 0) beginNext()
    },
    look,
    waiting: () => waiting,
  }
}
