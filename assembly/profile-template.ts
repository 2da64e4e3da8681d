/**
 * The inputs of a score that depend on the references only, except their samples, so that scoring a returning person costs only
 * the probe. PREPARED holds, in order: the references' baseline, the sums of their vectors in each model's axes, and the summary
 * and habits of each reference. The user's effects are refitted from the samples, which take less memory. The result is bit for
 * bit that of `score`, because `score` would compute the same numbers again.
 */
import {
  HABITS, HABITS_STRIDE, BASELINE, PREPARED, PROJECTED_SUMS, SUMMARY_SIZE, VECTOR_STRIDE,
} from './layout'
import { STAT_ROWS } from './reference-baseline'
import { MODELS } from './model'
import { summaryOf } from './summary'

const BASELINE_BYTES: usize = <usize>(STAT_ROWS * 3) << 4
const SUMS_BYTES: usize = <usize>(MODELS * VECTOR_STRIDE) << 2
const SUMMARY_BYTES: usize = <usize>SUMMARY_SIZE << 2
const HABITS_BYTES: usize = <usize>HABITS_STRIDE << 2

/** Writes PREPARED after a score against slots 1 to `references`. Returns its length in bytes. */
export function keepTemplate(references: i32): i32 {
  let at = kept(PREPARED, BASELINE, BASELINE_BYTES)
  at = kept(at, PROJECTED_SUMS, SUMS_BYTES)
  for (let slot = 1; slot <= references; slot++) {
    at = kept(at, summaryOf(slot), SUMMARY_BYTES)
    at = kept(at, HABITS + <usize>slot * HABITS_BYTES, HABITS_BYTES)
  }
  return <i32>(at - PREPARED)
}

/** Restores from PREPARED, before a probe is compared with slots 1 to `references`. */
export function restoreTemplate(references: i32): void {
  let at = restored(PREPARED, BASELINE, BASELINE_BYTES)
  at = restored(at, PROJECTED_SUMS, SUMS_BYTES)
  for (let slot = 1; slot <= references; slot++) {
    at = restored(at, summaryOf(slot), SUMMARY_BYTES)
    at = restored(at, HABITS + <usize>slot * HABITS_BYTES, HABITS_BYTES)
  }
}

function kept(to: usize, from: usize, bytes: usize): usize {
  memory.copy(to, from, bytes)
  return to + bytes
}

function restored(from: usize, to: usize, bytes: usize): usize {
  memory.copy(to, from, bytes)
  return from + bytes
}
