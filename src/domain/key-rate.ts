/** Request limit of one API key. */
export interface KeyRate {
  /** Requests a second over all processes; `NO_RATE` sets no limit. */
  readonly perSecond: number
  /** Requests allowed at once, 1 or more. */
  readonly burst: number
}

export const NO_RATE = 0

/** The default burst: the requests of two seconds. */
export const burstOf = (perSecond: number): number => Math.max(1, 2 * perSecond)
