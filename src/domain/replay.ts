/**
 * What the replay index keeps of a pattern: keyed hashes of its quantised timings, from which no timing can be read.
 * `exact` (16 bytes) is equal for equal timings, shifted or not. Two patterns whose timings differ by a shift, a small
 * scale or a jitter of a few ms share at least `REPLAY_BANDS_SHARED` of their `bands` (8 signed 64-bit numbers); two
 * sincere patterns hardly ever do.
 */
export interface ReplayMark {
  readonly exact: Uint8Array
  readonly bands: readonly bigint[]
}

export const REPLAY_BANDS = 8
export const REPLAY_BANDS_SHARED = 2
/** A pattern is remembered for this long. */
export const REPLAY_MEMORY_DAYS = 400
