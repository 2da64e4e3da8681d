/**
 * The part of a score that depends on the references alone, so that scoring a returning person costs only the probe. The result
 * equals that of `score` bit for bit, because `score` would compute the same numbers again. The user's effects are refitted from
 * the samples, which take less memory. A template without habits is 272 bytes a reference smaller, and its score computes them
 * again. PREPARED holds, one after another:
 *
 * | part     | shape                         | holds                                                     |
 * |----------|-------------------------------|-----------------------------------------------------------|
 * | header   | 2 x u32                       | references; bytes from the baseline to the habits         |
 * | baseline | 30 x 3 x 4 x f32              | BASELINE                                                  |
 * | means    | 508 x i16                     | PACKED_MEANS                                              |
 * | habits   | references x (28 + 40) x f32  | summary and habits of each reference                      |
 * | samples  | references x 13 to 4,504      | the samples                                               |
 */
import {
  BASELINE, EMBEDDING_SIZE, HABITS, HABITS_STRIDE, KEYS_MAX, PACKED_MEANS, PREPARED, REFERENCES_MAX, SUMMARY_SIZE, VECTOR_STRIDE,
} from './layout'
import { sampleBytesAt, slotOf } from './features'
import { STAT_ROWS } from './reference-baseline'
import { MODELS } from './model'
import { summaryOf } from './summary'

const HEADER_BYTES: usize = 8
const BASELINE_BYTES: usize = <usize>(STAT_ROWS * 3) << 4
const MEANS_BYTES: usize = <usize>(MODELS * VECTOR_STRIDE + EMBEDDING_SIZE) << 1
const SUMMARY_BYTES: usize = <usize>SUMMARY_SIZE << 2
const HABITS_BYTES: usize = <usize>HABITS_STRIDE << 2

/** Writes PREPARED after a score against slots 1 to `references`. Returns its length in bytes. */
export function keepTemplate(references: i32): i32 {
  assert(references > 0 && references <= REFERENCES_MAX)
  let at = kept(PREPARED + HEADER_BYTES, BASELINE, BASELINE_BYTES)
  at = kept(at, PACKED_MEANS, MEANS_BYTES)
  for (let slot = 1; slot <= references; slot++) {
    at = kept(at, summaryOf(slot), SUMMARY_BYTES)
    at = kept(at, HABITS + <usize>slot * HABITS_BYTES, HABITS_BYTES)
  }
  store<i32>(PREPARED, references)
  store<i32>(PREPARED, <i32>(at - PREPARED - HEADER_BYTES), 4)
  for (let slot = 1; slot <= references; slot++) at = kept(at, slotOf(slot), sampleBytesAt(slotOf(slot)))
  return <i32>(at - PREPARED)
}

/** Whether the template in PREPARED has habits. */
export function keptHabits(): bool {
  return <usize>load<u32>(PREPARED, 4) > BASELINE_BYTES + MEANS_BYTES
}

/** Restores slots 1 to the number of references from PREPARED, before a probe is compared with them. Returns that number. */
export function restoreTemplate(): i32 {
  const references = load<i32>(PREPARED)
  assert(references > 0 && references <= REFERENCES_MAX)
  let at = restored(PREPARED + HEADER_BYTES, BASELINE, BASELINE_BYTES)
  at = restored(at, PACKED_MEANS, MEANS_BYTES)
  if (keptHabits()) {
    for (let slot = 1; slot <= references; slot++) {
      at = restored(at, summaryOf(slot), SUMMARY_BYTES)
      at = restored(at, HABITS + <usize>slot * HABITS_BYTES, HABITS_BYTES)
    }
  }
  for (let slot = 1; slot <= references; slot++) {
    assert(<i32>load<u16>(at, 2) <= KEYS_MAX)
    at = restored(at, slotOf(slot), sampleBytesAt(at))
  }
  return references
}

function kept(to: usize, from: usize, bytes: usize): usize {
  memory.copy(to, from, bytes)
  return to + bytes
}

function restored(from: usize, to: usize, bytes: usize): usize {
  memory.copy(to, from, bytes)
  return from + bytes
}
