/** The four kinds of time in the kernel's order: the hold of the second key, and the three times from the first key to the second. */
export const TIMES = ['hold', 'pressPress', 'releasePress', 'releaseRelease'] as const
export type Time = (typeof TIMES)[number]

/** Evidence of one kind of time. `spokeFor` is the log likelihood ratio of this person against the population, nats: above 0 for the person. */
export interface TimeEvidence {
  readonly spokeFor: number
  readonly expectedMs: number
  readonly observedMs: number
}

/** One press of the kernel's explanation. */
export interface PressEvidence {
  readonly evidence: Readonly<Partial<Record<Time, TimeEvidence>>>
  readonly first: number | null
  readonly second: number
}
