import type { Arrivals } from './arrivals.js'
import type { Seen } from './recorder.js'

/** What a worker is started with. */
export interface Crew {
  readonly core: string
  readonly apikey: string
  /** Of this worker alone. */
  readonly connections: number
  readonly timeoutMs: number
  readonly workers: number
  readonly worker: number
  /** Part of every userRef of the run. */
  readonly name: string
  readonly seed: number
  /** Made of the name: keeps the typing of one run from replaying another's. */
  readonly run: number
  /** Folder of the data set; null for made-up people. */
  readonly data: string | null
  readonly codes: number
  readonly thinkMs: number
}

/** One rate, or one closed loop, for a while. */
export interface Step {
  /** Epoch ms: all workers begin at once. */
  readonly startAt: number
  /** Sign-ins a second of all workers together; null for the closed loop. */
  readonly rate: number | null
  readonly arrivals: Arrivals
  readonly warmUpS: number
  readonly seconds: number
  readonly impostors: number
  /** Share of sign-ins in which somebody who has a code gives it at once. */
  readonly byCode: number
  readonly enroll: number
  /** Sign-ins a worker has under way at the most; what comes above that is dropped and counted as such. */
  readonly waitingMax: number
  readonly seed: number
}

/** What a thread is told. */
export type ToWorker =
  | { readonly kind: 'enroll'; readonly people: number }
  | { readonly kind: 'step'; readonly step: Step }
  | { readonly kind: 'remove' }
  /** Begin nothing more, finish what is under way. */
  | { readonly kind: 'stop' }
  | { readonly kind: 'close' }

/** What a thread says. */
export type FromWorker =
  | {
      readonly kind: 'seen'
      /** Second of the measured time that this belongs to; below 0 in the warm-up. */
      readonly second: number
      readonly seen: Seen
      /** Share of the time that the worker's event loop was at work. */
      readonly busy: number
      /** 99 of 100 turns of its event loop came this late at the most. */
      readonly loopDelayMs: number
    }
  /** One person more is enrolled or removed. */
  | { readonly kind: 'progress' }
  /** Somebody could not be removed; `last` is what the last of several tries met. */
  | { readonly kind: 'kept'; readonly last: string }
  /** `people`: this worker's members now. */
  | { readonly kind: 'done'; readonly people: number }
  | { readonly kind: 'unknown-key' }
  | { readonly kind: 'failed'; readonly message: string }
