/**
 * Converts key events and key records to key presses by the rules of `src/domain/key-press.ts` and the bounds of
 * `src/domain/typing-pattern.ts`, operation for operation, so that the doubles are the same. Declines everything that those refuse.
 *
 * EVENTS, 32 bytes each: f64 et, f64 t (NaN if absent), i32 identity, u8 key, u8 type, u8 repeat.
 * PRESSES and RECORDS, 24 bytes each: f64 press, f64 release (NaN until the keyup), u8 key, u16 next waiting press + 1.
 */
import { EVENTS, KEYS_MAX, OPEN_FIRST, OPEN_LAST, PRESSES, RECORDS, SAMPLES, TIMES } from './layout'
import { IDENTITIES, isOneKey } from './key-identity'

export const EVENT_BYTES: usize = 32
export const PRESS_BYTES: usize = 24
export const OTHER_TYPE: u8 = 0
export const KEYDOWN: u8 = 1
export const KEYUP: u8 = 2
export const REPEAT_ABSENT: u8 = 0
export const REPEAT_FALSE: u8 = 1
export const REPEAT_TRUE: u8 = 2

/** Bounds of a typing pattern (`src/domain/typing-pattern.ts`). */
const KEYDOWNS_MIN: i32 = 15
const HOLD_MAX_MS: f64 = 5000
const FLIGHT_MIN_MS: f64 = -2000
const FLIGHT_MAX_MS: f64 = 10000
const CAPTURE_MIN_MS: f64 = 1000
const CAPTURE_MAX_MS: f64 = 600000
const AGREEMENT_MS: f64 = 1

/** Converts `n` events to presses in PRESSES, with times since the first press. Returns their number, -1 if declined. */
export function pressesOfEvents(n: i32, usesT: bool): i32 {
  memory.fill(OPEN_FIRST, 0, <usize>IDENTITIES << 1)
  let count = 0
  let last = -Infinity
  for (let i = 0; i < n; i++) {
    const event = EVENTS + <usize>i * EVENT_BYTES
    const at = usesT ? load<f64>(event, 8) : load<f64>(event)
    if (!(at >= last)) return -1
    last = at
    const type = load<u8>(event, 21)
    if (type == KEYDOWN) count = keydown(event, at, count)
    else if (type == KEYUP) keyup(load<i32>(event, 16), at)
  }
  return released(count)
}

/** The open presses of an identity form a queue, linked in PRESSES by 1 + the number of the next press; 0 ends the queue. */
function keydown(event: usize, at: f64, count: i32): i32 {
  const identity = load<i32>(event, 16)
  const repeat = load<u8>(event, 22)
  const first = OPEN_FIRST + (<usize>identity << 1)
  const last = OPEN_LAST + (<usize>identity << 1)
  const one = isOneKey(identity)
  const waiting = load<u16>(first) != 0
  if (waiting && (repeat == REPEAT_TRUE || (one && repeat == REPEAT_ABSENT))) return count
  const press = PRESSES + <usize>count * PRESS_BYTES
  store<f64>(press, at)
  store<f64>(press, NaN, 8)
  store<u8>(press, load<u8>(event, 20), 16)
  store<u16>(press, 0, 18)
  // A second keydown that is not a repeat: the keyup of the first was lost, so the first press is dropped.
  if (one || !waiting) store<u16>(first, <u16>(count + 1))
  else store<u16>(PRESSES + <usize>(load<u16>(last) - 1) * PRESS_BYTES, <u16>(count + 1), 18)
  store<u16>(last, <u16>(count + 1))
  return count + 1
}

function keyup(identity: i32, at: f64): void {
  const first = OPEN_FIRST + (<usize>identity << 1)
  const waiting = load<u16>(first)
  if (waiting == 0) return
  const press = PRESSES + <usize>(waiting - 1) * PRESS_BYTES
  store<f64>(press, at, 8)
  store<u16>(first, load<u16>(press, 18))
}

/** Removes the presses that were never released. Returns how many remain. */
function released(count: i32): i32 {
  let kept = 0
  for (let i = 0; i < count; i++) {
    const press = PRESSES + <usize>i * PRESS_BYTES
    const release = load<f64>(press, 8)
    if (isNaN(release)) continue
    const to = PRESSES + <usize>kept * PRESS_BYTES
    store<f64>(to, load<f64>(press))
    store<f64>(to, release, 8)
    store<u8>(to, load<u8>(press, 16), 16)
    kept++
  }
  fromFirst(PRESSES, kept)
  return kept
}

/** Makes times relative to the first press. */
export function fromFirst(presses: usize, n: i32): void {
  const origin = load<f64>(presses)
  for (let i = 0; i < n; i++) {
    const press = presses + <usize>i * PRESS_BYTES
    store<f64>(press, load<f64>(press) - origin)
    store<f64>(press, load<f64>(press, 8) - origin, 8)
  }
}

/** Whether the records match the presses, in order. */
export function agree(presses: i32, records: i32, masked: bool): bool {
  if (abs(presses - records) > 1) return false
  const shorter = min(presses, records)
  for (let i = 0; i < shorter; i++) {
    const a = PRESSES + <usize>i * PRESS_BYTES
    const b = RECORDS + <usize>i * PRESS_BYTES
    if (!masked && load<u8>(a, 16) != load<u8>(b, 16)) return false
    if (abs(load<f64>(a) - load<f64>(b)) > AGREEMENT_MS) return false
    if (abs(load<f64>(a, 8) - load<f64>(b, 8)) > AGREEMENT_MS) return false
  }
  return true
}

/** Whether presses are within all bounds. The comparisons are false for NaN. */
export function withinBounds(presses: usize, n: i32): bool {
  if (n < KEYDOWNS_MIN || n > KEYS_MAX) return false
  let end: f64 = 0
  let pressBefore: f64 = 0
  let releaseBefore: f64 = 0
  for (let i = 0; i < n; i++) {
    const press = load<f64>(presses + <usize>i * PRESS_BYTES)
    const release = load<f64>(presses + <usize>i * PRESS_BYTES, 8)
    const hold = release - press
    if (!(hold > 0) || !(hold <= HOLD_MAX_MS)) return false
    if (i > 0) {
      if (!(press - releaseBefore >= FLIGHT_MIN_MS) || !(press >= pressBefore)) return false
      if (!(max(press - pressBefore, press - releaseBefore) <= FLIGHT_MAX_MS)) return false
    }
    end = max(end, release)
    pressBefore = press
    releaseBefore = release
  }
  const capture = end - load<f64>(presses)
  return capture >= CAPTURE_MIN_MS && capture <= CAPTURE_MAX_MS
}

/** Writes presses as the sample of slot 0 (`src/scoring/sample.ts`), and to TIMES as alternating f64 press and release times. */
export function writeSample(presses: usize, n: i32, masked: bool): void {
  const keys = SAMPLES + 4
  const times = keys + <usize>((n + 3) & ~3)
  store<u8>(SAMPLES, 1)
  store<u8>(SAMPLES, masked ? 1 : 0, 1)
  store<u16>(SAMPLES, <u16>n, 2)
  // Zeroes the padding after the keys.
  store<u32>(times - 4, 0)
  for (let i = 0; i < n; i++) {
    const press = presses + <usize>i * PRESS_BYTES
    const pressMs = load<f64>(press)
    const releaseMs = load<f64>(press, 8)
    store<u8>(keys + <usize>i, masked ? 0 : load<u8>(press, 16))
    store<f32>(times + (<usize>i << 2), <f32>pressMs)
    store<f32>(times + (<usize>(n + i) << 2), <f32>releaseMs)
    store<f64>(TIMES + (<usize>i << 4), pressMs)
    store<f64>(TIMES + (<usize>i << 4), releaseMs, 8)
  }
}
