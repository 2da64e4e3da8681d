/** How often one API key may ask. */
export interface KeyRate {
  /** Requests a second over all processes; `NO_RATE` is as often as it likes. */
  readonly perSecond: number
  /** So many may come at once, 1 or more. */
  readonly burst: number
}

export const NO_RATE = 0

/** Where nothing is said of it: what may be asked in two seconds. */
export const burstOf = (perSecond: number): number => Math.max(1, 2 * perSecond)
