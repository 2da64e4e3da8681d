import type { Refusal } from '../domain/refusal.js'
import { LANES, type Lane } from './route.js'

/** The limits of one lane. */
interface Rule {
  /** Largest share of the concurrent requests, so that a lane of slow calls leaves capacity to the others. */
  readonly share: number
  /** Longest wait behind other lanes, as a share of `waitMs`. */
  readonly patience: number
  /** Longest wait while only the lane is full, which delays no other lane, as a share of `waitMs`. No request waits longer. */
  readonly ownPatience: number
  /** Maximum number of waiting requests of the lane; `WAITING_MAX` unless given. */
  readonly waitingMax?: number
  /**
   * While others are present, an organization rests after each request for this multiple of its duration, or less if requests of
   * others are rare. The rest frees the processors of PostgreSQL and of the machine, which no queue of this process schedules. A lane
   * whose requests keep a processor busy throughout rests for longer, and also delays requests that arrive during the rest.
   */
  readonly rest?: number
}

/**
 * Calls that hash a code wait for the hashing threads. Calls of dashboard and batch wait for the database, and leave most of its
 * connections to sign-ins. No measurement behind these limits.
 */
const RULES: Readonly<Record<Lane, Rule>> = {
  verify: { share: 1, patience: 1, ownPatience: 2 },
  code: { share: 1 / 4, patience: 1, ownPatience: 1, waitingMax: 64 },
  bootstrap: { share: 3 / 4, patience: 0.8, ownPatience: 2 },
  enroll: { share: 3 / 4, patience: 0.6, ownPatience: 2 },
  core: { share: 1 / 2, patience: 0.5, ownPatience: 2 },
  page: { share: 1 / 4, patience: 0.5, ownPatience: 2 },
  dashboard: { share: 1 / 5, patience: 0.4, ownPatience: 5, rest: 2 },
  batch: { share: 1 / 8, patience: 0.2, ownPatience: 10, rest: 2 },
}

/** Waiting requests keep their bodies in memory: 128 MiB if each has the largest size. */
export const WAITING_MAX = 256
/** Rest of most lanes. Only an organization with waiting requests rests for it. */
export const REST = 1 / 4
/** Assumed duration of a lane's requests before the first one has ended. */
const FIRST_GUESS_MS = 2

export interface Waiter {
  /** When the request began to wait; infinite for the next slice of a request, which is never shed. */
  readonly since: number
  readonly begin: () => void
  readonly refuse: (refusal: Refusal) => void
}

export interface LaneState {
  readonly lane: Lane
  /** Position in `LANES`; 0 is the most important lane. */
  readonly priority: number
  readonly atOnceMax: number
  readonly patienceMs: number
  readonly ownPatienceMs: number
  readonly waitingMax: number
  readonly rest: number
  atOnce: number
  /** Moving average of the duration of the lane's requests, ms. */
  tookMs: number
  /** Number of waiting requests. */
  waiting: number
  /** When a request of the lane was last shed because the process was full. */
  strainedAt: number
  /** When a request of the lane was last shed because the lane was full. */
  fullAt: number
}

/** The lanes, the most important first. */
export const createLanes = (atOnceMax: number, waitMs: number): readonly LaneState[] =>
  LANES.map((lane, priority): LaneState => {
    const { share, patience, ownPatience, waitingMax = WAITING_MAX, rest = REST } = RULES[lane]
    return {
      lane,
      priority,
      atOnceMax: Math.max(1, Math.floor(share * atOnceMax)),
      patienceMs: patience * waitMs,
      ownPatienceMs: ownPatience * waitMs,
      waitingMax,
      rest,
      atOnce: 0,
      tookMs: FIRST_GUESS_MS,
      waiting: 0,
      strainedAt: Number.NEGATIVE_INFINITY,
      fullAt: Number.NEGATIVE_INFINITY,
    }
  })
