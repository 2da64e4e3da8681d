import type { Refusal } from '../domain/refusal.js'
import { LANES, type Lane } from './route.js'

/** The limits of one lane. */
interface Rule {
  /** Largest share of the concurrent requests: a lane of slow calls leaves capacity to the others. */
  readonly share: number
  /** Longest wait behind other lanes, as a share of `waitMs`. */
  readonly patience: number
  /** Longest wait while the lane alone is full, which delays no other lane. No request waits longer. */
  readonly ownPatience: number
  /** Most requests of the lane that wait; `WAITING_MAX` unless given. */
  readonly waitingMax?: number
  /**
   * While others are present, an organization rests after each request for this multiple of its time, or less if requests of others
   * are rare: the processors of PostgreSQL and of the machine are free then, which no queue of this process can order. A lane
   * whose requests keep a processor busy from begin to end rests for longer, also before requests that do not wait yet.
   */
  readonly rest?: number
}

/**
 * Codes, and all calls that hash one, wait for the hashing threads. Dashboard and batch wait for the database; they leave
 * most of its connections to sign-ins. No measurement behind these limits.
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

/** Waiting requests hold their bodies: 128 MiB if each body has the largest size. */
export const WAITING_MAX = 256
/** Rest of most lanes, which only an organization with waiting requests has. */
export const REST = 1 / 4
/** Assumed duration of a lane's requests before the first one has ended. */
const FIRST_GUESS_MS = 2

export interface Waiter {
  /** When it began to wait; infinite for the next slice of a request, which waits as long as it must. */
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
  /** Moving average of the duration of its requests, ms. */
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
