/**
 * Keys of a typing pattern that its schema does not define. SCANNED lists them, and the host checks whether one is a known key
 * in another spelling. In a list only the keys of the first item are noted. `src/scoring/kernel-scan.ts` maps the place numbers.
 */
import { BODY, SCANNED } from './layout'
import { afterValue } from './json'

/** A body with more unknown keys is declined. */
const NOTED_MAX: i32 = 16
const COUNT = SCANNED + 48
const NOTES = SCANNED + 56

export const NOWHERE: i32 = -1
export const IN_PATTERN: i32 = 0
export const IN_AGENT: i32 = 1
export const IN_TAG: i32 = 2
export const IN_EVENT: i32 = 3
export const IN_RECORD: i32 = 4
export const IN_MOUSE_EVENT: i32 = 5
export const IN_DEVICE: i32 = 6
export const IN_AGENT_DATA: i32 = 7

/** Reads the value of an unknown key at `place` and notes the key; `level` as for `afterValue`. */
export function afterUnknown(at: usize, place: i32, level: i32): usize {
  return place == NOWHERE || noted(at, place) ? afterValue(at, level) : 0
}

/** Finds the key by its quotes, backwards from its value. A key with escapes cannot be a known key and is not noted. */
function noted(value: usize, place: i32): bool {
  let end = value - 1
  while (load<u8>(end) != 0x22) end--
  let start = end
  while (load<u8>(start - 1) != 0x22) {
    if (load<u8>(--start) == 0x5c) return true
  }
  if (load<u8>(start - 2) == 0x5c) return true
  const n = load<i32>(COUNT)
  if (n == NOTED_MAX) return false
  const note = NOTES + <usize>n * 12
  store<i32>(note, place)
  store<i32>(note, <i32>(start - BODY), 4)
  store<i32>(note, <i32>(end - start), 8)
  store<i32>(COUNT, n + 1)
  return true
}

/** Discards the notes of a place, because its object or list occurs a second time. */
export function forgetUnknown(place: i32): void {
  const n = load<i32>(COUNT)
  for (let i = 0; i < n; i++) {
    const note = NOTES + <usize>i * 12
    if (load<i32>(note) == place) store<i32>(note, NOWHERE)
  }
}
