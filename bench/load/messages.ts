import type { Arrivals } from './arrivals.js'
import type { Seen } from './recorder.js'

/** Settings of a worker. */
export interface Crew {
  readonly core: string
  readonly apikey: string
  /** Connections of this worker. */
  readonly connections: number
  readonly timeoutMs: number
  readonly workers: number
  readonly worker: number
  /** Part of every userRef of the run. */
  readonly name: string
  readonly seed: number
  /** Derived from the name, so that no run replays the typing of another. */
  readonly run: number
  /** Folder of the data set; null for synthetic people. */
  readonly data: string | null
  readonly codes: number
}

/** One measurement at one rate, or with one closed loop. */
export interface Step {
  /** Epoch ms: all workers begin at the same time. */
  readonly startAt: number
  /** Sign-ins a second over all workers; null for the closed loop. */
  readonly rate: number | null
  readonly arrivals: Arrivals
  readonly warmUpS: number
  readonly seconds: number
  readonly impostors: number
  /** Share of sign-ins in which a person with a code gives it at once. */
  readonly byCode: number
  readonly enroll: number
  /** Most sign-ins in progress per worker; further ones are dropped and counted. */
  readonly waitingMax: number
  readonly seed: number
}

/** Messages to a thread. */
export type ToWorker =
  | { readonly kind: 'enroll'; readonly people: number }
  | { readonly kind: 'step'; readonly step: Step }
  | { readonly kind: 'remove' }
  /** Begins nothing more; requests in flight finish. */
  | { readonly kind: 'stop' }
  | { readonly kind: 'close' }

/** Messages from a thread. */
export type FromWorker =
  | {
      readonly kind: 'seen'
      /** Second of the measured time; below 0 in the warm-up. */
      readonly second: number
      readonly seen: Seen
      /** Share of the time that the worker's event loop was busy. */
      readonly busy: number
      /** 99th percentile of its event-loop delay. */
      readonly loopDelayMs: number
    }
  /** One more person is enrolled or removed. */
  | { readonly kind: 'progress' }
  /** A person could not be removed; `last` is the failure of the last try. */
  | { readonly kind: 'kept'; readonly last: string }
  /** `people`: number of this worker's members. */
  | { readonly kind: 'done'; readonly people: number }
  | { readonly kind: 'unknown-key' }
  | { readonly kind: 'failed'; readonly message: string }
