/** One key held: times in ms on the pattern's own clock. */
export interface KeyPress {
  /** Index in the canonical key table, 0 where unknown or masked. */
  readonly key: number
  readonly pressMs: number
  readonly releaseMs: number
}
