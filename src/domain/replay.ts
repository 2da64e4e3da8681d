/**
 * What the replay index keeps of a pattern: keyed hashes of its quantised timings, from which no timing can be read.
 * `exact` (16 bytes) is equal for equal timings, shifted or not. Two patterns whose timings differ by a shift, a small
 * scale or a jitter of a few ms share at least `REPLAY_BANDS_SHARED` of their `bands` (8 signed 64-bit numbers); two
 * sincere patterns hardly ever do.
 */
export interface ReplayMark {
  readonly exact: Uint8Array
  readonly bands: readonly bigint[]
  /** `exact` of known patterns that were laid beside this one and are other typings: to resemble these is no replay. */
  readonly cleared?: readonly Uint8Array[]
}

export const REPLAY_BANDS = 8
export const REPLAY_BANDS_SHARED = 2
/**
 * Where two marks resemble each other the patterns themselves tell: nearer than this, ms, shift and scale removed, is one of
 * them over again. A jitter of 5 ms on each event leaves 2.5 ms, of 16 ms 8 ms; of 24,000 pairs of one person's typings of the same
 * passphrase the nearest are 12 ms apart.
 */
export const REPLAY_NEAR_MS = 8
/** A pattern is remembered for this long. */
export const REPLAY_MEMORY_DAYS = 400
