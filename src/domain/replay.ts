/**
 * A pattern's entry in the replay index: keyed hashes of its quantised timings, which reveal no timing. `exact` (16 bytes)
 * is equal for equal timings, shifted or not. Two patterns share some of their `bands` (8 signed 64-bit numbers) if one is an
 * edited copy or a part of the other, with a jitter of a few ms; two sincere patterns rarely share one. A mark resembles a
 * known one that shares one band and is of the same member, or that shares two.
 */
export interface ReplayMark {
  readonly exact: Uint8Array
  readonly bands: readonly bigint[]
  /** `exact` of known patterns that were compared with this one and differ from it: a match with their marks is not a replay. */
  readonly cleared?: readonly Uint8Array[]
}

export const REPLAY_BANDS = 8
/**
 * If two marks match, the patterns themselves are compared, shift and scale removed: a distance below this, ms, is a
 * replay, as is a copied part. A jitter of 5 ms on each event leaves 2.5 ms, one of 16 ms leaves 8 ms. Among 24,000 pairs of
 * one person's typings of the same passphrase, the nearest are 12 ms apart.
 */
export const REPLAY_NEAR_MS = 8
/** Days for which the replay index keeps a pattern. */
export const REPLAY_MEMORY_DAYS = 400
